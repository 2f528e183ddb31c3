"""Instances in admin: looked at, cancelled, retried, deleted."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse

from jobs.admin.bulk_instances import cancel_many, delete_many, retry_many
from jobs.admin.readonly import ReadOnly, ReadOnlyAdmin, moment
from jobs.given import ran_with
from jobs.models import LARGE_OF_JOB, Attempt, Instance, Job
from jobs.parameters.masking import masked
from jobs.parameters.written import written

MOST_WORDS = 12


class AttemptInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]  # no generic at run time
    model = Attempt
    fields = (
        "number", "status", "outcome", "node", "cores", "virtual_cores", "started_at", "ended_at", "exit_code", "error",
    )  # fmt: skip
    ordering = ("number",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Attempt]:
        found: QuerySet[Attempt] = super().get_queryset(request)
        return found.select_related("node")


@admin.register(Instance)
class InstanceAdmin(ReadOnlyAdmin):
    list_display = (
        "id", "job", "status", "cause", moment("started_at", "started"), moment("ended_at", "ended"), "exit_code",
        "attempt_count", "node",
    )  # fmt: skip
    list_display_links = ("id",)
    list_filter = ("status", "cause", "node")
    list_select_related = ("job", "node")
    search_fields = ("=id", "job__name", "error")  # as get_search_results does it
    search_help_text = "An instance's number, or words of its job's name or its error."
    ordering = ("-id",)
    inlines = (AttemptInline,)
    actions = ("cancel", "retry", "delete_ended")
    exclude = ("parameter_values",)  # masked instead
    readonly_fields = ("parameters",)

    @admin.display(description="parameters")
    def parameters(self, instance: Instance) -> str:
        given = ran_with(instance)
        return "-" if given is None else written(masked(given))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Instance]:
        found: QuerySet[Instance] = super().get_queryset(request)
        return found.defer(*LARGE_OF_JOB, "job__description")

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        queryset: QuerySet[Instance],
        search_term: str,
    ) -> tuple[QuerySet[Instance], bool]:
        """Django's way joins each instance with its job to look at the name; the few jobs are found once."""
        for word in search_term.replace("\0", "").split()[:MOST_WORDS]:
            named = Q(job__in=Job.objects.filter(name__icontains=word))
            number = Q(pk=int(word)) if word.isascii() and word.isdecimal() and len(word) < 19 else Q()
            queryset = queryset.filter(named | Q(error__icontains=word) | number)
        return queryset, False

    def has_remove_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.delete_instance")

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.change_instance")

    @admin.action(description="Cancel…", permissions=["operate"])
    def cancel(self, request: HttpRequest, instances: QuerySet[Instance]) -> HttpResponse | None:
        return cancel_many(self, request, instances)

    @admin.action(description="Retry…", permissions=["operate"])
    def retry(self, request: HttpRequest, instances: QuerySet[Instance]) -> HttpResponse | None:
        return retry_many(self, request, instances)

    @admin.action(description="Delete with log…", permissions=["remove"])
    def delete_ended(self, request: HttpRequest, instances: QuerySet[Instance]) -> HttpResponse | None:
        return delete_many(self, request, instances)
