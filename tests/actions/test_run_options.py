"""How a job is run, from what was given to what the executor is told."""

from datetime import UTC, datetime

import pytest

from jobs.actions import InvalidInput, create_job
from jobs.actions.definition import raw_of, spec_of
from jobs.core.running import RUN_FIELDS, USUAL_RUN, options_of
from jobs.models import Job

NOW = datetime(2026, 3, 1, tzinfo=UTC)
CHOSEN = {
    "start": "cold", "working_directory": "/srv", "run_as": "www-data", "umask": "027", "nice": 5,
    "io_priority": "idle", "max_processes": 50, "max_file_mb": 10, "cleanup_command": "docker rm x",
    "cleanup_after": ["timeout", "cancel"], "cleanup_timeout_seconds": 5.0,
}  # fmt: skip

pytestmark = pytest.mark.django_db


def created(**fields):
    job_id = create_job({"name": "a", "command": "true", **fields}, actor="eve", now=NOW).job_id
    return Job.objects.get(pk=job_id)


def test_what_a_job_says_is_stored_and_told():
    assert set(CHOSEN) == set(RUN_FIELDS)
    job = created(**CHOSEN)
    assert CHOSEN.items() <= raw_of(spec_of(job, None)).items()
    assert options_of(job).cleanup_after == ("timeout", "cancel")


def test_a_job_that_says_nothing_runs_as_usual():
    assert options_of(created()) == USUAL_RUN


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        ("umask", "9", "three octal digits"),
        ("umask", "1777", "three octal digits"),
        ("nice", 20, "from -20 to 19"),
        ("working_directory", "srv/app", "begins with /"),
        ("run_as", "root; id", "name of a user"),
        ("run_as", "1000", "not its number"),
        ("run_as", "-rf", "name of a user"),
        ("run_as", "..", "name of a user"),
        ("run_as", "a:b", "name of a user"),
        ("run_as", "a/b", "name of a user"),
        ("run_as", "a\tb", "U+0009"),
        ("io_priority", "high", "one of normal, low, idle"),
        ("start", "hot", "one of auto, cold, warm"),
        ("max_processes", 0, "from 1 to"),
        ("cleanup_after", ["lunch"], "some of success, failure, timeout, cancel"),
        ("cleanup_timeout_seconds", 0, "above 0"),
        ("cleanup_command", "a\0b", "U+0000"),
    ],
)
def test_what_cannot_be_is_refused_in_words(field, given, expected):
    with pytest.raises(InvalidInput) as refused:
        created(**{field: given})
    assert [problem.field for problem in refused.value.problems] == [field]
    assert expected in refused.value.problems[0].sentence


@pytest.mark.parametrize(
    "name", ["www-data", "first.last", "Anna", "_apt", "pc$", "name@corp.example", "CORP\\name", "żółw", "9lives"]
)
def test_any_name_that_a_passwd_database_has_is_taken(name):
    assert options_of(created(run_as=name)).run_as == name


def test_a_umask_is_read_with_and_without_its_zero():
    assert options_of(created(umask="0077")).umask == "077"
