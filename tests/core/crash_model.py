"""The crash-point table of docs/crash-safety.md as a pure state machine: a state in, every next state out.

One attempt, one service, any number of runners that were asked for and come late, and a crash of each of the four
(service, launcher, runner, machine) between any two steps. Nothing here runs: `explore` walks all interleavings.
Each field of `Rules` is a rule of the protocol that can be turned off, to show that the walk notices.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Rules(NamedTuple):
    commit_before_start: bool = True  # the attempt's row is durable before anything of it exists
    fence: bool = True  # recovery writes "recovery" into the claim before it starts the attempt again
    read_under_lock: bool = True  # the runner reads the claim after it has the lock
    sync_claim: bool = True  # the claim is on the disk before the job is forked
    lock_before_result: bool = True  # recovery looks for a result only after it has the lock
    sweep: bool = True  # lost is said only when nothing of the attempt is seen alive
    release_after_commit: bool = True  # cores come back after the outcome is durable
    retire: bool = True  # the runner of an attempt that is adopted is told to take no other
    ask_again: bool = True  # whether it still has the attempt, after it was told


ALL_RULES = Rules()


class Runner(NamedTuple):
    id: int
    at: str  # asked, forked, opened, created, locked, written, claimed, running, ended, reported, elsewhere
    folder: int = 0  # which making of the run directory it holds open
    retired: bool = False  # it takes no attempt after this


GONE = -1
HAVING_LOCK = {"locked", "written", "claimed", "running", "ended", "reported"}


class State(NamedTuple):
    row: str = "none"  # none, starting, ended
    outcome: str = ""  # own, lost
    recorded: int = 0  # writes of an outcome that changed the row
    folder: int = 0  # 0 = there is no run directory
    spec: bool = False
    claims: tuple[str, ...] = ()  # content per making of the directory: "" (no file), empty, recovery, runner
    synced: bool = False  # the claim of the present directory would survive a power cut
    result: bool = False
    service: str = "down"
    watched: int = 0  # id of the runner whose end the service waits for, or GONE
    adopted: bool = False  # what is waited for is the end of its process: there is no socket to it
    held: bool = False  # the service's core manager has the attempt's cores down as taken
    runners: tuple[Runner, ...] = ()
    asked: bool = False  # a runner was ever asked for
    leftovers: bool = False  # descendants whose runner was killed
    starts: int = 0  # times that the job was started
    started_after_end: bool = False
    crashes: int = 0

    @property
    def claim(self) -> str:
        return self.claims[self.folder - 1] if self.folder else ""

    def with_claim(self, folder: int, content: str) -> "State":
        return self._replace(claims=(*self.claims[: folder - 1], content, *self.claims[folder:]))

    def with_runner(self, runner: Runner, at: str | None) -> "State":
        """The same with `runner` moved on, or gone if `at` is None."""
        place = self.runners.index(runner)
        moved = (runner._replace(at=at),) if at else ()
        return self._replace(runners=self.runners[:place] + moved + self.runners[place + 1 :])


Step = tuple[str, State]


def progress(state: State, rules: Rules) -> list[Step]:
    steps = list(service_steps(state, rules))
    for runner in state.runners:
        steps += runner_steps(state, runner, rules)
    return [(name, in_sight(after)) for name, after in steps]


def in_sight(state: State) -> State:
    """The same without what nothing can come of: the numbers of runners that are gone, directories that none has open.

    It leaves an eighth of the states; from those that become one, the same can follow.
    """
    state = state._replace(runners=tuple(runner for runner in state.runners if is_there(runner, state)))
    ids = {runner.id: place for place, runner in enumerate(state.runners, 1)}
    kept = sorted({state.folder, *(runner.folder for runner in state.runners)} - {0})
    folders = {0: 0} | {folder: place for place, folder in enumerate(kept, 1)}
    return state._replace(
        folder=folders[state.folder],
        claims=tuple(state.claims[folder - 1] for folder in kept),
        watched=ids.get(state.watched, GONE) if state.watched else 0,
        runners=tuple(one._replace(id=ids[one.id], folder=folders[one.folder]) for one in state.runners),
    )


def is_there(runner: Runner, state: State) -> bool:
    """For whoever waits for the end of the attempt, one that has let go of it is as good as gone."""
    return runner.at != "elsewhere" or (state.adopted and state.watched == runner.id)


# --- The runner ---


def runner_steps(state: State, runner: Runner, rules: Rules) -> Iterator[Step]:
    name = f"runner {runner.id} "
    if step := next(claiming(state, runner, rules), None) or next(running(state, runner), None):
        yield name + step[0], step[1]
    elif runner.at != "elsewhere":
        yield name + "exits", state.with_runner(runner, None)
        if not runner.retired:
            yield name + "takes another attempt", state.with_runner(runner, "elsewhere")


def claiming(state: State, runner: Runner, rules: Rules) -> Iterator[Step]:
    if runner.at == "asked":
        yield "forked", state.with_runner(runner, "forked")
    elif runner.at == "forked" and state.spec:
        opened = state.with_runner(runner, "opened")
        yield (
            "opens",
            opened._replace(
                runners=tuple(r._replace(folder=state.folder) if r.id == runner.id else r for r in opened.runners)
            ),
        )
    elif runner.at == "opened" and runner.folder == state.folder and not state.claim:
        yield "creates claim", state.with_claim(runner.folder, "empty").with_runner(runner, "created")
    elif runner.at == "created" and not service_has_lock(state, runner.folder):
        yield "locks", state.with_runner(runner, "locked")
    elif runner.at == "locked" and (state.claims[runner.folder - 1] == "empty" or not rules.read_under_lock):
        yield "writes claim", state.with_claim(runner.folder, "runner").with_runner(runner, "written")
    elif runner.at == "written":
        synced = state.synced or (rules.sync_claim and runner.folder == state.folder)
        yield "syncs claim", state._replace(synced=synced).with_runner(runner, "claimed")


def running(state: State, runner: Runner) -> Iterator[Step]:
    if runner.at == "claimed":
        started = state._replace(
            starts=state.starts + 1, started_after_end=state.started_after_end or state.row != "starting"
        )
        yield "starts job", started.with_runner(runner, "running")
    elif runner.at == "running":
        yield "sees end of job", state.with_runner(runner, "ended")
    elif runner.at == "ended":
        written = state._replace(result=state.result or runner.folder == state.folder)
        yield "writes result", written.with_runner(runner, "reported")


def service_has_lock(state: State, folder: int) -> bool:
    return folder == state.folder and state.service in {"has lock", "result?", "sweep", "fence"}


# --- The service ---


def service_steps(state: State, rules: Rules) -> Iterator[Step]:
    step = SERVICE.get(state.service)
    if step:
        yield from (("service " + name, after) for name, after in step(state, rules))


def restart(state: State, _: Rules) -> Iterator[Step]:
    if state.row == "none":
        yield "starts", state._replace(service="new")
    elif state.row == "starting":
        yield "starts", state._replace(service="settle", held=True)
    else:
        yield "starts", state._replace(service="idle")


def commit_row(state: State, rules: Rules) -> Iterator[Step]:
    if rules.commit_before_start or state.asked:
        after = "watch" if state.asked else "make"
        yield "commits start", state._replace(row="starting", held=True, service=after)
    else:
        yield "skips commit", state._replace(held=True, service="make")


def make_directory(state: State, _: Rules) -> Iterator[Step]:
    yield "makes directory", state._replace(folder=len(state.claims) + 1, claims=(*state.claims, ""), service="spec")


def write_spec(state: State, _: Rules) -> Iterator[Step]:
    yield "writes spec", state._replace(spec=True, service="ask")


def ask(state: State, _: Rules) -> Iterator[Step]:
    runner = Runner(len(state.runners) + 1, "asked")
    after = "watch" if state.row == "starting" else "new"
    asked = state._replace(runners=(*state.runners, runner), asked=True, watched=runner.id, adopted=False)
    yield "asks", asked._replace(service=after)


def watch(state: State, _: Rules) -> Iterator[Step]:
    if all(runner.id != state.watched for runner in state.runners):
        yield "sees runner gone", state._replace(service="settle")


def settle(state: State, rules: Rules) -> Iterator[Step]:
    if not state.spec:
        yield "finds no spec", wipe(state)
    elif not rules.fence and state.claim in {"", "empty"}:
        yield "finds no claim", wipe(state)
    elif not rules.lock_before_result and not state.result:
        yield "finds no result", state._replace(service="lock unread")
    else:
        opened = state if state.claim else state.with_claim(state.folder, "empty")
        yield "opens claim", opened._replace(service="lock")


def lock(state: State, _: Rules) -> Iterator[Step]:
    holder = [r for r in state.runners if r.at in HAVING_LOCK and r.folder == state.folder]
    if holder:
        yield "finds it locked", state._replace(watched=holder[0].id, adopted=True, service="tell")
    else:
        yield "locks", state._replace(service="has lock" if state.service == "lock" else "sweep")


def tell(state: State, rules: Rules) -> Iterator[Step]:
    told = tuple(one._replace(retired=rules.retire) if one.id == state.watched else one for one in state.runners)
    yield "tells it to retire", state._replace(runners=told, service="adopt")


def adopt(state: State, rules: Rules) -> Iterator[Step]:
    has_it = any(r.id == state.watched and r.at in HAVING_LOCK for r in state.runners)
    if has_it or not rules.ask_again:
        yield "adopts", state._replace(service="watch")
    else:
        yield "sees that it is through", state._replace(service="settle", watched=GONE, adopted=False)


def read_claim(state: State, _: Rules) -> Iterator[Step]:
    yield f"reads {state.claim}", state._replace(service="result?" if state.claim == "runner" else "fence")


def fence(state: State, _: Rules) -> Iterator[Step]:
    if state.claim == "empty":
        yield "fences", state.with_claim(state.folder, "recovery")
    else:
        yield "wipes", wipe(state)


def wipe(state: State) -> State:
    return state._replace(folder=0, spec=False, synced=False, result=False, service="make")


def look_for_result(state: State, _: Rules) -> Iterator[Step]:
    yield "looks for result", state._replace(service="record own" if state.result else "sweep")


def sweep(state: State, rules: Rules) -> Iterator[Step]:
    if state.leftovers and rules.sweep:
        yield "kills leftovers", state._replace(leftovers=False)
    else:
        yield "sees nothing left", state._replace(service="record lost")


def record(state: State, rules: Rules) -> Iterator[Step]:
    if not rules.release_after_commit and state.held:
        yield "releases", state._replace(held=False)
    elif state.row == "starting":
        outcome = state.service.removeprefix("record ")
        yield (
            "commits outcome",
            state._replace(row="ended", outcome=outcome, recorded=state.recorded + 1, service="release"),
        )


def release(state: State, _: Rules) -> Iterator[Step]:
    yield "releases", state._replace(held=False, service="idle")


SERVICE = {
    "down": restart, "new": commit_row, "make": make_directory, "spec": write_spec, "ask": ask, "watch": watch,
    "settle": settle, "lock": lock, "lock unread": lock, "tell": tell, "adopt": adopt, "has lock": read_claim,
    "fence": fence, "result?": look_for_result, "sweep": sweep, "record own": record, "record lost": record,
    "release": release,
}  # fmt: skip


# --- Crashes ---


def crashes(state: State) -> list[Step]:
    crashed = state._replace(crashes=state.crashes + 1)
    return [(name, in_sight(after)) for name, after in kinds_of_crash(crashed)]


def kinds_of_crash(state: State) -> Iterator[Step]:
    if state.service != "down":
        yield "service is killed", service_gone(state)
    for runner in state.runners:
        if runner.at == "asked":
            yield "launcher is killed", state.with_runner(runner, None)
        else:
            left = state.leftovers or runner.at == "running"
            yield f"runner {runner.id} is killed", state._replace(leftovers=left).with_runner(runner, None)
    yield from power_cut(service_gone(state)._replace(runners=(), leftovers=False))


def service_gone(state: State) -> State:
    return state._replace(service="down", held=False, watched=0, adopted=False)


def power_cut(state: State) -> Iterator[Step]:
    """All processes end; what was not synced may be kept or not."""
    yield "power is cut", state
    if state.folder and not state.synced:
        yield "power is cut, claim lost", state.with_claim(state.folder, "")
        yield "power is cut, claim emptied", state.with_claim(state.folder, "empty") if state.claim else state
        yield "power is cut, directory lost", state._replace(folder=0, spec=False, result=False)


# --- What must hold ---


def violations(state: State) -> Iterator[str]:
    if state.starts > 1:
        yield "the job was started twice"
    if state.started_after_end:
        yield "the job was started without a starting attempt"
    if state.recorded > 1:
        yield "two outcomes were recorded"
    if state.outcome == "own" and not state.starts:
        yield "an end was recorded of a job that never started"
    if state.outcome == "lost" and (state.result or state.leftovers):
        yield "lost was recorded of an attempt with a result or with processes"
    if state.row == "starting" and not state.held and state.service != "down":
        yield "cores were given back before the outcome was durable"
    if state.service == "idle" and (state.held or state.row != "ended"):
        yield "the service rests with cores taken or without an outcome"


class Walk(NamedTuple):
    states: int
    broken: dict[str, list[str]]  # violation -> names of the steps that lead to it
    stuck: list[State]  # nothing more can happen, yet no outcome is recorded
    circles: bool  # some way without crashes never ends


def explore(rules: Rules = ALL_RULES, max_crashes: int = 3) -> Walk:
    """Every state that can be reached with at most `max_crashes` crashes."""
    start = State()
    came_from: dict[State, tuple[State, str] | None] = {start: None}
    queue = [start]
    following: dict[State, set[State]] = {}  # without crashes
    broken: dict[str, list[str]] = {}
    stuck = []
    for state in queue:
        found = list(violations(state))
        for violation in found:
            broken.setdefault(violation, way_to(state, came_from))
        if found:
            continue
        steps = progress(state, rules)
        following[state] = {after for _, after in steps}
        if not steps and state.service != "idle":
            stuck.append(state)
        for name, after in steps + (crashes(state) if state.crashes < max_crashes else []):
            if after not in came_from:
                came_from[after] = (state, name)
                queue.append(after)
    return Walk(len(came_from), broken, stuck, has_circle(following))


def way_to(state: State, came_from: dict[State, tuple[State, str] | None]) -> list[str]:
    names = []
    while (step := came_from[state]) is not None:
        state, name = step
        names.append(name)
    return names[::-1]


def has_circle(following: dict[State, set[State]]) -> bool:
    """Whether progress alone can come back to a state: take away states whose successors are all taken away."""
    before: dict[State, list[State]] = {}
    for state, successors in following.items():
        for successor in successors:
            before.setdefault(successor, []).append(state)
    left = {state: len(successors) for state, successors in following.items()}
    ends = [state for state, count in left.items() if count == 0] + [s for s in before if s not in left]
    for state in ends:
        for previous in before.get(state, ()):
            left[previous] -= 1
            if left[previous] == 0:
                ends.append(previous)
    return any(left.values())
