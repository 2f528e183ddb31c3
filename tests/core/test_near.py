from jobs.core.near import LONGEST_LIKELY, did_you_mean, near


def test_the_one_that_was_meant_is_asked_for():
    assert did_you_mean("tmeout", ["timeout", "name"], "known are two.") == "did you mean timeout?"
    assert did_you_mean("zzz", ["timeout", "name"], "known are two.") == "known are two."


def test_the_nearest_comes_first():
    assert near("nightly", ["nighty-report", "nightly", "night"], most=2)[0] == "nightly"


def test_a_name_of_any_length_is_answered_at_once():
    """To compare a megabyte with each field of a job takes seconds."""
    name = "x" * LONGEST_LIKELY
    assert near(name, [name]) == [name]
    assert near(f"{name}x", [name]) == []


def test_name_that_has_the_words_is_meant_before_one_that_looks_alike():
    """Whoever wrote "cores" was asked whether secrets were meant."""
    assert near("cores", ["secrets", "virtual_cpu_cores", "cpu_cores_required"], most=2) == [
        "virtual_cpu_cores",
        "cpu_cores_required",
    ]
