"""The service restarted inside an hour that clocks repeat: alive, nothing twice, nothing lost, and it sleeps."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.core.marks import coming
from jobs.store.schedules import trigger_of
from tests.service.clockwork import Clockwork

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)

# Zone, the first instant of the second pass, and a time of day that comes twice.
FOLDS = [
    ("America/New_York", "2026-11-01T06:00", "01:30"),
    ("Europe/Berlin", "2026-10-25T01:00", "02:30"),
    ("Australia/Lord_Howe", "2026-04-04T15:00", "01:45"),
    ("Pacific/Apia", "2012-03-31T14:00", "03:30"),
]
POLICIES = ("default", "first", "second", "both")


@pytest.mark.parametrize("fold", FOLDS, ids=lambda fold: fold[0].rpartition("/")[2])
def test_restart_inside_the_repeated_hour_loses_and_repeats_nothing(fold, settings, tmp_path):
    settings.DATA_DIR, settings.MIN_FREE_DISK_MB = tmp_path, 0
    zone, change, clock = fold
    change = datetime.fromisoformat(change).replace(tzinfo=UTC)
    began, ends = change - 2 * HOUR, change + 2 * HOUR
    clockwork = Clockwork(wall=began)
    jobs = [clockwork.job("daily", clock, zone, fold=policy) for policy in POLICIES]
    jobs += [clockwork.job("cron", "*/20 * * * *", zone, fold=policy) for policy in POLICIES]
    jobs += [clockwork.job("weekly", f"mon-sun {clock}", zone), clockwork.job("interval", "7m", zone)]
    previewed = [[at for at, _ in coming(trigger_of(clockwork.schedule(job)), began, 60).fires] for job in jobs]
    clockwork.start()
    for minutes in (-40, -20, -1, 0, 1, 15, 29, 31, 45, 59, 61):
        clockwork.run_to(change + timedelta(minutes=minutes))
        clockwork.start()
    clockwork.run_to(ends)
    assert [clockwork.dates(job) for job in jobs] == [[at for at in found if at <= ends] for found in previewed]
    moments = {at for found in previewed for at in found if at <= ends}
    assert clockwork.turns <= 3 * len(moments) + 40  # for each: due, begun and ended, ended and nothing to do
