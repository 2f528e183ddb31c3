"""Environments of a node: built once for all that need the same, never half, gone when nobody needs them."""

import fcntl
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from jobs.core.packages import PackagesNeeded
from jobs.execution import build
from jobs.execution.build import BuildFailed, message_in, sources
from jobs.execution.environments import BUILDS_AT_ONCE, LOOKS_AT_ONCE, Environments
from jobs.execution.installed import bytes_on_disk, facts_in
from jobs.execution.pump import READ_BYTES
from jobs.execution.pythons import MissingPythonError, Python, choose, find, own
from jobs.execution.tree import all_processes, process, read_proc
from tests.fixtures.wheels import install_from, make_wheel
from tests.waiting import DEADLINE_SECONDS, until

SLOW = """
import sys, subprocess, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", *sys.argv[1:]], start_new_session=True)
print("begun", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    for version in ("1.0", "2.0"):
        make_wheel(folder, "tiny", version)
    make_wheel(folder, "needy", "1.0", ("absent>=3",))
    return folder


@pytest.fixture
def data_dir(tmp_path, wheels):
    install_from(tmp_path / "data żółw", wheels)
    return tmp_path / "data żółw"


@pytest.fixture
def environments(data_dir, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # elsewhere may be many Pythons, each of which is asked what it is
    opened = Environments(data_dir, timeout_seconds=60, most_mb=1000, most_days=30)
    opened.open()
    yield opened
    opened.close()


class Asking:
    """Asks, and waits for the answer."""

    def __init__(self, environments, name, *requirements, python="", before=None):
        self.environments, self.name = environments, name
        self.answered = threading.Event()
        needed = PackagesNeeded(python, requirements)
        environments.prepare(name, lambda: needed, self.answered.set, before)

    def given(self, attempt="t"):
        assert self.answered.wait(DEADLINE_SECONDS)
        return self.environments.take(self.name, attempt)


def output_of(given, *command):
    return subprocess.run([f"{given.directory}/bin/{command[0]}", *command[1:]], capture_output=True, text=True).stdout


def slow(environments, monkeypatch, seconds=60.0):
    """Builds that never end by themselves, and leave a process behind."""
    command = ["/usr/bin/env", "python3", "-c", SLOW, mark_of(environments)]
    monkeypatch.setattr(environments._builder, "_timeout", seconds)
    monkeypatch.setattr(environments._builder, "_commands", lambda *_: [command])


def mark_of(environments):
    return f"left by a build in {environments.folder.root}"


def left_by_builds(environments):
    mark = mark_of(environments).encode()
    return [one for one in all_processes() if one.alive and mark in read_proc(one.pid, "cmdline")]


def evict(environments):
    """After what the last build has set off."""
    before, done = threading.Barrier(BUILDS_AT_ONCE + LOOKS_AT_ONCE + 1), threading.Event()
    for workers, count in ((environments._makers, BUILDS_AT_ONCE), (environments._looks, LOOKS_AT_ONCE)):
        for _ in range(count):
            workers.put(before.wait)
    before.wait(DEADLINE_SECONDS)
    environments._tidying.put(environments._evict)
    environments._tidying.put(done.set)
    assert done.wait(DEADLINE_SECONDS)


def test_conflicting_versions_are_there_side_by_side(environments):
    one, two = Asking(environments, "one", "tiny==1.0"), Asking(environments, "two", "tiny==2.0")
    assert output_of(one.given("a"), "python", "-c", "import tiny; print(tiny.VERSION)") == "1.0\n"
    assert output_of(two.given("b"), "tiny") == "2.0\n"


def test_two_that_need_the_same_share_one_build(environments):
    both = [Asking(environments, name, "tiny") for name in ("one", "two")]
    given = [asking.given(asking.name) for asking in both]
    assert given[0].directory == given[1].directory
    assert sorted(bool(one.log) for one in given) == [False, True]


def test_what_is_there_is_found_again_after_a_restart(environments, data_dir):
    built = Asking(environments, "one", "tiny").given()
    later = Environments(data_dir, timeout_seconds=60, most_mb=1000, most_days=30)
    later.open()
    given = Asking(later, "two", "tiny").given()
    later.close()
    assert (given.directory, given.log) == (built.directory, ())


def test_a_list_longer_than_a_pipe_holds_is_installed_whole(environments):
    never = " and ".join(["python_version < '3'"] * 18)
    asked = [*(f"absent-{number}; {never}" for number in range(199)), "tiny==1.0"]
    assert len("".join(asked)) > READ_BYTES
    given = Asking(environments, "one", *asked).given()
    assert not given.error
    assert facts_in(Path(given.directory)).requirements == asked
    assert output_of(given, "tiny") == "1.0\n"


def test_what_uv_says_in_lines_is_one_sentence():
    lines = ("error: Failed to fetch: six", "  cause: client error", "  cause: UnknownIssuer.", "", "hint: Try another")
    assert (
        message_in(lines, Path("environment")) == "Failed to fetch: six: client error: UnknownIssuer; hint: Try another"
    )


def test_hint_of_a_flag_names_the_setting_instead():
    lines = ("error: Failed to fetch", "  cause: UnknownIssuer", "", "hint: Consider the `--system-certs` flag")
    said = message_in(lines, Path("/srv/rota/environment"))
    assert said == "Failed to fetch: UnknownIssuer; hint: write UV_SYSTEM_CERTS=1 into /srv/rota/environment"


def test_packages_come_from_where_the_service_was_told_to_look(environments, wheels, monkeypatch):
    """Rota itself had been installed behind a proxy, and no package of a job could be."""
    environments._builder._node_file.unlink()
    for name, value in {"PIP_FIND_LINKS": str(wheels), "UV_NO_INDEX": "1", "UV_OFFLINE": "1"}.items():
        monkeypatch.setenv(name, value)
    assert output_of(Asking(environments, "one", "tiny==1.0").given(), "tiny") == "1.0\n"


@pytest.mark.parametrize(
    ("service", "file", "told"),
    [
        ({"PIP_INDEX_URL": "http://a/"}, {}, {"UV_DEFAULT_INDEX": "http://a/"}),
        ({"UV_DEFAULT_INDEX": "http://a/"}, {"PIP_INDEX_URL": "http://b/"}, {"UV_DEFAULT_INDEX": "http://b/"}),
        ({"https_proxy": "http://a/"}, {"HTTPS_PROXY": "http://b/"}, {"HTTPS_PROXY": "http://b/"}),
        ({"SSL_CERT_FILE": "/a"}, {"SSL_CERT_DIR": "/b"}, {"SSL_CERT_FILE": "/a", "SSL_CERT_DIR": "/b"}),
        ({"UV_INDEX_OURS_PASSWORD": "x", "HTTP_PROXY": "http://me:x@a/", "UV_INDEX": "http://x@a/"}, {}, {}),
        ({}, {"UV_INDEX_OURS_PASSWORD": "x"}, {"UV_INDEX_OURS_PASSWORD": "x"}),
        ({"ROTA_SECRET_KEY": "x", "PATH": "/a", "PYTHONPATH": "/a"}, {}, {}),
    ],
)
def test_the_nodes_file_says_more_than_the_service_and_no_secret_of_that_is_told(service, file, told):
    assert sources(service, file) == told


@pytest.mark.parametrize("spoil", [Path.unlink, lambda python: (python.unlink(), python.symlink_to("/no/python"))])
def test_one_whose_python_is_gone_is_built_anew(environments, spoil):
    """After an upgrade of the system's Python no job with packages could be started any more."""
    built = Asking(environments, "one", "tiny").given("a")
    spoil(Path(built.directory) / "bin/python")
    given = Asking(environments, "two", "tiny").given("b")
    assert given.log
    assert output_of(given, "python", "-c", "import tiny; print(tiny.VERSION)") == "2.0\n"


