"""Cases from the field: what a schedule does when its last instance has not ended."""

import random
from datetime import datetime, timedelta

from jobs.core.decisions import Fire, Plan
from jobs.core.inputs import Ended
from jobs.core.policies import FirePolicy, Overlap
from jobs.core.records import Outcome
from jobs.core.states import UNFINISHED, OutcomeKind
from jobs.core.triggers import FixedRate
from tests.core.world import World

MINUTE = timedelta(minutes=1)


class Watched(World):
    """Ends each run after its time, together with what is due at that moment. Never may two run at once."""

    def play(self, until: datetime, lasts) -> list[Plan]:
        plans, ends = [], {}
        while self.now < until:
            running = self.engine.known.running
            assert len(running) <= 1
            ends |= {i: run.since + timedelta(seconds=lasts()) for i, run in running.items() if i not in ends}
            due = [ends[i] for i in running]
            self.now = min([until, *due, *([self.engine.wake_at()] if self.engine.wake_at() else [])])
            over = [i for i in running if ends[i] <= self.now]
            plans.append(self.tell(*(self._ended(i) for i in over)))
        return plans

    def _ended(self, instance_id: int) -> Ended:
        token = self.engine.known.running[instance_id].token
        return Ended(instance_id, token, Outcome(OutcomeKind.SUCCESS, self.now))


def skips(plans: list[Plan]) -> list[str]:
    fires = [d for plan in plans for d in plan.decisions if isinstance(d, Fire)]
    return [skip.code for fire in fires for skip in fire.skips for _ in range(skip.count)]


def test_bug_044_skip_lets_no_two_run_in_ten_minutes():
    """Every second, takes 0.9 to 1.1 s."""
    rng = random.Random(44)  # noqa: S311 - repeatable, not a secret
    world = Watched()
    world.job()
    world.schedule(FixedRate(world.now, timedelta(seconds=1)))
    plans = world.play(world.now + 10 * MINUTE, lambda: rng.uniform(0.9, 1.1))
    started, skipped = len(world.starts), skips(plans)
    assert set(skipped) == {"overlap"}
    assert 590 <= started + len(skipped) <= 601
    assert started >= 300


def test_bug_046_queue_behind_one_job_is_bounded():
    """Every minute, takes an hour, and each is to wait for the one before."""
    world = Watched()
    world.job()
    world.schedule(FixedRate(world.now, MINUTE), policy=FirePolicy(overlap=Overlap.QUEUE))
    plans = world.play(world.now + 60 * MINUTE, lambda: 3600)
    unfinished = [i for i in world.store.instances.values() if i.status in UNFINISHED]
    assert len(unfinished) == 1 + FirePolicy().queue_bound
    assert skips(plans) == ["queue_bound"] * (59 - len(unfinished) + 1)
