"""Random workflows, run to their ends and held against an oracle that knows nothing of how the engine works."""

import random
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from jobs.core.catchup import CatchUp
from jobs.core.inputs import InstanceSeen, JobChanged
from jobs.core.policies import FirePolicy, Overlap, UpstreamRule
from jobs.core.records import Job, RetryPolicy
from jobs.core.states import TERMINAL, OutcomeKind, Status
from jobs.core.triggers import FixedRate
from tests.core.world import START, World

JOBS, DATES, HOUR = 200, 3, 3600
FAILED = {Status.FAILED, Status.TIMEOUT, Status.UPSTREAM_FAILED}
RULES = [UpstreamRule.ALL_SUCCESS] * 8 + [UpstreamRule.ALL_DONE, UpstreamRule.ANY_FAILED]


@dataclass
class Story:
    """A workflow of random shape, and what becomes of each attempt and whom somebody cancels, by a seed."""

    seed: int
    jobs: int = JOBS
    world: World = field(default_factory=lambda: World(cores=64))
    early: list[int] = field(default_factory=list)
    looked_at: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311 - a test's own
        for job_id in range(1, self.jobs + 1):
            above = tuple(
                sorted(self.chance.sample(range(1, job_id), min(job_id - 1, self.chance.choice([1, 1, 2, 4]))))
            )
            upstreams = () if job_id <= 3 else above
            retry = RetryPolicy(self.chance.choice([0, 0, 1]), 30, jitter=False)
            rule = self.chance.choice(RULES)
            job = Job(job_id, name=f"job {job_id}", upstreams=upstreams, upstream_rule=rule, retry=retry)
            self.world.store.jobs[job_id] = job
        self.world.tell(*(JobChanged(job) for job in self.world.store.jobs.values()))
        policy = FirePolicy(CatchUp.ALL, DATES, overlap=Overlap.ALLOW)
        for root in (1, 2, 3):
            trigger = FixedRate(START, timedelta(hours=1))
            self.world.schedule(trigger, root, schedule_id=root, policy=policy)

    def tell_to_the_end(self) -> None:
        self.world.wait(DATES * HOUR + 1)
        while any(instance.status not in TERMINAL for instance in self.world.store.instances.values()):
            self._look_for_early_starts()
            running = sorted(self.world.engine.known.running)
            if not running:
                moment = self.world.engine.wake_at()
                assert moment is not None, "something waits, and nothing will ever wake it"
                self.world.wait(max(0.0, (moment - self.world.now).total_seconds()))
            elif self.chance.random() < 0.03:
                self._cancel_somebody()
            else:
                kind = self.chance.choices([OutcomeKind.SUCCESS, OutcomeKind.FAILED, OutcomeKind.TIMEOUT], [94, 4, 2])[
                    0
                ]
                self.world.end(self.chance.choice(running), kind)

    def retry_a_failure(self) -> bool:
        """Of one that failed by itself, with all below it that went with it: as the actions do it."""
        latest = self.latest()
        failed = [i for i in latest.values() if i.status in (Status.FAILED, Status.TIMEOUT)]
        if not failed:
            return False
        first = self.chance.choice(sorted(failed, key=lambda i: i.id))
        back, made = {first.job_id}, [self._again(first.job_id, first.logical_at)]
        for job_id in self.world.engine.graph.below(first.job_id):
            row = latest[job_id, first.logical_at]
            if row.status is Status.UPSTREAM_FAILED and back & set(self.world.store.jobs[job_id].upstreams):
                back.add(job_id)
                made.append(self._again(job_id, first.logical_at))
        seen = [self.world.instance(i) for i in made]
        # As the service tells it: what waits first, then how its upstreams of that date stand.
        seen.sort(key=lambda i: i.status is not Status.PENDING)
        standing = [i for i in self.latest().values() if i.logical_at == first.logical_at and i.id not in made]
        self.world.tell(*(InstanceSeen(i) for i in [*seen, *standing]))
        return True

    def latest(self):
        rows = sorted(self.world.store.instances.values(), key=lambda i: i.generation)
        return {(i.job_id, i.logical_at): i for i in rows}

    def _again(self, job_id: int, date) -> int:
        return self.world.store.submit(job_id, self.world.now, logical_at=date).id

    def _cancel_somebody(self) -> None:
        live = [i.id for i in self.world.store.instances.values() if i.status not in TERMINAL]
        chosen = self.chance.choice(sorted(live))
        run = self.world.engine.known.running.get(chosen)
        self.world.cancel(chosen)
        if run is not None:
            self.world.end(chosen, OutcomeKind.CANCELLED)

    def _look_for_early_starts(self) -> None:
        """Among those that were started since it last looked."""
        new, self.looked_at = self.world.starts[self.looked_at :], len(self.world.starts)
        latest = self.latest() if new else {}
        for start in new:
            job = self.world.store.jobs[start.job_id]
            date = self.world.instance(start.instance_id).logical_at
            if start.attempt == 1 and not may_run(job, [latest[up, date].status for up in job.upstreams]):
                self.early.append(start.instance_id)


