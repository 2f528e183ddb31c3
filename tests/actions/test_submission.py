"""What may be submitted and what is refused, without a database."""

import math
from datetime import UTC, datetime, timedelta

import pytest

from jobs.actions.answers import InvalidInput
from jobs.actions.bodies import MASK
from jobs.actions.capacity import Capacity
from jobs.actions.definition import edited, raw_of
from jobs.actions.submission import FIELDS, read_job
from jobs.store.specs import JobSpec

NOW = datetime(2026, 5, 4, 12, 0, 30, tzinfo=UTC)
ROOM = Capacity(6, "alpha: 4 cores at overcommit 1.5", 8000, "alpha")
LEAST = {"name": "nightly", "script_content": "print(1)\n"}


def read(before: JobSpec | None = None, **fields: object) -> JobSpec:
    return read_job(LEAST | fields, capacity=ROOM, now=NOW, before=before)


def refused(before: JobSpec | None = None, **fields: object) -> dict[str, str]:
    with pytest.raises(InvalidInput) as refusal:
        read(before, **fields)
    return {problem.field: problem.sentence for problem in refusal.value.problems}


def test_name_and_script_are_enough():
    spec = read()
    assert (spec.name, spec.kind, spec.body, spec.cores) == ("nightly", "script", "print(1)\n", 1)
    assert spec.schedule is None


def test_script_from_windows_keeps_its_interpreter():
    """As Python it was, since a byte order mark hid the interpreter; or no program was named like that line."""
    assert read(script_content="\ufeff#!/bin/sh\r\necho hi\r\n").body == "#!/bin/sh\necho hi\n"


def test_tag_at_fault_is_named_and_no_other():
    """The whole list was shown as JSON, with brackets, and it was left to the reader which tag was meant."""
    sentence = refused(tags=["fine", "x" * 60])["tags"]
    assert sentence.startswith(f'tags: "{"x" * 60}" has 60 characters; expected texts of 1 to 50')
    assert "[" not in sentence
    assert refused(retry_only_exit_codes=[75, "x"])["retry_only_exit_codes"].startswith(
        'retry_only_exit_codes: "x" is no exit code'
    )


def test_moment_that_is_none_is_refused_in_plain_words():
    assert refused(start_date="banana")["start_date"] == (
        "'banana' is no date or time; expected 2026-05-31, 2026-05-31T14:30 or 2026-05-31T14:30+02:00."
    )


def test_all_problems_come_at_once():
    fields = {"name": " ", "cpu_cores_required": 0, "timeout_seconds": -1, "timezone": "Mars/Phobos", "tags": "etl"}
    assert set(refused(**fields)) == set(fields)


def test_unknown_field_names_its_neighbour():
    assert "did you mean timeout_seconds?" in refused(timeout_secs=3)["timeout_secs"]