def test_what_cannot_be_resolved_says_what_the_resolver_says(environments):
    given = Asking(environments, "one", "needy").given()
    assert given.error.startswith("its packages could not be installed: ")
    assert "absent" in given.error
    assert any("absent" in line for line in given.log)


def test_a_failed_build_is_tried_anew_by_the_next(environments, wheels):
    assert Asking(environments, "one", "late").given().error
    environments.unprepare("one")
    make_wheel(wheels, "late", "1.0")
    assert Asking(environments, "one", "late").given().error == ""


def test_what_failed_for_an_attempt_is_not_built_again_for_it(environments, monkeypatch):
    """The packages of a script file that could not be installed were tried twice, the second time on its cores."""
    builds = []

    def fail(*given):
        builds.append(given)
        raise BuildFailed("no such package", ("said",))

    monkeypatch.setattr(environments._builder, "make", fail)
    first = Asking(environments, "job", "tiny").given()
    again, other = Asking(environments, "attempt", "tiny", before=first), Asking(environments, "b", "x", before=first)
    assert (again.given().error, again.given().log) == ("no such package", ("said",))
    assert other.given().error
    assert len(builds) == 2  # a file that says something else by now is tried


def test_two_that_fail_together_are_both_told_all(environments):
    both = [Asking(environments, name, "needy") for name in ("one", "two")]
    assert [("absent" in asking.given().error, bool(asking.given().log)) for asking in both] == [(True, True)] * 2


