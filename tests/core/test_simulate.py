"""The engine under a hand-moved clock: as the real one would do it, the same each time, and never beyond the cores."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs import forecast
from jobs.budget import Budget
from jobs.core.decisions import Fire, Start, Stop
from jobs.core.foresight import warnings
from jobs.core.inputs import Ended, JobChanged, ScheduleChanged
from jobs.core.policies import DEFAULT_POLICY, FirePolicy, Overlap
from jobs.core.present import DurationFrom, Durations, Machine, Present, Underway
from jobs.core.records import Demand, Instance, Job, Outcome
from jobs.core.simulate import Simulation, run_together, simulate
from jobs.core.states import OutcomeKind, Status
from jobs.core.triggers import FixedRate, Once
from jobs.core.whatif import Change, what_if
from tests.core.world import World

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = 1 / 24


def every(job_id: int, seconds: float, policy: FirePolicy = DEFAULT_POLICY, until: datetime | None = None):
    trigger = FixedRate(NOW, timedelta(seconds=seconds), until)
    return ScheduleChanged(job_id, job_id, trigger, NOW, policy)


def present(jobs, schedules=(), cores: int = 2, **more) -> Present:
    return Present(NOW, (Machine("one", cores, 1.0),), tuple(jobs), tuple(schedules), **more)


def queued(number: int, job_id: int = 1) -> Instance:
    return Instance(number, job_id, Status.QUEUED, NOW, NOW, queued_at=NOW, order_key=number)


def test_each_fire_starts_and_ends_after_its_usual_time():
    course = simulate(present([Job(1, name="a", usual_seconds=30)], [every(1, 600)]), days=HOUR)
    assert [run.started_at for run in course.runs] == [NOW + timedelta(minutes=10 * n) for n in range(1, 7)]
    assert course.runs[0].ended_at == NOW + timedelta(minutes=10, seconds=30)


@pytest.mark.parametrize(
    ("job", "source", "seconds"),
    [
        (Job(1, usual_seconds=5, timeout_seconds=9), DurationFrom.USUAL, 5),
        (Job(1, timeout_seconds=9), DurationFrom.TIME_LIMIT, 9),
        (Job(1), DurationFrom.GUESS, 60),
    ],
)
def test_duration_says_where_it_comes_from(job, source, seconds):
    sums = simulate(present([job], [every(1, 600)]), days=HOUR).jobs[1]
    assert (sums.duration_from, sums.seconds) == (source, seconds)


def test_what_lacks_cores_waits_and_says_why():
    jobs = [Job(n, name=str(n), demand=Demand(2), usual_seconds=100) for n in (1, 2)]
    course = simulate(present(jobs, waiting=(queued(1, 1), queued(2, 2))), days=HOUR)
    assert [(run.wait_seconds, run.why) for run in course.runs] == [(0, ""), (100, "cores")]


def test_running_one_holds_its_cores_until_its_usual_end():
    running = Underway(replace(queued(1), status=Status.RUNNING, attempts=1), NOW - timedelta(seconds=40), 2)
    jobs = [Job(1, usual_seconds=100), Job(2, usual_seconds=1)]
    course = simulate(present(jobs, waiting=(queued(2, 2),), running=(running,)), days=HOUR)
    assert [run.wait_seconds for run in course.runs] == [60]


def test_backfill_that_runs_makes_no_fire_be_skipped():
    """As with the real stores: the forecast said that all fires beside a backfill were lost."""
    backfill = replace(queued(1), status=Status.RUNNING, attempts=1, backfill=True)
    found = present([Job(1, usual_seconds=700)], [every(1, 600)], running=(Underway(backfill, NOW, 1),))
    sums = simulate(found, days=HOUR / 4).jobs[1]
    assert (sums.instances, sums.skipped) == (1, 0)


def test_dependents_run_after_their_upstreams_of_the_date():
    jobs = [Job(1, usual_seconds=20), Job(2, upstreams=(1,), usual_seconds=5)]
    runs = simulate(present(jobs, [every(1, 1800)]), days=HOUR).runs
    assert [(run.job_id, run.started_at - run.logical_at) for run in runs[:2]] == [
        (1, timedelta(0)),
        (2, timedelta(seconds=20)),
    ]


def test_core_use_counts_slots_by_time():
    course = simulate(present([Job(1, demand=Demand(2), usual_seconds=150)], [every(1, 300)]), days=HOUR)
    assert [(part.mean, part.most) for part in course.parts[1:]] == [(1.0, 2)] * 11
    assert course.peak == 2


def asked(times: int):
    """May go on so many times."""
    left = iter(range(times))
    return lambda: next(left, None) is not None


def test_simulation_ends_where_it_may_not_go_on():
    found = present([Job(1, usual_seconds=1)], [every(1, 60)])
    course, whole = simulate(found, days=1, may_go_on=asked(50)), simulate(found, days=1)
    assert course.cut
    assert course.reached < course.until
    begun = [run.started_at for run in whole.runs if run.started_at < course.reached]
    assert [run.started_at for run in course.runs] == begun


def test_forecast_without_time_says_up_to_when_it_is_true():
    seconds = iter([0.0, *[2.9] * 30, 3.0])
    found = present([Job(1, usual_seconds=1)], [every(1, 60)])
    said = forecast.forecast(found, days=1, guess_seconds=60, budget=Budget(3, lambda: next(seconds)))
    assert (said["cut"], said["reached"]) == (True, "2026-01-01T00:15:01+00:00")
    assert said["cut_because"].startswith(
        "Stopped at 2026-01-01 00:15 UTC after 3 s of computing: everything here is true up to then, "
        "not up to 2026-01-02 00:00 UTC as asked."
    )


def test_forecast_of_all_that_was_asked_gives_no_cause():
    said = forecast.forecast(present([]), days=1, guess_seconds=60, budget=Budget(3))
    assert (said["cut"], said["cut_because"], said["reached"]) == (False, "", said["until"])


def test_result_is_json_of_bounded_size():
    jobs = [Job(n, name=f"job {n}", usual_seconds=50) for n in range(1, 301)]
    found = present(jobs, [every(n, 600) for n in range(1, 301)], cores=8)
    assert len(json.dumps(forecast.forecast(found, days=1, guess_seconds=60, budget=Budget(600)))) < 500_000


def test_replaced_one_ends_for_the_newer_one():
    found = present([Job(1, usual_seconds=90)], [every(1, 60, FirePolicy(overlap=Overlap.REPLACE))])
    outcomes = [run.outcome for run in simulate(found, days=HOUR).runs]
    assert set(outcomes[:-1]) == {"cancelled"}


# --- the same as live ---


def replayed(found: Present, hours: float) -> tuple[list, list]:
    """Fires and starts of the ordinary engine and store, told of ends at the simulated durations."""
    world = World(cores=found.machines[0].cores, overcommit=1.0, now=NOW)
    for job in found.jobs:
        world.store.jobs[job.id] = job
    seconds = {job.id: Durations().of(job)[0] for job in found.jobs}
    fires, starts, ends, until = [], [], [], NOW + timedelta(hours=hours)

    def note(plan):
        for decision in plan.decisions:
            if isinstance(decision, Fire):
                fires.append((decision.job_id, decision.logical_at, len(decision.births), len(decision.skips)))
            elif isinstance(decision, Start):
                starts.append((decision.job_id, decision.instance_id, world.now))
                ends.append((world.now + timedelta(seconds=seconds[decision.job_id]), len(starts), decision))
            elif isinstance(decision, Stop):
                ends.append((world.now, len(ends), decision))
        return plan

    step = world.engine.step
    world.engine.step = lambda now, inputs: note(step(now, inputs))
    world.tell(*(JobChanged(job) for job in found.jobs))
    world.tell(*found.schedules)
    while True:
        moments = [at for at, _, _ in ends] + [at for at in [world.engine.wake_at()] if at]
        if not moments or min(moments) > until:
            return fires, starts
        world.now = max(world.now, min(moments))
        due = sorted((end for end in ends if end[0] <= world.now), key=lambda end: end[:2])
        ends[:] = [end for end in ends if end[0] > world.now]
        told = {decision.token: ended(world, decision) for _, _, decision in due if runs(world, decision)}
        world.tell(*told.values())


def runs(world: World, decision: Start | Stop) -> bool:
    run = world.engine.known.running.get(decision.instance_id)
    return run is not None and run.token == decision.token


def ended(world: World, decision: Start | Stop) -> Ended:
    run = world.engine.known.running[decision.instance_id]
    kind = OutcomeKind.CANCELLED if isinstance(decision, Stop) else OutcomeKind.SUCCESS
    took = (world.now - run.since).total_seconds()
    outcome = Outcome(kind, world.now, run.since, duration_seconds=took)
    return Ended(decision.instance_id, decision.token, outcome)


def crowd(seed: int) -> Present:
    random = Random(seed)  # noqa: S311 - a scene that can be made again
    policies = [FirePolicy(overlap=overlap, queue_bound=2) for overlap in Overlap]
    jobs = [
        Job(
            n,
            name=f"job {n}",
            demand=Demand(random.randint(0, 3)),
            priority=random.randint(0, 3),
            usual_seconds=random.choice([None, 5.0, 40.0, 200.0, 700.0]),
            start_deadline_seconds=random.choice([None, None, 120.0]),
            max_running=random.choice([None, None, 1]),
            limits=(f"job:{n}",),
            upstreams=(n - 1,) if n > 8 else (),
        )
        for n in range(1, 13)
    ]
    schedules = [every(n, random.choice([60, 90, 300, 1000]), random.choice(policies)) for n in range(1, 9)]
    return present(jobs, schedules, cores=4)


@pytest.mark.parametrize("seed", range(12))
def test_live_replay_gives_the_same_fires_and_starts(seed):
    found = crowd(seed)
    simulation = Recording(found, found.now + timedelta(hours=3), Durations())
    run_together([simulation], lambda: True)
    fires, starts = replayed(found, hours=3)
    assert simulation.fires == fires
    assert simulation.starts == starts
    assert len(starts) > 50


class Recording(Simulation):
    """Keeps every fire, start and number of slots in use, which a course only sums."""

    def __init__(self, *arguments) -> None:
        self.fires, self.starts, self.used = [], [], []
        super().__init__(*arguments)

    def _follow(self, decision):
        if isinstance(decision, Fire):
            self.fires.append((decision.job_id, decision.logical_at, len(decision.births), len(decision.skips)))
        elif isinstance(decision, Start):
            self.starts.append((decision.job_id, decision.instance_id, self.now))
        self.used.append(self.pool.slots - self.pool.free_slots)
        super()._follow(decision)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_never_more_slots_than_there_are(seed):
    simulation = Recording(crowd(seed), NOW + timedelta(hours=1), Durations())
    reached = run_together([simulation], lambda: True)
    assert max(simulation.used) <= 4
    assert max(part.most for part in simulation.course(reached).parts) <= 4


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_same_present_gives_the_same_course(seed):
    first, second = (simulate(crowd(seed), days=HOUR) for _ in range(2))
    assert first == second


# --- warnings ---


def said(found: Present, days: float = HOUR) -> dict[str, str]:
    return {one.code: one.sentence for one in warnings(found, simulate(found, days=days))}


def test_job_that_outruns_its_interval_is_warned_of():
    sentence = said(present([Job(1, name="slow", usual_seconds=90)], [every(1, 60)]))["outruns_interval"]
    assert sentence == (
        "Job 'slow' takes 90 s (as usual) and is due every 1 min at its closest: 30 of 60 fires are skipped."
    )


def test_job_that_no_node_can_hold_is_warned_of():
    sentence = said(present([Job(1, name="big", demand=Demand(8))], [every(1, 600)]))["node_too_small"]
    assert sentence == "Job 'big' needs 8 cores, and no node can give more than 2 cores."


def test_demand_beyond_capacity_is_warned_of_with_its_share():
    jobs = [Job(n, name=str(n), usual_seconds=250, demand=Demand(1)) for n in range(1, 5)]
    sentence = said(present(jobs, [every(n, 300) for n in range(1, 5)]))["overload"]
    assert "up to 3.3 slots" in sentence
    assert "there are 2 (167 %)" in sentence


def test_deadline_that_can_never_be_met_is_warned_of():
    jobs = [
        Job(1, name="hog", demand=Demand(2), usual_seconds=599, priority=3),
        Job(2, name="late", start_deadline_seconds=60, usual_seconds=1),
    ]
    found = present(jobs, [every(1, 600), every(2, 600)])
    assert said(found)["start_deadline"].startswith("None of ")


def test_last_fire_of_a_schedule_is_warned_of():
    found = present([Job(1, name="old", usual_seconds=1)], [every(1, 600, until=NOW + timedelta(minutes=25))])
    assert said(found)["last_fire"] == ("The schedule of job 'old' fires for the last time at 2026-01-01 00:20 UTC.")
    over = replace(present([]), over=(("gone", "every hour"),))
    assert "never fires again" in said(over)["never_fires"]


def test_quiet_plan_warns_of_nothing():
    assert said(present([Job(1, usual_seconds=10)], [every(1, 600)])) == {}


# --- what if ---


def test_what_if_says_who_would_wait_longer():
    jobs = [Job(1, name="report", demand=Demand(2), usual_seconds=300)]
    found = present(jobs, [every(1, 1800)])
    change = Change("import", FixedRate(NOW, timedelta(seconds=1800)), cores=2, duration_seconds=600)
    other = replace(jobs[0], priority=1)
    comparison = what_if(replace(found, jobs=(replace(other, priority=0),)), change, days=HOUR)
    (longer,) = comparison.waits_longer
    assert (longer.job, longer.longest_before, longer.longest_after) == ("report", 0.0, 600.0)
    assert comparison.after.peak == 2


@pytest.mark.parametrize("times", [0, 1, 7, 40, 111])
def test_what_if_that_is_cut_compares_the_same_time(times):
    found = crowd(3)
    comparison = what_if(found, Change("job 1", cores=0), days=HOUR, may_go_on=asked(times))
    reached = comparison.before.reached
    assert comparison.after.reached == reached < comparison.before.until
    alone = simulate(found, days=HOUR, may_go_on=asked(times))
    begun = [run for run in alone.runs if run.started_at < reached]
    assert [run.started_at for run in comparison.before.runs] == [run.started_at for run in begun]


def test_change_that_changes_nothing_makes_nobody_wait_when_cut():
    comparison = what_if(crowd(3), Change("job 1"), days=HOUR, may_go_on=asked(60))
    assert (comparison.waits_longer, comparison.newly_skipped, comparison.new_warnings) == ((), (), ())


def test_what_if_names_new_warnings():
    found = present([Job(1, name="a", usual_seconds=30)], [every(1, 60)])
    comparison = what_if(found, Change("a", duration_seconds=100), days=HOUR)
    assert [one.code for one in comparison.new_warnings] == ["outruns_interval"]
    assert comparison.newly_skipped[0].before == 0


def test_what_if_of_a_once_is_one_run():
    comparison = what_if(present([]), Change("new", Once(NOW + timedelta(minutes=5)), cores=1), days=HOUR)
    assert [run.started_at for run in comparison.after.runs] == [NOW + timedelta(minutes=5)]


def test_packages_are_taken_to_be_there():
    job = Job(1, usual_seconds=30, environment="key")
    course = simulate(present([job], [every(1, 600)], waiting=(queued(1),)), days=HOUR)
    assert course.runs[0].started_at == NOW
    assert len(course.runs) == 7
