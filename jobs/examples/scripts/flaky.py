"""Fails twice, then succeeds: watch it wait and try again."""

import os
import sys

attempt = int(os.environ.get("ROTA_ATTEMPT", "1"))
if attempt < 3:
    print(f"attempt {attempt}: the other side does not answer", file=sys.stderr)
    sys.exit(1)
print(f"attempt {attempt}: it answers")
