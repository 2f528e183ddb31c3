"""One callable in a process of its own. It is run as a script is, by a runner."""

import os
import sys

sys.path[:] = os.environ["ROTA_PROJECT_PATH"].split(os.pathsep)  # not this folder, whose modules are no scripts'

from jobs.callables.calling import main  # noqa: E402 - found by the line above

sys.exit(main())