def may_run(job: Job, above: list[Status]) -> bool:
    if not above:
        return True
    if job.upstream_rule is UpstreamRule.ANY_FAILED:
        return any(status in FAILED for status in above)
    if job.upstream_rule is UpstreamRule.ALL_DONE:
        return all(status in TERMINAL for status in above)
    return all(status is Status.SUCCESS for status in above)


def wrong_ends(story: Story, *, after_retries: bool = False) -> list[str]:
    """Ends that cannot be, of the latest generation on each date, by what became of its upstreams.

    A clean-up stays as it was when what it ran for is healed later.
    """
    latest, wrong = story.latest(), []
    for (job_id, date), instance in latest.items():
        job = story.world.store.jobs[job_id]
        above = [latest[up, date] for up in job.upstreams]
        spoilt = [up for up in above if up.status is not Status.SUCCESS]
        rule, status = job.upstream_rule, instance.status
        must_fail = bool(spoilt) and rule is UpstreamRule.ALL_SUCCESS
        if (status is Status.UPSTREAM_FAILED) != must_fail and status is not Status.CANCELLED:
            wrong.append(f"job {job_id} is {status}, its upstreams {[up.status for up in above]}")
        none_failed = bool(above) and not any(up.status in FAILED for up in above)
        if not after_retries and (status is Status.SKIPPED) != (rule is UpstreamRule.ANY_FAILED and none_failed):
            wrong += [] if status is Status.CANCELLED else [f"job {job_id} is {status} by {rule}"]
        if status is Status.UPSTREAM_FAILED and instance.blame is not None:
            causes = {up.blame.instance_id if up.blame else up.id for up in spoilt}
            cause = story.world.instance(instance.blame.instance_id)
            if cause.id not in causes or cause.status is Status.UPSTREAM_FAILED or cause.logical_at != date:
                wrong.append(f"job {job_id} names instance {cause.id}, possible were {causes}")
        elif status is Status.UPSTREAM_FAILED:
            wrong.append(f"job {job_id} names nobody")
    return wrong


@pytest.mark.parametrize("seed", range(6))
def test_every_instance_ends_as_its_upstreams_have_it(seed):
    story = Story(seed)
    story.tell_to_the_end()
    assert len(story.world.store.instances) == JOBS * DATES
    assert story.early == []
    assert wrong_ends(story) == []
    assert {i.status for i in story.latest().values()} >= {Status.SUCCESS, Status.UPSTREAM_FAILED}


@pytest.mark.parametrize("seed", range(3))
def test_retries_heal_what_failed_with_them(seed):
    story = Story(100 + seed, jobs=60)
    story.tell_to_the_end()
    for _ in range(8):
        if not story.retry_a_failure():
            break
        story.tell_to_the_end()
        assert story.early == []
        assert wrong_ends(story, after_retries=True) == []
