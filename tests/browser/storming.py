"""Pages without an engine, in a process that commits moves of instances as fast as it is told, as an engine would.

python -m tests.browser.storming PORT; each line of its input, a number, is so many moves, 100 a second; it answers
with a line when the last of them is committed.
"""

import itertools
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import timedelta

PER_SECOND = 100
JOBS = 8
MOST_RUNNING, LEAST_WAITING = 6, 8


@dataclass
class Storm:
    """Instances of a few jobs on one node that steps only in name. Each `move` is a transaction with its event."""

    turn: "itertools.count[int]" = field(default_factory=itertools.count)

    def move(self) -> None:
        from jobs.models import Instance

        running = list(Instance.objects.filter(status="running").order_by("pk")[: MOST_RUNNING + 1])
        waiting = list(Instance.objects.filter(status="queued").order_by("order_key")[: LEAST_WAITING + 1])
        number = next(self.turn)
        if len(running) > MOST_RUNNING or (number % 3 == 2 and running):
            end(running[number % len(running)], "failed" if number % 4 == 0 else "success")
        elif len(waiting) > LEAST_WAITING or (number % 3 == 1 and waiting):
            start(waiting[0])
        else:
            submit(number)


def submit(number: int) -> None:
    from django.db import transaction
    from django.db.models import Max

    from jobs.models import Instance, Job
    from tests.dashboard.places import make_waiting, tell

    job = Job.objects.order_by("pk")[number % JOBS]
    place = (Instance.objects.aggregate(last=Max("order_key"))["last"] or 0) + 1
    with transaction.atomic():
        one = make_waiting(job, order_key=place)
        tell("instance.queued", one, "", "queued")


def start(instance) -> None:
    from django.db import transaction
    from django.utils import timezone

    from jobs.models import Attempt, Instance, Node
    from tests.dashboard.places import tell

    node, now = Node.objects.get(), timezone.now()
    held = {"node": node, "cores": [instance.pk % len(node.cores)]}
    with transaction.atomic():
        token = f"token{instance.pk:08}"
        queued = Instance.objects.filter(pk=instance.pk, status="queued")
        assert queued.update(status="running", token=token, started_at=now, attempt_count=1, hold_code="", **held)
        Attempt.objects.create(
            instance=instance, number=1, token=token, status="running", created_at=now, started_at=now, **held
        )
        tell("instance.started", instance, "queued", "running")


def end(instance, status: str) -> None:
    from django.db import transaction

    from tests.dashboard import places

    with transaction.atomic():
        places.end(instance, status, exit_code=int(status == "failed"), error="exit 1" if status == "failed" else "")


def prepare() -> None:
    from django.utils import timezone

    from jobs.models import Node
    from tests.dashboard.places import make_job, make_node

    if Node.objects.exists():
        return
    make_node("atlas", cores=4, heartbeat_at=timezone.now())
    for number in range(JOBS):
        make_job(f"job {number}", tags=["storm"])
    for number in range(LEAST_WAITING):
        submit(number)


def beat() -> None:
    """No engine steps here: without its heartbeat the node would look dead, and the page say so above all else.

    One that a test has set back stays.
    """
    from django.utils import timezone

    from jobs.models import Node

    pause = threading.Event()
    while True:
        now = timezone.now()
        Node.objects.filter(heartbeat_at__gt=now - timedelta(minutes=1)).update(heartbeat_at=now)
        pause.wait(5)


def obey(storm: Storm) -> None:
    pause = threading.Event()
    for line in sys.stdin:
        begun = time.monotonic()
        for number in range(int(line)):
            pause.wait(max(0.0, begun + number / PER_SECOND - time.monotonic()))
            storm.move()
        sys.stdout.write(f"{time.monotonic() - begun:.2f}\n")
        sys.stdout.flush()


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_site.settings")
    django.setup()
    from scheduler_site.web import serve

    prepare()
    threading.Thread(target=beat, daemon=True).start()
    threading.Thread(target=obey, args=(Storm(),), daemon=True).start()
    serve("127.0.0.1", int(sys.argv[1]), on_ready=lambda: None, on_stop=lambda: None)


if __name__ == "__main__":
    main()
