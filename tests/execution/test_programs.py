"""Scripts, files and commands are run as documented; what cannot be started says why."""

import errno
import os
import sys
import zipfile
from pathlib import Path

import pytest

from jobs.execution import moment, program
from jobs.execution.conditions import conditions_of
from jobs.execution.program import Program, StartError, explain_exec, is_archive, names_python
from jobs.execution.rundir import WORK
from jobs.execution.spawn import execute


def test_script_runs_as_python_with_its_file_first(attempt):
    running = attempt("import sys, os\nprint(sys.argv, sys.path[0], __name__, os.getcwd(), file=sys.stderr)", "script")
    running.result()
    job = running.path / "job"
    assert running.text == f"['{job}/script.py'] {job} __main__ {running.path}/{WORK}\n"


def test_script_of_another_interpreter_is_honoured(attempt):
    running = attempt("#!/bin/sh\necho $0 | sed 's,.*/,,'", "script")
    running.result()
    assert running.text == "script\n"


def test_python_line_means_the_python_of_the_job(attempt):
    running = attempt("#!/usr/bin/env python3\nimport sys; print(sys.executable)", "script")
    running.result()
    assert running.text == f"{sys.executable}\n"


@pytest.mark.parametrize(
    ("line", "python"),
    [
        ("#!/usr/bin/env python3", True),
        ("#! /opt/venv/bin/python -u", True),
        ("#!/usr/bin/env -S A=1 python3.12 -u", True),
        ("#!/bin/bash /opt/python/rc", False),
        ("#!/usr/bin/env -S bash python", False),
        ("#!/usr/bin/env ipython", False),
        ("#!", False),
    ],
)
def test_interpreter_alone_says_whether_it_is_python(line, python):
    assert names_python(line) is python


def test_python_file_on_the_node_is_run(attempt, tmp_path):
    (tmp_path / "it.py").write_text("print('from file')")
    running = attempt(str(tmp_path / "it.py"), "script_path")
    running.result()
    assert running.text == "from file\n"


def test_executable_file_on_the_node_is_run(attempt, tmp_path):
    (file := tmp_path / "it").write_text("#!/bin/sh\necho from file")
    file.chmod(0o755)
    running = attempt(str(file), "script_path")
    running.result()
    assert running.text == "from file\n"


def test_file_that_is_not_what_its_name_says_is_run_as_what_it_is(attempt, tmp_path):
    (other := tmp_path / "other.py").write_text("#!/bin/sh\necho from sh")
    other.chmod(0o755)
    with zipfile.ZipFile(archive := tmp_path / "archive.py", "w") as made:
        made.writestr("__main__.py", "print('from archive')")
    for file, said, argv in ((other, "sh", (str(other),)), (archive, "archive", (sys.executable, str(archive)))):
        running = attempt(str(file), "script_path")
        running.result()
        assert (running.text, conditions_of(running.path).argv) == (f"from {said}\n", argv)


@pytest.fixture(params=["cut off", "renamed"])
def damaged(request, tmp_path):
    """Its directory ends in the middle, or has a name that is no UTF-8."""
    with zipfile.ZipFile(archive := tmp_path / "archive.py", "w") as made:
        made.writestr("é.py", "")
    data = bytearray(archive.read_bytes())
    entry = data.rindex(b"PK\1\2")
    if request.param == "cut off":
        end = data.rindex(b"PK\5\6")
        data[end + 16 : end + 20] = (end - 8).to_bytes(4, "little")  # where the directory begins
        data[end + 12 : end + 16] = (8).to_bytes(4, "little")  # how long it is
        data[end - 8 : end - 4] = b"PK\1\2"
    else:
        data[entry + 46] = 0xFF
    archive.write_bytes(data)
    return str(archive)


def test_damaged_archive_is_named(attempt, damaged):
    """Each ended as one that was not started, with the traceback of our own code."""
    with pytest.raises(StartError, match="is a damaged zip archive"):
        is_archive(damaged)
    assert rejected(attempt(damaged, "script_path"), damaged, "is a damaged zip archive (", "); make it anew")


def test_script_with_an_error_shows_its_traceback(attempt):
    running = attempt("def f():\n    raise ValueError('oh')\nf()", "script")
    assert running.result().exit_code == 1
    assert "line 2, in f" in running.text
    assert "ValueError: oh" in running.text


def rejected(running, *words):
    result = running.result()
    assert (result.kind, result.started_at, result.exit_code) == ("rejected", None, None)
    for word in words:
        assert word in result.error
    return True


def test_missing_interpreter_is_named(attempt):
    script = "#!/usr/bin/nosuchinterp\necho hi\n"
    assert rejected(attempt(script, "script"), "/usr/bin/nosuchinterp", "No such file or directory (errno 2)")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda path: path.mkdir(), "Permission denied (errno 13); is it a file with the execute bit?"),
        (lambda path: path.touch(), "Permission denied (errno 13); is it a file with the execute bit?"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links (errno 40)"),
        (lambda path: path.touch(0o755), "Exec format error (errno 8); is it a program,"),
    ],
    ids=["directory", "no execute bit", "loop of links", "empty"],
)
def test_odd_interpreter_is_named(attempt, tmp_path, make, says):
    """The script itself was said to be at fault."""
    make(tmp_path / "interp")
    assert rejected(attempt(f"#!{tmp_path}/interp -x\n", "script"), f": {tmp_path}/interp, which the first line", says)


