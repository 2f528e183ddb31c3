"""Ten thousand random steps against the memory store: what must hold whatever happens."""

import random

import pytest

from jobs.core.decisions import Start
from jobs.core.packages import key_read_there
from jobs.core.records import Priority, RetryPolicy
from jobs.core.states import LIVE, AttemptStatus, OutcomeKind, Status
from tests.core.world import World

STEPS = 10_000
ENDS = [
    OutcomeKind.SUCCESS,
    OutcomeKind.SUCCESS,
    OutcomeKind.FAILED,
    OutcomeKind.TIMEOUT,
    OutcomeKind.LOST,
    OutcomeKind.REJECTED,
]


class Checked(World):
    """A world that checks the promises after each pass.

    Attempts that were seen to have ended are looked at once more, when all has: each pass would take longer and longer.
    """

    def __post_init__(self):
        super().__post_init__()
        self.seen, self.open = 0, []

    def in_flight(self):
        attempts = self.store.attempts
        tokens = self.open + [start.token for start in self.starts[self.seen :]]
        self.seen = len(self.starts)
        self.open = [token for token in tokens if attempts[token].status is not AttemptStatus.ENDED]
        return [attempts[token].instance_id for token in self.open]

    def tell(self, *inputs):
        known = [self.store.instances[instance_id] for instance_id in self.engine.known.instances]
        retry_at = {i.id: i.retry_at for i in known if i.status is Status.RETRYING}
        there = {"", *self.prepared}
        plan = super().tell(*inputs)
        held = self.manager.holds()
        physical = [core for allocation in held.values() for core in allocation.cores]
        assert len(physical) == len(set(physical)) <= self.cores
        assert len(physical) + sum(a.virtual for a in held.values()) <= self.manager.slots
        assert sum(a.memory_mb for a in held.values()) <= self.memory_mb
        assert set(held) == set(self.engine.known.running)
        in_flight = self.in_flight()
        assert len(in_flight) == len(set(in_flight))
        assert sorted(in_flight) == sorted(self.engine.known.running)
        for start in (d for d in plan.decisions if isinstance(d, Start)):
            instance = self.store.instances[start.instance_id]
            assert instance.due_at <= self.now
            assert retry_at.get(start.instance_id, self.now) <= self.now
            assert self.store.jobs[start.job_id].environment in there
        return plan


def step(world: Checked, rng: random.Random) -> list[int]:
    """One random thing happens. Returns the instances that it submitted."""
    running = sorted(world.engine.known.running)
    live = sorted(world.engine.known.instances)
    match rng.choice(["submit", "delay", "end", "end", "begin", "prepare", "cancel", "wait"]):
        case "submit" if len(live) < 60:
            return [world.submit(rng.randint(1, 8))]
        case "delay" if len(live) < 60:
            return [world.submit(rng.randint(1, 8), after=rng.uniform(0, 20))]
        case "end" if running:
            world.end(rng.choice(running), rng.choice(ENDS), seconds=rng.uniform(0.1, 9))
        case "begin" if running:
            world.begin(rng.choice(running))
        case "prepare" if world.preparing:
            world.prepare(rng.choice(world.preparing))
        case "cancel" if live and rng.random() < 0.3:
            world.cancel(rng.choice(live))
        case _:
            world.wait(rng.uniform(0, 3))
    return []


def let_all_end(world: Checked) -> None:
    for _ in range(5_000):
        for instance_id in sorted(world.engine.known.running):
            world.end(instance_id)
        for key in [*world.preparing]:
            world.prepare(key)
        if not world.engine.known.instances:
            break
        world.wait(5)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_steps_keep_every_promise(seed):
    rng = random.Random(seed)  # noqa: S311 - a repeatable walk, not a secret
    world = Checked(cores=4, overcommit=1.5, memory_mb=2000)
    for job_id in range(1, 9):
        world.job(
            job_id,
            cores=rng.randint(1, 6),
            memory_mb=rng.choice([0, 100, 900]),
            priority=rng.choice(list(Priority)),
            timeout_seconds=rng.choice([None, 5.0, 50.0]),
            retry=RetryPolicy(rng.randint(0, 2), delay_seconds=3, jitter=False),
            environment=rng.choice(["", "one", "another", key_read_there(job_id, 1)]),
        )
    accepted = [instance_id for _ in range(STEPS) for instance_id in step(world, rng)]
    let_all_end(world)
    assert [i for i in accepted if world.instance(i).status in LIVE] == []
    assert world.manager.free_slots == world.manager.slots
    assert world.manager.free_memory_mb == 2000
    assert (world.preparing, world.prepared) == ([], set())
    tokens = [start.token for start in world.starts]
    assert len(tokens) == len(set(tokens))
    assert len(world.starts) == len(world.store.attempts)
    assert {attempt.status for attempt in world.store.attempts.values()} == {AttemptStatus.ENDED}