def test_problem_says_given_and_expected():
    with pytest.raises(InvalidInput) as refusal:
        read(max_retries="many")
    (problem,) = refusal.value.problems
    assert (problem.field, problem.given) == ("max_retries", '"many"')
    assert problem.expected == "a whole number from 0 to 1,000"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", 7),
        ("name", "a" * 201),
        ("name", "line\nbreak"),
        ("name", "bell\x07"),
        ("name", "nul\0"),
        ("name", "half \ud800"),
        ("name", "turned \u202e text"),
        ("script_content", "print('\0')"),
        ("script_content", "print('\udfff')"),
        ("script_content", "x" * 1_000_001),
        ("script_content", ["print(1)"]),
        ("description", "\0"),
        ("cpu_cores_required", True),
        ("cpu_cores_required", 1.5),
        ("cpu_cores_required", "2"),
        ("cpu_cores_required", -1),
        ("cpu_cores_required", 10**400),
        ("memory_mb_required", -1),
        ("memory_mb_required", math.inf),
        ("timeout_seconds", 0),
        ("timeout_seconds", math.nan),
        ("timeout_seconds", math.inf),
        ("timeout_seconds", 10**400),
        ("timeout_seconds", False),
        ("timeout_seconds", "60"),
        ("kill_grace_seconds", -0.1),
        ("max_retries", -1),
        ("retry_delay_seconds", -1),
        ("retry_jitter", "yes"),
        ("keep_workspace", 1),
        ("priority", 4),
        ("priority", True),
        ("priority", "urgent"),
        ("priority", 1.0),
        ("tags", ["a", 1]),
        ("tags", ["a,b"]),
        ("tags", [""]),
        ("tags", ["x"] * 51),
        ("tags", {"a": 1}),
        ("environment", ["A=1"]),
        ("environment", {"1A": "x"}),
        ("environment", {"A-B": "x"}),
        ("environment", {"": "x"}),
        ("environment", {"ROTA_INSTANCE": "x"}),
        ("environment", {"JOB_ID": "x"}),
        ("environment", {"A": 1}),
        ("environment", {"A": None}),
        ("environment", {"A": "\0"}),
        ("environment", {"A": "x" * 100_001}),
        ("environment", {"A": MASK}),
        ("kind", "callable"),
        ("kind", "command"),
        ("notify_email", "nobody"),
        ("notify_webhook", "ftp://example.org"),
        ("notify_webhook", "http://[half"),
        ("schedule_type", "hourly"),
        ("schedule_type", 5),
        ("schedule_expression", "30s"),
        ("start_date", "tomorrow"),
        ("start_date", 20260504),
        ("end_date", "2026-06-01"),
        ("timezone", ""),
        ("timezone", "../../etc/passwd"),
        ("timezone", "localtime"),
        ("requirements", "requests"),
        ("requirements", ["requests", 5]),
        ("requirements", ["-r base.txt"]),
        ("requirements", ["--index-url https://example.org"]),
        ("requirements", ["./wheels/own.whl"]),
        ("requirements", ["own/setup"]),
        ("requirements", ["own @ https://example.org/own.whl"]),
        ("requirements", ["https://example.org/own.whl"]),
        ("requirements", ["git+https://example.org/own"]),
        ("requirements", ["requests=2"]),
        ("requirements", ["x" * 501]),
        ("requirements", ["requests\0"]),
        ("requirements", ["requests"] * 201),
        ("python_version", "2.7"),
        ("python_version", "3.7"),
        ("python_version", ">=3.11"),
        ("python_version", 3.12),
        ("script_content", "# /// script\n# dependencies = [\n# ///\n"),
        ("script_content", "# /// script\n# dependencies = ['requests']\n"),
        ("script_content", "# /// script\n# requires-python = 'new'\n# ///\n"),
    ],
)
def test_value_is_refused_in_its_own_name(field, value):
    assert list(refused(**{field: value})) == [field]


@pytest.mark.parametrize(
    ("field", "value", "stored"),
    [
        ("name", "  nightly  ", "nightly"),
        ("name", "{{7*7}}${7*7}<img src=x>", "{{7*7}}${7*7}<img src=x>"),
        ("name", "отчёт 東京", "отчёт 東京"),
        ("cpu_cores_required", 2.0, 2),
        ("timeout_seconds", 0.5, 0.5),
        ("timeout_seconds", None, None),
        ("retry_delay_seconds", 0, 0.0),
        ("kill_grace_seconds", 0, 0.0),
        ("priority", "Critical", 3),
        ("priority", 0, 0),
        ("tags", [" etl ", "etl", "daily"], ("etl", "daily")),
        ("environment", {"MOTD": "two\nlines $(touch /tmp/x)"}, {"MOTD": "two\nlines $(touch /tmp/x)"}),
        ("python_version", " 3.12 ", "3.12"),
        ("python_version", "3.12.4", "3.12.4"),
        ("requirements", ["requests", " pandas >= 2.2,<3  # large", "# none", ""], ("requests", "pandas<3,>=2.2")),
        ("requirements", ['tomli; python_version < "3.11"'], ('tomli; python_version < "3.11"',)),
        ("requirements", ["uvicorn[standard]==0.30"], ("uvicorn[standard]==0.30",)),
        ("notify_email", "a@example.org, b@example.org", "a@example.org, b@example.org"),
        ("notify_webhook", "http://chat:9000/hook?key=1", "http://chat:9000/hook?key=1"),
    ],
)
def test_value_is_taken(field, value, stored):
    column = {"cpu_cores_required": "cores"}.get(field, field)
    assert getattr(read(**{field: value}), column) == stored


def test_blank_lists_of_what_is_to_come_are_taken():
    assert read(requirements=[], depends_on=[], created_by="somebody") == read()


def test_demand_above_every_node_names_the_number():
    assert "more than 6 (alpha: 4 cores at overcommit 1.5)" in refused(cpu_cores_required=7)["cpu_cores_required"]
    assert "more than 8000 MB (alpha)" in refused(memory_mb_required=8001)["memory_mb_required"]
    assert read(cpu_cores_required=6, memory_mb_required=8000).cores == 6


