"""From a spec to what is exec'd. Standard library only.

command      the shell: /bin/bash where there is one, else /bin/sh, with -c
script       its text, as the job's interpreter runs a file; if its first line is `#!` of something else than
             Python, the file itself
script_path  a .py file as the job's interpreter runs it, unless it is executable and has a `#!` of its own;
             anything else is exec'd as it is, and so needs its execute bit
callable     our own script that loads the project and calls it
"""

from __future__ import annotations

import errno
import os
import stat
import zipimport
from typing import NamedTuple

from jobs.execution.rundir import SCRIPTS
from jobs.execution.spec import Spec

PYTHON_SCRIPT, OTHER_SCRIPT = "script.py", "script"
CALLER = f"{__file__.rpartition('/execution/')[0]}/callables/run.py"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # before `#!` it hides that from the kernel
ITSELF, INTERPRETED, ARCHIVE = "itself", "interpreted", "archive"
SHELLS = ("/bin/bash", "/bin/sh")


class Program(NamedTuple):
    """`checked`: a file that must be readable, since whoever reads it would only say so in its own words. `form`: of
    that file, where it is decided how to run it; `guessed`: without a look at it.
    """

    file: str
    argv: list[str]
    checked: str = ""
    form: str = ""
    guessed: bool = False


class StartError(Exception):
    """The job could not be started; the message is a sentence for its owner."""

    def __init__(self, file: str, reason: str) -> None:
        self.file = file
        self.reason = reason
        super().__init__(f"could not be started: {file}: {reason}")


class OtherFormError(Exception):
    """What was guessed of the form of a script file is wrong."""

    def __init__(self, form: str) -> None:
        self.form = form
        super().__init__(form)


def explained(file: str, error: OSError) -> StartError:
    return StartError(file, f"{error.strerror} (errno {error.errno})")


def program_of(spec: Spec, rundir_path: str, form: str = "") -> Program:
    """`form`: of the file of a script_path, if it is known: see `form_of`. Asks nothing of file systems but the data
    folder's.
    """
    if spec.kind == "command":
        return shell(spec.body)
    if spec.kind == "script":
        path = f"{rundir_path}/{SCRIPTS}/{spec.body}"
        return interpreted(spec, path) if spec.body == PYTHON_SCRIPT else executed(path)
    if spec.kind == "script_path":
        thought = form or likely_form(spec.body)
        if thought == ITSELF:
            return Program(spec.body, [spec.body], form=ITSELF)
        return interpreted(spec, spec.body)._replace(form=thought, guessed=not form)
    if spec.kind == "callable":
        return Program(spec.interpreter, [spec.interpreter, CALLER, spec.body], CALLER)
    raise StartError(spec.kind, "is no kind of job; expected script, script_path, command or callable")


def shell(command: str) -> Program:
    file = next((shell for shell in SHELLS if os.access(shell, os.X_OK)), SHELLS[-1])
    return Program(file, [file, "-c", command])


def interpreted(spec: Spec, path: str) -> Program:
    return Program(spec.interpreter, [spec.interpreter, path], path)


def executed(path: str) -> Program:
    """A script of ours, by its interpreter if the data folder may hold no programs."""
    words = interpreter_in(path) if forbids_programs(path) else []
    return Program(words[0], [*words, path]) if words else Program(path, [path])


def forbids_programs(path: str) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_NOEXEC)


def form_of(path: str) -> str:
    """How the script file at `path` is run. Reads it, and may wait as long as its file system does. StartError if it
    cannot be read.
    """
    if os.access(path, os.X_OK) and first_line(path).startswith(b"#!"):
        return ITSELF
    return ARCHIVE if is_archive(path) else INTERPRETED


def likely_form(path: str) -> str:
    """Without a look; surely if it is ITSELF."""
    return INTERPRETED if path.endswith(".py") else ITSELF


def is_archive(path: str) -> bool:
    """StartError if it is one that Python itself could not read."""
    try:
        zipimport.zipimporter(path)
    except zipimport.ZipImportError:
        return False
    except (EOFError, ValueError) as error:  # its directory is cut off, or names files in no encoding
        raise StartError(path, f"is a damaged zip archive ({error}); make it anew") from error
    return True


def script_file(text: str) -> str:
    """The name under which a pasted script is kept, which says how it is run."""
    line = text.split("\n", 1)[0].rstrip("\r")
    return OTHER_SCRIPT if line.startswith("#!") and not names_python(line) else PYTHON_SCRIPT


def names_python(line: str) -> bool:
    """The interpreter, or what `env` is to look for; its own arguments do not count."""
    names = [word.rsplit("/", 1)[-1] for word in line.removeprefix("#!").split()]
    if names[:1] == ["env"]:
        names = [name for name in names[1:] if not name.startswith("-") and "=" not in name]
    return bool(names) and names[0].startswith("python")


def check(program: Program) -> None:
    """StartError if its file is missing, none, or not for us; OtherFormError."""
    if program.checked:
        first_bytes(program.checked, 1)
    if program.guessed and (form := form_of(program.checked)) != program.form:
        raise OtherFormError(form)


def first_line(path: str) -> bytes:
    return first_bytes(path, 256).split(b"\n", 1)[0]


def first_bytes(path: str, count: int) -> bytes:
    """Without waiting: to be opened, a FIFO waits for somebody who writes, and would see neither limit nor cancel."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            mode = os.fstat(fd).st_mode
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise StartError(path, "is a FIFO or a device, expected a file")
            return os.read(fd, count)
        finally:
            os.close(fd)
    except OSError as error:
        raise explained(path, error) from error


def explain_exec(program: Program, error: OSError) -> StartError:
    """execve names the file where the interpreter of its first line is meant: say which of the two it is."""
    named, reason = program.file, f"{error.strerror} (errno {error.errno})"
    if interpreter := interpreter_of(program.file):
        named = f"{interpreter.rstrip()}, which the first line of {program.file} names"
        if interpreter.endswith("\r"):
            return StartError(named, f"{reason}; that line ends with a carriage return: write line feeds only")
    if error.errno == errno.ETXTBSY:
        return StartError(program.file, f"{reason}; whoever has it open for writing must close it first")
    if error.errno == errno.EACCES and os.path.isfile(named) and forbids_programs(named):  # noqa: PTH113 as below
        reason += "; its file system is mounted noexec"
    elif error.errno == errno.EACCES:
        reason += "; is it a file with the execute bit?"
    elif error.errno == errno.ENOEXEC and first_line(program.file).startswith(BYTE_ORDER_MARK):
        reason += "; it begins with a byte order mark: save it without"
    elif error.errno == errno.ENOEXEC:
        reason += "; is it a program, or a script with #! and its interpreter in the first line?"
    elif error.errno == errno.ENOENT and named == program.file and os.path.exists(named):  # noqa: PTH110 as below
        reason += "; the file is there, what loads it is not: is it a program for this machine?"
    return StartError(named, reason)


def interpreter_of(path: str) -> str:
    """Named by the first line of a file that may be executed itself; else nothing."""
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):  # noqa: PTH113 pathlib costs start-up
        return ""
    return "".join(interpreter_in(path)[:1])


def interpreter_in(path: str) -> list[str]:
    """The interpreter and, all in one, its argument, as the kernel reads the first line of a file; else nothing."""
    line = first_line(path)
    if not line.startswith(b"#!"):
        return []
    words = line[2:].replace(b"\t", b" ").strip(b" ").partition(b" ")
    return [word.strip(b" ").decode("utf-8", "replace") for word in words[::2] if word]
