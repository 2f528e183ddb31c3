"""Which secrets a job is given, and their values for its start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Prefetch, QuerySet

from jobs.execution.secrets import GivenSecret
from jobs.models import Job, Secret, SecretGrant
from jobs.store import vault
from jobs.store.specs import SecretUse


class Opened(NamedTuple):
    """What a job is given, with the values; or `error`, a sentence that says why they cannot be read."""

    values: tuple[GivenSecret, ...] = ()
    error: str = ""


NONE = Opened()


def with_jobs() -> QuerySet[Secret]:
    """All secrets, without their values, with the jobs that are given them. A grant and its job are one read: between
    two of them both may be deleted.
    """
    grants = SecretGrant.objects.select_related("job").only("secret", "job__name", "variable", "as_file")
    return Secret.objects.defer("ciphertext").prefetch_related(Prefetch("grants", grants))


def prefetch_uses() -> Prefetch[str, QuerySet[SecretGrant], str]:
    """What jobs are given, to be read with them: see `uses_of`."""
    return Prefetch("secret_grants", SecretGrant.objects.select_related("secret").defer("secret__ciphertext"))


def uses_of(job: Job) -> tuple[SecretUse, ...]:
    """By variable."""
    grants = job.secret_grants.all() if _at_hand(job) else job.secret_grants.select_related("secret")
    return tuple(
        SecretUse(grant.variable, grant.secret.name, grant.as_file)
        for grant in sorted(grants, key=lambda grant: grant.variable)
    )


def set_uses(job_id: int, uses: Iterable[SecretUse]) -> bool:
    """Make exactly these what the job is given; whether that changed anything. Raises Secret.DoesNotExist for one that
    was deleted meanwhile.
    """
    wanted = set(uses)
    grants = SecretGrant.objects.filter(job=job_id).select_related("secret")
    before = {SecretUse(grant.variable, grant.secret.name, grant.as_file): grant.pk for grant in grants}
    if wanted == before.keys():
        return False
    # Locked, so that none of them is deleted until this is durable.
    names = {use.name for use in wanted}
    ids = dict(Secret.objects.select_for_update().filter(name__in=names).values_list("name", "pk"))
    if missing := names - ids.keys():
        raise Secret.DoesNotExist(min(missing))
    SecretGrant.objects.filter(pk__in=[pk for use, pk in before.items() if use not in wanted]).delete()
    SecretGrant.objects.bulk_create(
        SecretGrant(job_id=job_id, secret_id=ids[use.name], variable=use.variable, as_file=use.as_file)
        for use in sorted(wanted - before.keys(), key=lambda use: use.variable)
    )
    return True


def given_to(job_ids: Iterable[int]) -> dict[int, Opened]:
    """By job, for those that have any."""
    grants: dict[int, list[SecretGrant]] = {}
    for grant in SecretGrant.objects.filter(job__in=set(job_ids)).select_related("secret").order_by("variable"):
        grants.setdefault(grant.job_id, []).append(grant)
    return {job_id: _opened(found) for job_id, found in grants.items()}


def _opened(grants: list[SecretGrant]) -> Opened:
    try:
        return Opened(
            tuple(
                GivenSecret(grant.variable, vault.decrypt(grant.secret), grant.as_file, grant.secret.name)
                for grant in grants
            )
        )
    except vault.UnreadableSecretError as error:
        return Opened(error=str(error))


def _at_hand(job: Job) -> bool:
    return "secret_grants" in getattr(job, "_prefetched_objects_cache", {})
