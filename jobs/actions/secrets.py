"""What people may do to secrets: make them, describe them, replace their values, delete them. Nobody reads a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.views.decorators.debug import sensitive_variables

from jobs.actions.answers import InvalidInput, NotFound, Problem, Refused
from jobs.actions.reading import Reader, fault_of, shown
from jobs.actions.unknown import refuse_unknown
from jobs.models import Job, Secret
from jobs.store import vault
from jobs.store.events import NewEvent, record

SECRET_FIELDS = ("name", "description", "value")
LONGEST_NAME = 100
MOST_BYTES = 65_536
LEAST_CHARACTERS, LEAST_VARIETY = 6, 3  # what is shorter, or of fewer different ones, is in too much that is printed
COMMON = frozenset({
    "administrator", "application", "changeme", "completed", "container", "database", "default", "development",
    "disabled", "enabled", "example", "failed", "finished", "localhost", "message", "password", "postgres",
    "private", "production", "public", "running", "secret", "server", "service", "staging", "started", "success",
    "template", "undefined", "unknown", "username", "warning",
})  # fmt: skip
NOT_REPEATED = "(not repeated, it is secret)"
NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
NAME_RULE = f"1 to {LONGEST_NAME} letters, digits, and any of _.- inside"


@dataclass(frozen=True, slots=True)
class SecretChanged:
    """`changed` names what is different now; a value that was given counts, since nobody is told whether it was so."""

    secret_id: int
    name: str
    changed: tuple[str, ...]


@sensitive_variables()
def create_secret(raw: Mapping[str, Any], *, actor: str, now: datetime) -> SecretChanged:
    """`raw` maps SECRET_FIELDS to texts. Raises InvalidInput with nothing stored."""
    reader = Reader(raw)
    name, value = _read_name(reader), _read_value(reader)
    description = _read_description(reader)
    _check(reader)
    who = {"created_by": actor, "created_at": now, "updated_by": actor, "updated_at": now}
    try:
        with transaction.atomic():
            secret = Secret.objects.create(name=name, description=description, ciphertext=_encrypted(value), **who)
            _record(secret, "created", actor, now)
    except IntegrityError:
        sentence = f"There is a secret named {shown(name)} already; replace its value, or choose another name."
        raise InvalidInput([Problem("name", shown(name), "a name that no other secret has", sentence)]) from None
    return SecretChanged(secret.pk, secret.name, SECRET_FIELDS)


@sensitive_variables()
def change_secret(secret_id: int, patch: Mapping[str, Any], *, actor: str, now: datetime) -> SecretChanged:
    """Replace what `patch` gives of description and value; attempts that start from now on get the new value. Raises
    InvalidInput, NotFound.
    """
    reader = Reader(patch)
    value = _read_value(reader) if reader.has("value") else ""
    description = _read_description(reader)
    _check(reader)
    with transaction.atomic():
        secret = _locked(secret_id)
        if reader.has("name") and patch["name"] != secret.name:
            sentence = "The name of a secret stays as it is; make another secret, and delete this one."
            raise InvalidInput([Problem("name", shown(patch["name"]), shown(secret.name), sentence)])
        wanted: dict[str, Any] = {}
        if "description" in patch and description != secret.description:
            wanted["description"] = description
        if value:
            wanted["ciphertext"] = _encrypted(value)
        changed = tuple("value" if name == "ciphertext" else name for name in wanted)
        if wanted:
            Secret.objects.filter(pk=secret_id).update(**wanted, updated_by=actor, updated_at=now)
            _record(secret, "changed", actor, now, changed)
    return SecretChanged(secret_id, secret.name, changed)


def _encrypted(value: str) -> bytes:
    try:
        return vault.encrypt(value)
    except vault.UnusableKeysError as error:
        problem = Problem("value", NOT_REPEATED, "a key to store it with", str(error))
        raise InvalidInput([problem]) from error


def delete_secret(secret_id: int, *, actor: str, now: datetime) -> SecretChanged:
    """Raises NotFound; Refused while jobs are given it, naming them."""
    with transaction.atomic():
        secret = _locked(secret_id)
        jobs = list(Job.objects.filter(secret_grants__secret=secret).order_by("name").distinct().only("name"))
        if jobs:
            named = ", ".join(job.name for job in jobs[:5]) + (f" and {len(jobs) - 5} others" if jobs[5:] else "")
            raise Refused(f"Jobs are given the secret {secret.name}: {named}. Take it out of them, then delete it.")
        _record(secret, "deleted", actor, now)
        secret.delete()
    return SecretChanged(secret_id, secret.name, SECRET_FIELDS)


def value_from_form(text: str) -> str:
    """Of what a text area sends: line breaks as a file has them; of a single line none at its end, since nobody types
    them there on purpose. Several lines stay as they are, the last break too, which a key in a file needs.
    """
    plain = text.replace("\r\n", "\n")
    line = plain.rstrip("\n")
    return plain if "\n" in line else line


def _read_name(reader: Reader) -> str:
    count = len(reader.problems)
    name = reader.text("name", longest=LONGEST_NAME)
    if len(reader.problems) == count and not NAME.fullmatch(name):
        reader.expected("name", NAME_RULE)
    return name


def _read_description(reader: Reader) -> str:
    return reader.text("description", longest=10_000, lines=True)


@sensitive_variables()
def _read_value(reader: Reader) -> str:
    value = reader.raw.get("value")
    if not isinstance(value, str) or not value:
        _refuse(reader, "text", "A secret needs a value; give one, as text.")
    elif fault := fault_of(value, lines=True):
        _refuse(reader, "text without it", f"The value contains {fault}; give bytes that are no text in base64.")
    elif (size := len(value.encode())) > MOST_BYTES:
        expected = f"at most {MOST_BYTES:,} bytes"
        _refuse(reader, expected, f"The value has {size:,} bytes, expected {expected}; keep the data in a file.")
    elif fault := _fault_in_logs(value.strip()):
        expected = f"at least {LEAST_CHARACTERS} characters that mean nothing else"
        _refuse(
            reader, expected, f"The value {fault}, so it could not be masked in logs; choose a longer one by chance."
        )
    else:
        return value
    return ""


def _fault_in_logs(value: str) -> str:
    """Why masking it would leave nothing readable; "" if it can be masked."""
    if len(value) < LEAST_CHARACTERS:
        return f"has fewer than {LEAST_CHARACTERS} characters"
    if len(set(value)) < LEAST_VARIETY:
        return f"has fewer than {LEAST_VARIETY} different characters"
    return "is a word that logs are full of" if value.lower() in COMMON else ""


def _refuse(reader: Reader, expected: str, sentence: str) -> None:
    reader.problems.append(Problem("value", NOT_REPEATED, expected, sentence))


def _check(reader: Reader) -> None:
    """A value that was given under another name is no more to be repeated than under its own."""
    refuse_unknown(reader, SECRET_FIELDS)
    told = ("name", "description")
    reader.problems = [one if one.field in told else replace(one, given=NOT_REPEATED) for one in reader.problems]
    reader.check()


def _locked(secret_id: int) -> Secret:
    secret = Secret.objects.select_for_update().filter(pk=secret_id).first()
    if secret is None:
        raise NotFound("secret", secret_id)
    return secret


def _record(secret: Secret, what: str, actor: str, now: datetime, changed: tuple[str, ...] = ()) -> None:
    data = {"secret": secret.pk, "name": secret.name, "what": what, **({"changed": list(changed)} if changed else {})}
    record([NewEvent(now, "secret.changed", actor=actor, data=data)])