def test_uncounted_memory_sets_no_bound():
    spec = read_job(LEAST | {"memory_mb_required": 10**6}, capacity=Capacity(6, "", None, "alpha"), now=NOW)
    assert spec.memory_mb == 10**6


def test_refused_variable_does_not_repeat_its_value():
    with pytest.raises(InvalidInput) as refusal:
        read(environment={"API_TOKEN": "s3cr3t\0", "2": "s3cr3t"})
    assert "s3cr3t" not in repr(refusal.value.problems)


def test_exactly_one_body_is_wanted():
    assert "given was none" in refused(script_content=None)["script_content"]
    assert "given was script_content and command" in refused(command="ls")["command"]
    assert "blank" in refused(script_content=" \n")["script_content"]


def test_command_and_path_are_kinds_of_their_own():
    assert read(script_content=None, command="ls -l").kind == "command"
    assert read(script_content=None, kind="script", script_path="/srv/report.py").kind == "script_path"
    assert "begins with /" in refused(script_content=None, script_path="report.py")["script_path"]


def test_once_retries_three_times_and_repeating_not():
    assert read().max_retries == 3
    assert read(schedule_type="daily", schedule_expression="10:00").max_retries == 0
    assert read(schedule_type="daily", schedule_expression="10:00", max_retries=2).max_retries == 2


def test_cap_of_delays_follows_a_longer_first_one():
    assert read(retry_delay_seconds=7200).retry_max_delay_seconds == 7200
    assert "raise it" in refused(retry_delay_seconds=60, retry_max_delay_seconds=30)["retry_max_delay_seconds"]


def test_naive_date_is_local_to_the_zone():
    spec = read(start_date="2026-07-01T10:00", timezone="Europe/Berlin")
    assert spec.schedule.start_at == datetime(2026, 7, 1, 8, tzinfo=UTC)


def test_once_a_little_back_is_taken_and_further_refused():
    assert read(start_date=(NOW - timedelta(seconds=59)).isoformat()).schedule is not None
    assert "lies in the past" in refused(start_date=(NOW - timedelta(seconds=61)).isoformat())["start_date"]


def test_schedule_that_has_ended_is_refused():
    over = refused(schedule_type="daily", schedule_expression="10:00", end_date="2026-05-01")
    assert "never fire" in over["end_date"]


@pytest.mark.parametrize(
    ("type_", "expression"),
    [
        ("cron", "0 0 30 2 *"),
        ("cron", "* * *"),
        ("interval", "0s"),
        ("interval", ""),
        ("daily", "25:00"),
        ("weekly", "10:00"),
    ],
)
def test_bad_expression_is_refused_by_name(type_, expression):
    assert list(refused(schedule_type=type_, schedule_expression=expression)) == ["schedule_expression"]


def test_edit_leaves_a_past_moment_alone():
    before = read(start_date=(NOW + timedelta(hours=1)).isoformat())
    later = NOW + timedelta(hours=2)
    raw = edited(before, {"description": "edited"})
    assert read_job(raw, capacity=ROOM, now=later, before=before).schedule == before.schedule
    with pytest.raises(InvalidInput, match="an edit starts nothing"):
        read_job(raw | {"start_date": later.isoformat()}, capacity=ROOM, now=later, before=before)


def test_mask_keeps_the_stored_value():
    before = read(environment={"TOKEN": "s3cr3t", "MODE": "fast"})
    spec = read(before, environment={"TOKEN": MASK, "MODE": "slow"})
    assert spec.environment == {"TOKEN": "s3cr3t", "MODE": "slow"}


def test_definition_reads_back_as_itself():
    spec = read(
        schedule_type="weekly", schedule_expression="mon 10:00", timezone="Asia/Tokyo", start_date="2026-06-01",
        end_date="2026-07-01", tags=["a"], environment={"A": "1"}, priority=3, timeout_seconds=5,
    )  # fmt: skip
    assert read_job(raw_of(spec), capacity=ROOM, now=NOW) == spec


def test_other_body_replaces_the_one_there_is():
    assert read_job(edited(read(), {"command": "ls"}), capacity=ROOM, now=NOW).kind == "command"


def test_other_type_takes_no_times_along():
    before = read(schedule_type="cron", schedule_expression="0 * * * *", start_date="2020-01-01")
    assert read_job(edited(before, {"schedule_type": "once"}), capacity=ROOM, now=NOW).schedule is None


def test_every_field_has_been_thought_of():
    assert set(raw_of(read())) == set(FIELDS) - {"created_by"}
