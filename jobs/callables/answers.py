"""How a callable ended, in words and JSON, whatever it returned or raised: nothing of it is sent as an object."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from jobs.callables.errors import JobCancelled, NonRetryableError
from jobs.execution.markers import Unclear, result_of

LONGEST_ERROR = 500  # characters of the sentence; the log has all of it
LONGEST_OUTPUT = 1 << 20


class Answer(NamedTuple):
    """`kind`: of OutcomeKind. `output`: what standard error gets, as of a script. `notice`: for the log. `value`: JSON,
    "" for none. `final`: another attempt would not help.
    """

    kind: str
    error: str = ""
    exit_code: int | None = None
    final: bool = False
    output: str = ""
    notice: str = ""
    value: str = ""


def attempted(call: Callable[[], Any]) -> Answer:
    """Call it. Whatever it does, this returns, in this process alone."""
    here = os.getpid()
    try:
        value = call()
    except BaseException as error:  # noqa: BLE001 the executor's border: SystemExit too is an end of the job's own
        answer = failure_of(error)
    else:
        answer = answer_of(value)
    leave_if_forked(here, answer)
    return answer


def leave_if_forked(here: int, answer: Answer) -> None:
    """A process that a callable has forked comes back from it too. It ends then, as that of a script would: it is not
    the one that may say how the attempt ended, nor the one that takes the next.
    """
    if os.getpid() != here:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.write(answer.output)
            sys.stderr.flush()
        os._exit(answer.exit_code or (0 if answer.kind == "success" else 1))


def answer_of(value: object) -> Answer:
    """It returned `value`. What is no result that can be kept is told in the log: the work was done."""
    if value is None:
        return Answer("success")
    try:
        return Answer("success", value=result_of(as_json(value)))
    except Unclear as unclear:
        return Answer("success", notice=f"result cannot be given as JSON: {unclear}")


def as_json(value: object) -> bytes:
    """Raises Unclear."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError, UnicodeError) as error:
        raise Unclear(f"it returned {of_type(value)}: {error}") from error
    except BaseException as error:  # of a class of its own that pretends to be a dict or a list
        raise Unclear(f"it returned {of_type(value)}, which raised {named(error)}") from error


def of_type(value: object) -> str:
    name = type(value).__qualname__
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def failure_of(error: BaseException) -> Answer:
    """It raised `error`."""
    if isinstance(error, SystemExit):
        return exit_of(error)
    final = isinstance(error, NonRetryableError)
    if isinstance(error, JobCancelled):
        return Answer("failed", "raised JobCancelled although nobody had asked it to end", output=trace(error))
    return Answer("failed", named(error), final=final, output=trace(error))


def exit_of(error: SystemExit) -> Answer:
    """As of a script that calls sys.exit."""
    if error.code is None or error.code == 0:
        return Answer("success")
    if isinstance(error.code, int):
        code = error.code & 0xFF
        return Answer("failed", f"exited with code {code}", code) if code else Answer("success")
    return Answer("failed", "exited with code 1", 1, output=f"{text_of(error)}\n")


def rejected(reason: str) -> Answer:
    return Answer("rejected", f"could not be started: {reason}")


def named(error: BaseException) -> str:
    """One sentence: its type and what it says."""
    text = text_of(error).strip()
    name = type(error).__qualname__
    said = f"{name}: {' '.join(text.split())}" if text else name
    return said if len(said) <= LONGEST_ERROR else f"{said[:LONGEST_ERROR]}…"


def text_of(error: BaseException) -> str:
    try:
        return str(error).encode("utf-8", "backslashreplace").decode()
    except BaseException as own:  # noqa: BLE001 somebody else's __str__
        return f"(it cannot be printed: its __str__ raised {type(own).__qualname__})"


def trace(error: BaseException) -> str:
    """Its traceback, from the callable's own first line on."""
    own = error.__traceback__
    while own is not None and own.tb_frame.f_globals.get("__package__") == __package__:
        own = own.tb_next
    try:
        text = "".join(traceback.format_exception(type(error), error, own))
    except BaseException:  # noqa: BLE001 as above
        text = "".join(traceback.format_tb(own)) + named(error) + "\n"
    return text[-LONGEST_OUTPUT:].encode("utf-8", "backslashreplace").decode()
