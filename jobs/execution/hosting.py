"""The service's end of the hosts, in which callables run that have no runner. Belongs to the executor's loop.

A host is started when it is first needed, ended when it has been idle for some minutes, and retired when something in
it keeps it from answering: what starts from then on starts in a fresh one. What a host does not do in time is done from
here: it is killed. docs/callables.md says what becomes of the attempts in it.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from jobs.core.records import Outcome
from jobs.core.states import OutcomeKind
from jobs.execution.hostline import HostLine, Seat
from jobs.execution.hostprocess import HostProcess, left_of
from jobs.execution.launch import Abandoned, AttemptRef, Ended, NotStarted, Report, Started
from jobs.execution.line import Answers, Wanted
from jobs.execution.loop import Loop
from jobs.execution.settle import NEVER_RAN, Gone, kill, not_started, outcome_of, settle, utc, written
from jobs.execution.spec import Result
from jobs.execution.watcher import Watcher

logger = logging.getLogger(__name__)
"""