def test_carriage_return_after_the_interpreter_is_named(attempt):
    """The sentence said that /bin/sh is not there."""
    running = attempt("#!/bin/sh\r\necho hi\r\n", "script")
    assert rejected(running, ": /bin/sh, which the first line", "ends with a carriage return: write line feeds only")


@pytest.mark.parametrize("content", [b"echo hi\n", bytes(range(256)), b"", "#!/bin/sh\n".encode("utf-16")])
def test_what_is_no_program_says_what_would_be(attempt, tmp_path, content):
    (file := tmp_path / "it").write_bytes(content)
    file.chmod(0o755)
    assert rejected(attempt(str(file), "script_path"), f"{file}: Exec format error (errno 8); is it a program, or")


def test_program_without_its_loader_is_named(attempt, tmp_path):
    (file := tmp_path / "it").write_bytes(Path("/bin/true").read_bytes().replace(b"/ld-linux", b"/no-linux"))
    file.chmod(0o755)
    assert rejected(
        attempt(str(file), "script_path"), f"{file}: No such file", "the file is there, what loads it is not"
    )


def test_missing_python_is_named(attempt):
    assert rejected(attempt("1", "script", interpreter="/no/python"), "/no/python", "(errno 2)")


def test_missing_file_is_named(attempt):
    assert rejected(attempt("/no/such.py", "script_path"), "/no/such.py: No such file or directory (errno 2)")


def test_directory_is_no_script(attempt, tmp_path):
    (folder := tmp_path / "folder.py").mkdir()
    assert rejected(attempt(str(folder), "script_path"), str(folder), "Is a directory (errno 21)")
    assert rejected(attempt(str(tmp_path), "script_path"), str(tmp_path), "Permission denied (errno 13)")


@pytest.mark.parametrize("mode", [0o600, 0o700])
def test_fifo_is_no_script(attempt, tmp_path, mode):
    """It was opened, which waits for a writer: no time limit and no cancel ended that."""
    os.mkfifo(fifo := tmp_path / "it.py", mode)
    assert rejected(attempt(str(fifo), "script_path"), f"{fifo}: is a FIFO or a device, expected a file")


def test_byte_order_mark_before_the_interpreter_is_named(attempt, tmp_path):
    (file := tmp_path / "it").write_text("\ufeff#!/bin/sh\n")
    file.chmod(0o755)
    assert rejected(attempt(str(file), "script_path"), f"{file}: Exec format error", "begins with a byte order mark")


def test_file_that_is_written_just_now_is_waited_for(monkeypatch):
    busy = [OSError(errno.ETXTBSY, os.strerror(errno.ETXTBSY))]

    def execve(*_):
        raise busy.pop() if busy else KeyboardInterrupt

    monkeypatch.setattr(os, "execve", execve)
    with pytest.raises(KeyboardInterrupt):
        execute(Program("/it", []), {})


def test_file_that_stays_open_for_writing_is_named(attempt, tmp_path):
    """The sentence said that /bin/sh was busy."""
    error = OSError(errno.ETXTBSY, os.strerror(errno.ETXTBSY))
    said = explain_exec(Program(str(tmp_path / "it"), []), error)
    assert "it: Text file busy (errno 26); whoever has it open for writing" in str(said)


def test_file_without_execute_bit_is_named(attempt, tmp_path):
    (file := tmp_path / "it.sh").write_text("#!/bin/sh\n")
    assert rejected(attempt(str(file), "script_path"), str(file), "errno 13", "execute bit")


@pytest.mark.parametrize(
    ("line", "argv"),
    [("#!/bin/sh", ["/bin/sh"]), ("#! /usr/bin/env\t-S bash -e ", ["/usr/bin/env", "-S bash -e"]), ("echo", [])],
)
def test_script_in_a_data_folder_without_programs_is_run_by_its_interpreter(tmp_path, monkeypatch, line, argv):
    (script := tmp_path / "script").write_text(f"{line}\necho hi\n")
    monkeypatch.setattr(program, "forbids_programs", lambda path: True)
    assert program.executed(str(script)).argv == [*argv, str(script)]


def test_file_system_that_allows_no_programs_is_named(tmp_path, monkeypatch):
    (file := tmp_path / "it").touch(0o755)
    monkeypatch.setattr(program, "forbids_programs", lambda path: True)
    error = OSError(errno.EACCES, os.strerror(errno.EACCES))
    assert "is mounted noexec" in str(explain_exec(Program(str(file), []), error))


def test_missing_working_directory_is_named(attempt):
    assert rejected(attempt(working_directory="/no/dir"), "working directory /no/dir: No such file", "errno 2")


def test_core_that_is_not_there_is_named(attempt):
    assert rejected(attempt(cores=[4000]), "cores 4000", "usable are")


def test_argument_that_no_process_can_have_is_refused(attempt):
    assert rejected(attempt("echo \0"), "/bin/bash", "null byte")


def test_late_runner_starts_nothing(attempt, tmp_path):
    running = attempt(f"touch {tmp_path}/ran", start_before=moment.now().after_wall(0))
    result = running.result()
    assert result.kind == "lost"
    assert "too late" in result.error
    assert not (tmp_path / "ran").exists()
