from jobs.telemetry.cores import CoreLoad, CoreTimes, parse_core_list, read_core_times


def load_between(before, after):
    readings = iter([before, after])
    load = CoreLoad(lambda: next(readings))
    load.sample()
    return load.sample()


def test_first_sample_says_nothing():
    assert CoreLoad(lambda: {0: CoreTimes(1, 2)}).sample() == {}


def test_load_is_busy_share_since_last_sample():
    assert load_between({0: CoreTimes(10, 100)}, {0: CoreTimes(15, 110)}) == {0: 0.5}


def test_core_that_came_online_is_left_out():
    assert load_between({0: CoreTimes(0, 0)}, {0: CoreTimes(1, 2), 1: CoreTimes(1, 2)}) == {0: 0.5}


def test_counters_that_went_back_are_left_out():
    assert load_between({0: CoreTimes(10, 20)}, {0: CoreTimes(5, 30)}) == {}


def test_no_time_between_samples_is_no_load():
    assert load_between({0: CoreTimes(10, 20)}, {0: CoreTimes(10, 20)}) == {}


def test_core_list_has_ranges_and_gaps():
    assert parse_core_list("0-2,4\n") == [0, 1, 2, 4]


def test_this_machine_has_cores():
    times = read_core_times()
    assert 0 in times
    assert all(0 <= core.busy <= core.total for core in times.values())
