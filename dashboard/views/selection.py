"""What is done to many jobs, selected or all that a search finds: asked once more, then done as its own button does it.

A few are done at once, and the list says what became of them. All that match, and what takes its time, are worked
through in the background.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from dashboard import operations
from dashboard.acts import JOB, Act, Wish, act_of, acts_on
from dashboard.filters import whole_number
from dashboard.jobsearch import LONGEST
from dashboard.once import new_mark, once
from dashboard.presentation.selections import jobs_with_live
from dashboard.views.acting import acted, actor_of, came_from
from jobs import actions
from jobs.api.pages import all_tags
from jobs.models import Job

MOST = 200
MOST_NAMED = 100
MOST_TAGS = 500  # proposed for one input


@dataclass(frozen=True, slots=True)
class Choice:
    """The jobs `ids`; or without them all that `text` finds up to the id `up_to`. `tag`: the one that is meant."""

    act: Act
    ids: list[int] | None
    text: str
    up_to: int
    tag: str

    @property
    def in_background(self) -> bool:
        return self.ids is None or not self.act.is_whole


@require_POST
@login_required
def act_on_jobs(request: HttpRequest) -> HttpResponse:
    """The jobs `job` of a list, or with `all` those that `q` finds, and what to `do`. Without `sure` it asks."""
    choice = _choice(request)
    if choice is None:
        words = ", ".join(act.key for act in acts_on(JOB))
        return HttpResponseBadRequest(f"Choose {words}, and at most {MOST} jobs.", content_type="text/plain")
    if choice.ids == []:
        messages.warning(request, f"No job was selected; mark the jobs that you want to {_wish(choice.act)}.")
        return redirect(came_from(request, reverse("jobs")))
    if not request.POST.get("sure"):
        return _ask(request, choice)
    try:
        actions.check_tag(choice.tag) if choice.act.asks_tag else None
    except actions.InvalidInput as refusal:
        return _ask(request, choice, refusal.problems[0].sentence)
    return once(request, lambda: acted(request, lambda: _act(request, choice)))


def _choice(request: HttpRequest) -> Choice | None:
    given = request.POST
    act = act_of(JOB, given.get("do", ""))
    ids = [whole_number(text) for text in given.getlist("job")]
    fine = sorted({pk for pk in ids if pk is not None})
    up_to = whole_number(given.get("up_to") or "0")
    if act is None or up_to is None or len(ids) > MOST:
        return None
    is_all = bool(given.get("all"))
    text = given.get("q", "").replace("\0", "")[:LONGEST].strip()
    tag = given.get("tag", "").strip()
    return Choice(act, None if is_all else fine, text, up_to or operations.newest_id(JOB), tag)


def _ask(request: HttpRequest, choice: Choice, problem: str = "") -> HttpResponse:
    chosen = operations.jobs_chosen(choice.ids, choice.text, choice.up_to)
    total = chosen.count()
    context: dict[str, Any] = {
        "choice": choice,
        "act": choice.act,
        "title": f"{choice.act.word} {_jobs(total)}?",
        "jobs": chosen.only("name", "paused_at", "delete_requested_at").order_by("name")[:MOST_NAMED],
        "total": total,
        "unnamed": max(0, total - MOST_NAMED),
        "waiting": _waiting_outside(chosen) if choice.act.key == "delete" else "",
        "with_live": jobs_with_live(chosen) if choice.act.key == "delete" else 0,
        "tags": all_tags(MOST_TAGS) if choice.act.asks_tag else (),
        "problem": problem,
        "back": came_from(request, reverse("jobs")),
        "form_mark": new_mark(),
    }
    return render(request, "jobs/confirm.html", context)


def _act(request: HttpRequest, choice: Choice) -> HttpResponse:
    if choice.in_background:
        begun = operations.begin_on_jobs(
            choice.act.key, actor=actor_of(request), now=timezone.now(), ids=choice.ids, text=choice.text,
            up_to=choice.up_to, detail=choice.tag,
        )  # fmt: skip
        operations.start(begun.pk)
        return redirect("operation", begun.pk)
    _do(request, choice, choice.ids or ())
    return redirect(came_from(request, reverse("jobs")))


def _do(request: HttpRequest, choice: Choice, ids: Iterable[int]) -> None:
    done, same, refusals = 0, 0, []
    for job_id in ids:
        try:
            wish = Wish(choice.tag, lambda: choice.ids or ())
            changed = choice.act.one(job_id, actor_of(request), timezone.now(), wish)
        except actions.ActionError as refusal:
            refusals.append(refusal.sentence)
        else:
            done, same = done + changed, same + (not changed)
    rest = f" {_jobs(same)} {'was' if same == 1 else 'were'} {choice.act.nothing}." if same else ""
    (messages.success if done else messages.warning)(request, f"{choice.act.did.capitalize()} {_jobs(done)}.{rest}")
    for sentence in refusals:
        messages.warning(request, sentence)


def _waiting_outside(chosen: QuerySet[Job]) -> str:
    """The names of jobs that wait for one of the chosen and are not chosen."""
    ids = list(chosen.values_list("pk", flat=True))
    return actions.shown_names(actions.waiting_outside(ids, lambda: ids))


def _wish(act: Act) -> str:
    return act.word[0].lower() + act.word[1:]


def _jobs(count: int) -> str:
    return f"{count:,} job{'' if count == 1 else 's'}" if count else "no jobs"


def list_of(text: str) -> str:
    """The address of the list of jobs with this search."""
    return reverse("jobs") + (f"?{urlencode({'q': text})}" if text else "")
