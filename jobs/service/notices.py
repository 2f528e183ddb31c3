"""Telling people that an instance failed for good: by e-mail and webhook, from a thread that nothing waits for."""

from __future__ import annotations

import json
import logging
import queue
import threading
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.db import connection

from jobs import models
from jobs.core.decisions import Dismiss, Finish
from jobs.core.states import Status
from jobs.pauses import paused_by_itself, who_paused

log = logging.getLogger(__name__)

FAILED_FOR_GOOD = frozenset({Status.FAILED, Status.TIMEOUT})
WEBHOOK_TIMEOUT_SECONDS = 10
# When a receiver hangs and everything fails at once, the newest of more than this many are dropped, and said so.
MOST_WAITING = 1_000


@dataclass(frozen=True, slots=True)
class Notice:
    """What is told about one instance. `emails` and `webhooks`: where to, each once.

    `paused_by`: in words, where its job paused itself over it.
    """

    instance_id: int
    job: str
    status: str
    error: str
    emails: tuple[str, ...]
    webhooks: tuple[str, ...]
    paused_by: str = ""

    @property
    def subject(self) -> str:
        """One line, whatever the job is called."""
        return " ".join(f"[Rota] {self.job}: {self.status}{', and paused' if self.paused_by else ''}".split())

    @property
    def text(self) -> str:
        text = f"Instance {self.instance_id} of the job {self.job!r} ended as {self.status}.\n\n{self.error}\n"
        if self.paused_by:
            text += f"\nThe job was paused by {self.paused_by}. Nothing of it starts until it is resumed.\n"
        return text

    def as_json(self) -> bytes:
        fields = {"instance_id": self.instance_id, "job": self.job, "status": self.status, "error": self.error}
        return json.dumps({**fields, "paused": bool(self.paused_by), "text": self.text}).encode()


class Notices:
    """One per service. A receiver that is down costs a line in the log, never a run."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[int | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name="notices", daemon=True)

    def open(self) -> None:
        self._thread.start()

    def close(self, seconds: float = 5.0) -> None:
        """Send what waits, for at most so long."""
        with suppress(queue.Full):
            self._waiting.put(None, timeout=seconds)
        self._thread.join(seconds)

    def consider(self, end: Finish | Dismiss) -> None:
        """Called by the engine's thread after the commit."""
        if end.status not in FAILED_FOR_GOOD:
            return
        try:
            self._waiting.put_nowait(end.instance_id)
        except queue.Full:
            log.error("no notice of instance %s: %s others wait to be sent", end.instance_id, MOST_WAITING)

    def _work(self) -> None:
        while (instance_id := self._waiting.get()) is not None:
            try:
                notice = notice_of(instance_id)
                if notice is not None:
                    send(notice)
            except Exception:
                log.exception("no notice of instance %s", instance_id)
            finally:
                connection.close()


def notice_of(instance_id: int) -> Notice | None:
    """None when nobody is to be told, or the instance is gone."""
    instance = models.Instance.objects.select_related("job").filter(pk=instance_id).first()
    if instance is None or instance.status not in FAILED_FOR_GOOD:
        return None
    job = instance.job
    emails = _unique([*settings.NOTIFY_EMAIL, *job.notify_email.replace(",", " ").split()])
    webhooks = _unique([settings.NOTIFY_WEBHOOK, job.notify_webhook])
    if not emails and not webhooks:
        return None
    paused_by = who_paused(job) if paused_by_itself(job) else ""
    return Notice(instance_id, job.name, instance.status, instance.error, emails, webhooks, paused_by)


def send(notice: Notice) -> None:
    """Every receiver is tried, whatever became of the one before."""
    if notice.emails:
        try:
            send_mail(notice.subject, notice.text, settings.DEFAULT_FROM_EMAIL, list(notice.emails))
        except (SMTPException, OSError) as error:
            log.error("no e-mail about instance %s to %s: %s", notice.instance_id, ", ".join(notice.emails), error)
    for url in notice.webhooks:
        try:
            _post(url, notice.as_json())
        except (HTTPException, OSError, ValueError) as error:
            log.error("no webhook about instance %s to %s: %s", notice.instance_id, _without_query(url), error)


def _post(url: str, body: bytes) -> None:
    if not url.startswith(("http://", "https://")):
        raise ValueError("a webhook's address starts with http:// or https://")
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # noqa: S310 - checked above
    with urllib.request.urlopen(request, timeout=WEBHOOK_TIMEOUT_SECONDS):  # noqa: S310 - checked above
        pass


def _without_query(url: str) -> str:
    """Webhook addresses carry their secret at the end; the log is read by more people."""
    return "/".join(url.split("/", 3)[:3])


def _unique(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))
