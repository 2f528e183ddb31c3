import uuid

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import feed
from jobs.models import Event, FeedEpoch
from jobs.store.events import NewEvent, record

pytestmark = pytest.mark.django_db


def happen(*kinds):
    with transaction.atomic():
        record([NewEvent(timezone.now(), kind) for kind in kinds])


def test_empty_feed_begins_at_zero():
    head = feed.head()
    assert head.n == 0
    assert feed.after(head) == feed.Stretch((), head)


def test_events_come_in_order_after_position():
    happen("job.created")
    start = feed.head()
    happen("job.changed", "job.paused")
    stretch = feed.after(start)
    assert [event.kind for event in stretch.events] == ["job.changed", "job.paused"]
    assert stretch.position == feed.head()


def test_limit_stops_and_position_goes_on():
    start = feed.head()
    happen("job.created", "job.changed", "job.paused")
    first = feed.after(start, 2)
    rest = feed.after(first.position, 2)
    assert [event.kind for event in first.events + rest.events] == ["job.created", "job.changed", "job.paused"]


def test_position_of_another_epoch_is_not_whole():
    happen("job.created")
    before = feed.head()
    FeedEpoch.objects.update(epoch=uuid.uuid4())
    stretch = feed.after(before)
    assert not stretch.whole
    assert stretch.position == feed.head()


def test_position_whose_event_was_removed_is_not_whole():
    happen("job.created")
    before = feed.head()
    happen("job.changed")
    Event.objects.filter(pk=before.n).delete()
    assert not feed.after(before).whole


@pytest.mark.django_db(transaction=True)
def test_data_version_rises_with_anothers_commit():
    import threading

    before = feed.data_version()
    from django.db import connection

    def elsewhere():
        happen("job.created")
        connection.close()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert feed.data_version() != before
