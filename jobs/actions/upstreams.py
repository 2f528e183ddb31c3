"""Reads which jobs a job waits for, and refuses what can be no workflow."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.actions.answers import InvalidInput, Problem
from jobs.actions.reading import Reader, fault_of, shown
from jobs.core.graph import Graph, find_cycle
from jobs.core.invalid import InvalidSchedule
from jobs.core.policies import UpstreamRule
from jobs.core.weektimes import parse_clock
from jobs.models import Job, Schedule
from jobs.store import read, workflows
from jobs.store.schedules import spec_of as schedule_spec_of
from jobs.store.specs import JobSpec, ScheduleSpec

UPSTREAM_FIELDS = ("depends_on", "upstream_rule", "not_before")
UPSTREAM_RULES = tuple(rule.value for rule in UpstreamRule)
MOST_UPSTREAMS = 200
EXPECTED = f"a list of at most {MOST_UPSTREAMS} jobs, each by its name or its id"


def read_upstreams(reader: Reader) -> tuple[int, ...]:
    """Ids, smallest first. A number is an id; a text is a name, or an id where no job is called so."""
    given = reader.raw.get("depends_on")
    if given in (None, ""):
        return ()
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > MOST_UPSTREAMS:
        reader.expected("depends_on", EXPECTED)
        return ()
    if not all(_may_name(one) for one in given):
        reader.expected("depends_on", EXPECTED)
        return ()
    found = _known(given)
    unknown = [one for one in given if _key(one) not in found]
    for one in unknown:
        reader.refuse("depends_on", "jobs that exist", f"There is no job {shown(one)} to wait for; make it first.")
    return tuple(sorted({found[_key(one)] for one in given if _key(one) in found}))


def read_not_before(reader: Reader) -> str:
    """A time of day as it was given, such as 08:30."""
    text = reader.text("not_before", longest=8)
    try:
        if text:
            parse_clock(text)
    except InvalidSchedule:
        reader.expected("not_before", "a time of day, HH:MM or HH:MM:SS, in the zone of the schedule")
    return text


def check_workflow(job_id: int | None, spec: JobSpec, before: JobSpec | None) -> None:
    """Raises InvalidInput where the job as `spec` has it would make a workflow that cannot be.

    Whoever saves has the lock of `jobs.store.workflows`, so that what is found is still so when it is stored.
    """
    if not spec.upstreams and before is None:
        return
    me = job_id or 0  # of a new job, which nobody waits for yet
    if me in spec.upstreams:
        raise _refusal(spec, f"{spec.name} cannot wait for itself; take it out of the list.")
    graph = read.workflows()
    graph.put(me, spec.upstreams)
    _check_circle(me, spec, graph)
    if spec.upstreams and spec.schedule is not None:
        raise _refusal(spec, _has_no_schedule(me, graph), "schedule_type")
    _check_roots(me, spec, before, graph)


def clash_without(job_id: int) -> str:
    """Why the workflow could not go on without this job, as a sentence; empty where it can."""
    graph = read.workflows()
    below = graph.dependents(job_id)
    for dependent in below:
        graph.put(dependent, [up for up in graph.upstreams(dependent) if up != job_id])
    graph.drop(job_id)
    for dependent in below:
        clash = _clash(workflows.roots(graph, dependent), {})
        if clash:
            return clash
    return ""


def _may_name(one: object) -> bool:
    if isinstance(one, str):
        return 0 < len(one) <= 200 and not fault_of(one)
    return isinstance(one, int) and not isinstance(one, bool) and 0 < one < 2**63


def _key(one: object) -> object:
    return one.strip() if isinstance(one, str) else one


def _known(given: Sequence[object]) -> dict[object, int]:
    """By what was given, the ids of the jobs that there are."""
    names = {one.strip() for one in given if isinstance(one, str)}
    numbers = {one for one in given if isinstance(one, int)}
    digits = {int(name): name for name in names if name.isascii() and name.isdecimal() and len(name) < 19}
    there = Job.objects.filter(delete_requested_at=None)
    by_id = dict.fromkeys(there.filter(pk__in=numbers | digits.keys()).values_list("pk", flat=True))
    found: dict[object, int] = {number: number for number in numbers if number in by_id}
    found |= {digits[number]: number for number in digits if number in by_id}
    return found | dict(there.filter(name__in=names).values_list("name", "pk"))


def _check_circle(me: int, spec: JobSpec, graph: Graph) -> None:
    members = graph.component(me)
    circle = find_cycle({member: graph.upstreams(member) for member in members}, me)
    if circle:
        names = workflows.names_of(circle) | {me: spec.name}
        way = " -> ".join(names[job_id] for job_id in reversed(circle))
        raise _refusal(spec, f"These jobs would wait for each other in a circle: {way}; take one of them out.")


def _has_no_schedule(me: int, graph: Graph) -> str:
    names = workflows.names_of(workflows.roots(graph, me))
    roots = _listed([names[root] for root in sorted(names)])
    return f"A job that waits for others has no schedule of its own, it runs with {roots}; leave one of both out."


def _check_roots(me: int, spec: JobSpec, before: JobSpec | None, graph: Graph) -> None:
    """An edit of the schedule alone goes to all roots; one of the edges must not join what differs."""
    roots = workflows.roots(graph, me)
    if len(roots) < 2:
        return
    if before is not None and before.upstreams == spec.upstreams:
        if not spec.upstreams and (fault := _cannot_be_shared(spec.schedule)):
            raise _refusal(spec, fault, "schedule_type")
        return
    if clash := _clash(roots, {me: (spec.name, spec.schedule)} if me in roots else {}):
        raise _refusal(spec, clash)


def _clash(roots: Sequence[int], instead: dict[int, tuple[str, ScheduleSpec | None]]) -> str:
    """Which of these roots fire apart, as a sentence. `instead`: name and schedule of one that is being saved."""
    rows, names = workflows.schedules_of(roots), workflows.names_of(roots)
    specs = {root: schedule_spec_of(rows.get(root)) for root in roots}
    for root, (name, wanted) in instead.items():
        specs[root], names[root] = wanted, name
    first, *others = roots
    if clash := _paused_apart(roots):
        return clash
    for root in others:
        if specs[root] != specs[first]:
            says = f"{names[first]} runs {_when(specs[first])}, {names[root]} {_when(specs[root])}"
            return f"All jobs that begin one workflow share one schedule, but {says}; give them the same first."
    if others and (fault := _cannot_be_shared(specs[first])):
        return fault
    anchors = {rows[root].anchor_at for root in roots if root in rows and root not in instead}
    if _is_counted_from_its_making(specs[first]) and len(anchors) > 1:
        both = _listed([names[root] for root in roots])
        return f"{both} run as often, but not at the same moments; give them the same start_date first."
    return ""


def _paused_apart(roots: Sequence[int]) -> str:
    rows = Job.objects.filter(pk__in=roots).order_by("name").values_list("name", "paused_at")
    paused = [name for name, at in rows if at]
    active = [name for name, at in rows if not at]
    if not paused or not active:
        return ""
    return f"{paused[0]} is paused and {active[0]} is not, but they would begin one workflow; pause or resume both."


def _cannot_be_shared(spec: ScheduleSpec | None) -> str:
    """Why several roots cannot have this schedule in common."""
    if spec is None:
        return ""
    if spec.type == Schedule.Type.FIXED_DELAY:
        return "fixed_delay counts from the end of one job, so a workflow that begins with several cannot have it."
    if spec.type == Schedule.Type.CRON and any(part.startswith("h") for part in spec.expression.lower().split()):
        return "H means other moments for each job, so a workflow that begins with several needs numbers instead."
    return ""


def _is_counted_from_its_making(spec: ScheduleSpec | None) -> bool:
    return spec is not None and spec.type == Schedule.Type.INTERVAL and spec.start_at is None


def _when(spec: ScheduleSpec | None) -> str:
    """As it was written; what differs beyond that is in the options."""
    if spec is None:
        return "by hand only"
    start = f" from {spec.start_at.isoformat()}" if spec.start_at else ""
    return f"{spec.type} {spec.expression} ({spec.zone}){start}".replace("  ", " ")


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _refusal(spec: JobSpec, sentence: str, field: str = "depends_on") -> InvalidInput:
    given = list(spec.upstreams) if field == "depends_on" else spec.schedule.type if spec.schedule else None
    return InvalidInput([Problem(field, shown(given), "jobs that make a workflow", sentence)])
