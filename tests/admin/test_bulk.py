"""A bulk edit shows what it changes, and then does what single edits would."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.actions import create_calendar
from jobs.models import Event, Instance, Job, Node, Schedule
from jobs.store import wake
from tests.actions.places import HOURLY, make_instance, make_job
from tests.admin.test_jobs import LIST, act, change, messages
from tests.dashboard.places import hourly

pytestmark = pytest.mark.django_db
DAILY = {"schedule_type": "cron", "schedule_expression": "30 16 * * *"}


def preview(client, *rows, **wish):
    return act(client, "change_jobs", *rows, step="preview", **wish)


def changes_of(response):
    return [{what: (before, after) for what, before, after in row.changes} for row in response.context["rows"]]


def notes_of(response):
    return [" ".join(row.notes) for row in response.context["rows"]]


def test_everything_is_changed_in_one_go(admin_client):
    Node.objects.create(name="alpha", cores=[0, 1, 2, 3], memory_mb=8000)
    jobs = [make_job(f"job {n}", tags=["old", f"own{n}"], now=timezone.now(), **DAILY) for n in range(2)]
    wish = {
        "priority": "3", "timeout_seconds": "90", "cpu_cores_required": "2", "memory_mb_required": "512",
        "add_tags": "new", "remove_tags": "old", "timezone": "Asia/Tokyo",
    }  # fmt: skip
    page = preview(admin_client, *jobs, **wish)
    shown = changes_of(page)[1]
    assert shown.pop("next run")[1].endswith("16:30:00 JST")
    assert shown == {
        "priority": ("medium", "critical"), "time limit": ("none", "90 s"), "cores": ("1", "2"),
        "memory": ("0 MB", "512 MB"), "tags": ("old, own1", "own1, new"), "time zone": ("UTC", "Asia/Tokyo"),
    }  # fmt: skip
    assert not Event.objects.filter(kind="job.changed").exists()
    assert messages(change(admin_client, *jobs, chosen=page.context["chosen"], **wish)) == ["2 jobs changed."]
    assert list(Job.objects.values_list("priority", "timeout_seconds", "cores", "memory_mb", "tags")) == [
        (3, 90.0, 2, 512, [f"own{n}", "new"]) for n in range(2)
    ]
    assert set(Schedule.objects.values_list("zone", flat=True)) == {"Asia/Tokyo"}


def test_limit_is_removed_by_a_word(admin_client):
    job = make_job(timeout_seconds=5)
    assert changes_of(preview(admin_client, job, timeout_seconds="none")) == [{"time limit": ("5 s", "none")}]
    change(admin_client, job, timeout_seconds="none")
    assert Job.objects.get().timeout_seconds is None


def test_first_page_asks_what_to_change(admin_client):
    page = act(admin_client, "change_jobs", make_job("<b>x</b>"))
    assert "&lt;b&gt;x" in page.content.decode()
    assert page.context["step"] == "form"


@pytest.mark.parametrize(
    ("field", "text"),
    [("cpu_cores_required", "many"), ("memory_mb_required", "-1"), ("timeout_seconds", "0"), ("timezone", "Mars/Base"),
     ("add_tags", "x" * 51), ("state", "sleep")],
)  # fmt: skip
def test_what_fits_no_job_is_said_at_its_field(admin_client, field, text):
    job = make_job()
    page = preview(admin_client, job, **{field: text})
    assert set(page.context["form"].errors) == {field}
    assert field not in str(page.context["form"].errors.as_data()[field][0])
    change(admin_client, job, **{field: text})
    assert Job.objects.get().revision == job.revision


def test_empty_wish_is_asked_again(admin_client):
    page = change(admin_client, make_job())
    assert "Nothing is to change" in page.context["form"].non_field_errors()[0]


def test_page_says_what_cannot_be_changed_and_why(admin_client):
    now = timezone.now()
    full = make_job("full", tags=[f"t{n}" for n in range(50)])
    paused = make_job("paused", now=now, **HOURLY)
    change(admin_client, paused, state="pause")
    page = preview(admin_client, full, paused, state="pause", add_tags="one more", timezone="Asia/Tokyo")
    of_full, of_paused = notes_of(page)
    assert "at most 50" in of_full
    assert "paused already" in of_paused
    assert page.context["affected"] == 1
    assert "no schedule" in notes_of(preview(admin_client, make_job("plain"), timezone="Asia/Tokyo"))[0]


def test_job_being_deleted_cannot_be_changed(admin_client):
    job = make_job()
    Job.objects.update(paused_at=timezone.now(), delete_requested_at=timezone.now())
    page = preview(admin_client, job, state="resume")
    assert changes_of(page) == [{}]
    assert "being deleted" in notes_of(page)[0]
    assert "being deleted" in " ".join(messages(change(admin_client, job, state="resume")))
    assert Job.objects.get().paused


def test_one_refusal_costs_the_others_nothing(admin_client):
    full, other = make_job("full", tags=[f"t{n}" for n in range(50)]), make_job("other")
    told = messages(change(admin_client, full, other, state="pause", add_tags="more"))
    assert told[:2] == ["1 job paused.", "1 job changed."]
    assert "at most 50" in told[2]
    assert not Job.objects.get(name="full").paused


def test_edit_since_the_preview_is_not_overwritten(admin_client):
    job = make_job(tags=["a"])
    shown = preview(admin_client, job, add_tags="b").context["chosen"]
    change(admin_client, job, priority="3")
    told = messages(change(admin_client, job, add_tags="b", chosen=shown))
    assert "changed by somebody else" in told[1]
    assert Job.objects.get().tags == ["a"]


def test_what_was_ticked_is_what_changes(admin_client):
    shown, came_later = make_job("shown"), make_job("later")
    chosen = preview(admin_client, shown, priority="0").context["chosen"]
    change(admin_client, came_later, priority="0", chosen=chosen)
    assert list(Job.objects.order_by("pk").values_list("priority", flat=True)) == [0, 1]


@pytest.mark.parametrize("chosen", ["", "x", "1:1,;drop", f"{'9' * 18}:1", f"{'9' * 40}:1"])
def test_forged_choice_changes_nothing(admin_client, chosen):
    job = make_job()
    change(admin_client, job, priority="0", chosen=chosen.replace("1:1", f"{job.pk}:999"))
    assert Job.objects.get().priority == 1


def test_too_many_at_once_are_refused(admin_client, monkeypatch):
    monkeypatch.setattr("jobs.admin.choosing.MOST_AT_ONCE", 1)
    told = messages(act(admin_client, "pause", make_job("a"), make_job("b")))
    assert "More than 1 are chosen" in told[0]


def test_run_now_says_when_it_would_wait(admin_client):
    job = make_job(now=timezone.now(), **HOURLY)
    assert changes_of(act(admin_client, "run_now", job)) == [{"run now": ("", "one")}]
    page = preview(admin_client, job, run_now="on", state="pause")
    assert "waits while the job is paused" in changes_of(page)[0]["run now"][1]
    assert not Instance.objects.exists()


def test_double_click_runs_once(admin_client):
    job = make_job()
    mark = act(admin_client, "run_now", job).context["mark"]
    change(admin_client, job, run_now="on", mark=mark)
    told = messages(change(admin_client, job, run_now="on", mark=mark))
    assert "sent twice" in told[0]
    assert Instance.objects.count() == 1


def test_cancel_is_shown_before_it_is_done(admin_client):
    job = make_job()
    rows = [make_instance(job, status) for status in ("queued", "running", "success")]
    page = act(admin_client, "cancel", *rows)
    assert [bool(row.changes) for row in page.context["rows"]] == [False, True, True]
    assert "ended already" in notes_of(page)[0]
    assert Instance.objects.filter(status="queued").exists()


def test_retry_is_shown_before_it_is_done(admin_client):
    job = make_job()
    rows = [make_instance(job, status) for status in ("failed", "running", "failed")]
    make_instance(job, "queued", retry_of=rows[2])
    page = act(admin_client, "retry", *rows)
    assert [bool(row.changes) for row in page.context["rows"]] == [False, False, True]
    assert "is its retry" in notes_of(page)[0]


def test_preview_costs_a_fixed_number_of_queries(admin_client, django_assert_max_num_queries):
    jobs = [make_job(f"job {n}", now=timezone.now(), **HOURLY) for n in range(30)]
    with django_assert_max_num_queries(14):
        preview(admin_client, *jobs, state="pause", priority="3")


# --- Field cases ---


def test_enabling_runs_nothing_and_takes_the_coming_hour(admin_client):
    """bug-028."""
    job = make_job(now=timezone.now() - timedelta(hours=2), **HOURLY)
    change(admin_client, job, state="pause")
    Schedule.objects.update(watched_from=timezone.now() - timedelta(hours=1, minutes=20))
    before = timezone.now()
    change(admin_client, job, state="resume")
    schedule, after = Schedule.objects.get(), timezone.now()
    assert not Instance.objects.exists()
    assert before < schedule.next_at <= after + timedelta(hours=1)
    assert schedule.next_at.minute == 0
    assert before <= schedule.watched_from <= after


def test_schedule_moved_in_admin_runs_at_its_new_hour_only(admin_client):
    """bug-029."""
    from tests.admin.test_jobs import save

    job = make_job(now=timezone.now(), schedule_type="cron", schedule_expression="30 13 * * *")
    yesterday = timezone.now() - timedelta(days=1)
    Schedule.objects.update(last_logical_at=yesterday, watched_from=yesterday)
    save(admin_client, f"{LIST}{job.pk}/change/", schedule_expression="0 16 * * *")
    schedule = Schedule.objects.get()
    assert not Instance.objects.exists()
    assert (schedule.next_at.hour, schedule.next_at.minute) == (16, 0)
    assert timezone.now() < schedule.next_at <= timezone.now() + timedelta(days=1)


def test_bulk_leaves_what_single_edits_leave(admin_client, django_capture_on_commit_callbacks):
    """bug-030: the same rows, the same events for the live pages, and the engine is woken."""
    from jobs import actions

    def left_by(jobs):
        ids = [job.pk for job in jobs]
        events = Event.objects.filter(job_id__in=ids).exclude(kind="job.created").order_by("pk")
        return (
            list(Job.objects.filter(pk__in=ids).values_list("paused_at", "priority", "revision")),
            list(Schedule.objects.filter(job__in=ids).values_list("next_at", "fault")),
            sorted(events.values_list("kind", "data__changed")),
        )

    now = timezone.now()
    one_by_one, at_once = ([make_job(f"{kind}{n}", now=now, **hourly(now)) for n in range(2)] for kind in "ab")
    for job in one_by_one:
        actions.pause_job(job.pk, actor="admin", now=timezone.now())
        actions.change_job(job.pk, {"priority": 3}, actor="admin", now=timezone.now())
        actions.resume_job(job.pk, actor="admin", now=timezone.now())
    woken = []
    stop = wake.listen(lambda: woken.append(1), hosts_engine=True)
    with django_capture_on_commit_callbacks(execute=True):
        change(admin_client, *at_once, state="pause", priority="3")
        change(admin_client, *at_once, state="resume")
    stop()
    assert left_by(at_once) == left_by(one_by_one)
    assert len(woken) >= 4
    assert not Instance.objects.exists()


def test_same_moment_in_another_zone_is_no_change(admin_client):
    now = timezone.now()
    job = make_job(now=now, **hourly(now))
    assert "next run" not in changes_of(preview(admin_client, job, timezone="Europe/Berlin"))[0]


def test_index_names_sign_ins_for_operators(admin_client):
    page = admin_client.get("/admin/").content.decode()
    assert "Sign-ins and lock-outs" in page
    assert ">Axes<" not in page.replace("\n", "").replace(" ", "")


def test_another_zone_floods_nothing(admin_client):
    """bug-032."""
    job = make_job(now=timezone.now() - timedelta(days=9), **DAILY)
    Schedule.objects.update(last_logical_at=timezone.now() - timedelta(days=1))
    change(admin_client, job, timezone="America/New_York")
    schedule, now = Schedule.objects.get(), timezone.now()
    assert not Instance.objects.exists()
    assert schedule.next_at.hour in (20, 21)  # 16:30 there
    assert now < schedule.next_at <= now + timedelta(days=1, hours=1)
    assert now - schedule.watched_from < timedelta(minutes=1)


def test_bulk_edit_works_on_each_database(each_database, client, django_user_model):
    client.force_login(django_user_model.objects.create_superuser("ada"))
    jobs = [make_job(f"job {n}", now=timezone.now(), **HOURLY) for n in range(2)]
    shown = preview(client, *jobs, state="pause", priority="3", run_now="on").context["chosen"]
    told = messages(change(client, *jobs, chosen=shown, state="pause", priority="3", run_now="on"))
    assert told == ["2 jobs paused.", "2 jobs changed.", "2 instances submitted."]
    assert Job.objects.filter(paused_at__isnull=False, priority=3).count() == Instance.objects.count() == 2


def test_time_options_are_changed_in_one_go(admin_client):
    create_calendar({"name": "ops", "business_days": "mon-fri"}, actor="ada", now=timezone.now())
    job = make_job(now=timezone.now(), **DAILY)
    wish = {
        "gap": "skip", "fold": "both", "calendar": "ops", "calendar_action": "move", "catch_up": "all",
        "catch_up_limit": "5", "misfire_grace_seconds": "90", "overlap": "queue", "queue_bound": "4",
        "jitter_seconds": "30", "start_deadline_seconds": "600",
    }  # fmt: skip
    page = preview(admin_client, job, **wish)
    shown = changes_of(page)[0]
    shown.pop("next run", None)
    assert shown == {
        "in a skipped hour": ("as usual", "skip it"), "in a repeated hour": ("as usual", "both times"),
        "calendar": ("none", "ops"), "when it is closed": ("skip it", "move it to the end"),
        "after downtime": ("run the latest, once", "run the latest few"), "latest how many": ("3", "5"),
        "missed after": ("60 s", "90 s"), "while one runs": ("skip it", "let it wait behind"),
        "at most wait": ("10", "4"), "spread over": ("0 s", "30 s"), "skip if not started after": ("none", "600 s"),
    }  # fmt: skip
    assert messages(change(admin_client, job, chosen=page.context["chosen"], **wish)) == ["1 job changed."]
    schedule = Schedule.objects.select_related("calendar").get()
    assert (schedule.gap, schedule.fold, schedule.calendar.name, schedule.calendar_action) == (
        "skip", "both", "ops", "move",
    )  # fmt: skip
    assert (schedule.catch_up, schedule.catch_up_limit, schedule.misfire_grace_seconds) == ("all", 5, 90)
    assert (schedule.overlap, schedule.queue_bound, schedule.jitter_seconds) == ("queue", 4, 30)
    change(admin_client, job, calendar="none")
    assert Schedule.objects.get().calendar is None
    assert not Instance.objects.exists()


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("jitter_seconds", "-1"),
        ("queue_bound", "0"),
        ("misfire_grace_seconds", "0"),
        ("calendar", "mars"),
        ("gap", "x"),
    ],
)
def test_time_option_of_no_schedule_is_said_at_its_field(admin_client, field, text):
    assert set(preview(admin_client, make_job(), **{field: text}).context["form"].errors) == {field}


def test_page_says_whose_schedule_takes_no_such_option(admin_client):
    jobs = [make_job("elapsed", schedule_type="interval", schedule_expression="1h"), make_job("plain")]
    page = preview(admin_client, *jobs, gap="skip")
    assert page.context["affected"] == 0
    of_elapsed, of_plain = notes_of(page)
    assert "counts elapsed time" in of_elapsed
    assert "there is none" in of_plain


def test_spread_that_outlasts_the_period_is_refused_for_that_job(admin_client):
    often = make_job("often", schedule_type="interval", schedule_expression="10s", now=timezone.now())
    daily = make_job("daily", now=timezone.now(), **DAILY)
    page = preview(admin_client, often, daily, jitter_seconds="30")
    assert [bool(changes) for changes in changes_of(page)] == [True, False]
    assert "Cannot be changed" in notes_of(page)[1]


def test_what_waits_goes_on_or_is_cancelled_as_asked(admin_client):
    job = make_job()
    make_instance(job), make_instance(job, "running")
    change(admin_client, job, state="pause")
    assert Instance.objects.filter(status="queued").exists()
    page = preview(admin_client, job, state="resume", cancel_waiting="on")
    assert changes_of(page)[0]["what waits"] == ("1", "cancelled")
    assert messages(change(admin_client, job, state="pause", cancel_waiting="on"))[-1] == "1 job rid of what waited."
    assert sorted(Instance.objects.values_list("status", flat=True)) == ["cancelled", "running"]
    assert preview(admin_client, job, run_now="on", cancel_waiting="on").context["form"].errors["run_now"]
