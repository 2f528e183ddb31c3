import pytest

from jobs.actions.forms import environment_text, raw_from_form


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("cpu_cores_required", "2", 2),
        ("cpu_cores_required", "two", "two"),
        ("cpu_cores_required", " +2 ", 2),
        ("cpu_cores_required", "1_000", "1_000"),
        ("cpu_cores_required", "\u0662", "\u0662"),
        ("cpu_cores_required", "9" * 5000, "9" * 5000),
        ("timeout_seconds", "1.5", 1.5),
        ("timeout_seconds", "90", 90),
        ("timeout_seconds", "1e3", 1000.0),
        ("timeout_seconds", "1_0.5", "1_0.5"),
        ("timeout_seconds", "nan", "nan"),
        ("timeout_seconds", "", None),
        ("priority", "3", 3),
        ("priority", "high", "high"),
        ("tags", "etl, daily,", ["etl", "daily"]),
        ("environment", "A=1\r\n\r\nB=x=y\n", {"A": "1", "B": "x=y"}),
        ("environment", "A", {"A": None}),
        ("retry_jitter", "on", True),
        ("retry_jitter", "off", False),
        ("script_content", "if True:\r\n    print(1)\r\n", "if True:\n    print(1)\n"),
        ("start_date", "2026-05-05T10:00", "2026-05-05T10:00"),
    ],
)
def test_text_becomes_what_the_api_takes(field, text, value):
    assert raw_from_form({field: text}) == {field: value}


def test_environment_reads_back():
    assert raw_from_form({"environment": environment_text({"A": "1", "B": "x=y"})}) == {
        "environment": {"A": "1", "B": "x=y"}
    }


def test_unknown_flag_stays_for_the_check():
    assert raw_from_form({"keep_workspace": "perhaps"}) == {"keep_workspace": "perhaps"}