def test_packages_that_uv_cannot_read_are_fetched_anew(environments, monkeypatch, tmp_path):
    """Empty files in uv's cache, as a power cut leaves them, failed each build until somebody removed it."""
    (tmp_path / "uv").write_text(f"#!/bin/sh\necho $* >'{tmp_path}/said'\n")
    (tmp_path / "uv").chmod(0o755)
    monkeypatch.setattr(build, "uv", lambda: str(tmp_path / "uv"))
    script = (
        f"mkdir \"$0\"; test -e '{tmp_path}/said' || {{ echo 'error: Failed to deserialize cache entry'; exit 1; }}"
    )
    monkeypatch.setattr(environments._builder, "_commands", lambda *given: [["/bin/sh", "-c", script, str(given[2])]])
    assert Asking(environments, "one", "tiny").given().error == ""
    assert (tmp_path / "said").read_text() == "cache clean\n"


def test_without_uv_a_build_says_so(environments, monkeypatch):
    def missing():
        raise FileNotFoundError("uv")

    monkeypatch.setattr(build, "find_uv_bin", missing)
    environments._builder._node_file.write_text("PATH=/nowhere\n")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(build, "PATH", "/nowhere")
    said = "its packages could not be installed: uv cannot be started: No such file or directory"
    assert Asking(environments, "one", "tiny").given().error == said


def test_one_that_was_removed_meanwhile_is_given_to_nobody(environments):
    """Runs that queued behind each other were all started in it, and lost, until none was left that waited for it."""
    asking = Asking(environments, "one", "tiny")
    shutil.rmtree(asking.given("a").directory)
    assert environments.take("one", "b") is None
    again = Asking(environments, "attempt", "tiny").given("b")
    assert there(again)


def test_all_that_was_removed_by_hand_is_made_anew(environments, monkeypatch):
    monkeypatch.setattr(environments._builder, "_commands", lambda *given: [["/bin/mkdir", str(given[2])]])
    shutil.rmtree(environments.folder.root)
    assert Asking(environments, "one", "tiny").given().error == ""


def test_a_python_that_is_not_there_says_which_are(environments):
    given = Asking(environments, "one", python="==3.99.*").given()
    assert given.error.startswith("it needs Python 3.99, and this node has 3.")


def test_pythons_that_cannot_be_listed_are_told(caplog):
    assert find("/no/such/uv", {}) == [own()]
    assert "the Pythons of this node cannot be listed" in caplog.text


@pytest.mark.parametrize(
    ("wanted", "contradicts"),
    [("==3.11.*,<3.10", True), (">=3.12,<3.12", True), ("==3.1.*,>=3.1.4", False), ("<3.1", False), (">=4,<5", False)],
)
def test_versions_that_contradict_each_other_are_told(wanted, contradicts):
    with pytest.raises(MissingPythonError) as refusal:
        choose(wanted, [Python("3.11.7", "/a")])
    assert ("these contradict each other; change one of them" in str(refusal.value)) is contradicts
    assert ("this node has 3.11.7; install it there" in str(refusal.value)) is not contradicts


def test_what_nobody_foresaw_leaves_nobody_waiting(environments):
    answered = threading.Event()
    environments.prepare("one", lambda: 1 // 0, answered.set)
    assert answered.wait(DEADLINE_SECONDS)
    assert "what it needs cannot be read, ZeroDivisionError" in environments.take("one", "t").error


def test_nobody_waits_for_what_is_put_in_order(environments):
    """It takes a minute to ask all Pythons, and to count large environments: a start came as much too late."""
    tidied = threading.Event()
    for _ in range(LOOKS_AT_ONCE):
        environments._tidying.put(tidied.wait)
    assert Asking(environments, "one").given().directory == ""
    tidied.set()


def test_cache_that_was_emptied_is_closed_to_others(environments):
    unused(environments)
    environments._most_bytes = 0
    evict(environments)
    assert environments.folder.cache.stat().st_mode & 0o077 == 0


def test_there_is_a_cache_while_what_was_in_it_is_removed(environments, monkeypatch):
    """It takes a while: what a build began in then was taken away, or was one that others could read."""
    unused(environments)
    environments._most_bytes = 0
    cache, there = environments.folder.cache, []
    monkeypatch.setattr("jobs.execution.environments.remove", lambda _: there.append(cache.exists()))
    evict(environments)
    assert set(there) == {True}


def test_nothing_needed_is_the_own_python(environments):
    given = Asking(environments, "one").given()
    assert (given.directory, given.error) == ("", "")


def test_the_last_who_leaves_ends_the_build_with_all_its_processes(environments, monkeypatch):
    slow(environments, monkeypatch)
    for name in ("one", "two"):
        Asking(environments, name, "tiny")
    until(lambda: len(left_by_builds(environments)) == 2)  # before, one may be in the middle of an execve
    environments.unprepare("one")
    assert left_by_builds(environments)
    environments.unprepare("two")
    until(lambda: not left_by_builds(environments))
    until(lambda: not [*environments.folder.root.glob("*.making")])


def test_a_killed_build_says_so_and_leaves_nothing(environments, monkeypatch, tmp_path):
    told = tmp_path / "told"
    command = ["/bin/sh", "-c", f"echo $$ $PPID > '{told}.new'; mv '{told}.new' '{told}'; exec sleep 600"]
    monkeypatch.setattr(environments._builder, "_commands", lambda *_: [command])
    asking = Asking(environments, "one", "tiny")
    until(told.exists)
    sleeping, build = map(int, told.read_text().split())
    os.kill(build, signal.SIGKILL)
    assert asking.given().error.endswith("the process that does it was killed by signal 9")
    until(lambda: not ((left := process(sleeping)) and left.alive))


def test_a_command_that_is_killed_is_said_to_be(environments, monkeypatch):
    monkeypatch.setattr(environments._builder, "_commands", lambda *_: [["/bin/sh", "-c", "kill -9 $$"]])
    assert Asking(environments, "one", "tiny").given().error.endswith("/bin/sh was killed by signal 9")


def test_a_build_has_a_time_limit(environments, monkeypatch):
    slow(environments, monkeypatch, seconds=0.5)
    given = Asking(environments, "one", "tiny").given()
    assert given.error == "its packages were not installed within 0.5 s"
    assert not left_by_builds(environments)


def test_half_of_one_is_swept_at_the_next_start(environments, data_dir):
    half = environments.folder.new("key")
    (half / "lib").mkdir(parents=True)
    (data_dir / "environments/key").mkdir()  # without its facts
    later = Environments(data_dir, timeout_seconds=60, most_mb=1000, most_days=30)
    later.open()
    until(lambda: not half.exists())
    later.close()
    assert environments.folder.find("key") is None


def unused(environments, name="one"):
    """One that was built, and that nobody waits for or uses."""
    given = Asking(environments, name, "tiny" if name == "one" else "tiny==1.0").given(name)
    environments.unprepare(name)
    environments.give_back(name)
    until(lambda: name not in environments._using)
    return given


def age(given, days):
    os.utime(f"{given.directory}/in-use", (time.time() - days * 86_400,) * 2)


def test_one_that_nobody_used_for_long_goes(environments):
    old, new = unused(environments), unused(environments, "two")
    age(old, 31)
    evict(environments)
    assert (there(old), there(new)) == (False, True)


def test_past_the_size_the_one_used_longest_ago_goes(environments):
    old, new = unused(environments), unused(environments, "two")
    age(old, 2)
    evict(environments)
    environments._most_bytes = bytes_on_disk(environments.folder.root) * 3 // 4
    evict(environments)
    assert (there(old), there(new)) == (False, True)


def test_the_end_of_an_attempt_is_a_use(environments):
    given = Asking(environments, "one", "tiny").given("long")
    age(given, 40)
    environments.give_back("long")
    environments.unprepare("one")
    evict(environments)
    assert there(given)


def there(given):
    return Path(given.directory).exists()


@pytest.mark.parametrize("by", ["a runner", "an attempt", "one that waits"])
def test_one_in_use_never_goes(environments, by):
    given = Asking(environments, "one", "tiny").given("token")
    with Path(given.directory, "in-use").open() as file:
        fcntl.flock(file, fcntl.LOCK_SH if by == "a runner" else fcntl.LOCK_UN)
        if by != "one that waits":
            environments.unprepare("one")
        if by != "an attempt":
            environments.give_back("token")
        age(given, 400)
        environments._most_bytes = 0
        evict(environments)
        assert there(given)
