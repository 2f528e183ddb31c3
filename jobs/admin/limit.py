"""Limits in admin, checked as the API checks them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from jobs import actions
from jobs.actions import ActionError, InvalidInput
from jobs.actions.forms import raw_from_form
from jobs.actions.limits import raw_of
from jobs.admin.job_form import line
from jobs.admin.refused import RefusalsTold
from jobs.models import Limit


class LimitForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """Fields have the API's names and hold text."""

    kind = forms.ChoiceField(choices=Limit.Kind.choices)
    name = line("The tag; the model (process, thread, async); or the name by which jobs take from a rate.")
    maximum = line("Of a tag or model: so many at once.")
    rate_per_second = line("Of a rate: starts a second on average.")
    burst = line("Of a rate: starts at once after a pause; 1 unless given.")

    class Meta:
        model = Limit
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial = raw_of(self.instance)
            for name in ("kind", "name"):
                self.fields[name].disabled = True

    @property
    def raw(self) -> dict[str, Any]:
        return raw_from_form({name: str(value or "") for name, value in self.cleaned_data.items()})

    def clean(self) -> dict[str, Any]:
        if not self.errors:
            try:
                actions.check_limit(self.raw)
            except InvalidInput as refusal:
                for problem in refusal.problems:
                    self.add_error(problem.field if problem.field in self.fields else None, problem.sentence)
        if not self.errors and not self.instance.pk:
            taken = Limit.objects.filter(kind=self.raw["kind"], name=self.raw["name"].strip())
            if taken.exists():
                self.add_error("name", "There is such a limit already; change that one.")
        return self.cleaned_data

    def _post_clean(self) -> None:
        """Nothing is put into the model from here: the actions do."""


@admin.register(Limit)
class LimitAdmin(RefusalsTold, admin.ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    form = LimitForm
    list_display = ("name", "kind", "maximum", "rate_per_second", "burst")
    list_filter = ("kind",)
    search_fields = ("name",)
    fields = ("kind", "name", "maximum", "rate_per_second", "burst")
    actions = ("delete_limits",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django's signature
        """Not Django's way, which the engines would not hear of."""
        return False

    def has_remove_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.delete_limit")

    def save_model(self, request: HttpRequest, obj: Limit, form: LimitForm, change: bool) -> None:
        actor, now = request.user.get_username(), timezone.now()
        if change:
            actions.change_limit(obj.pk, form.raw, actor=actor, now=now)
        else:
            obj.pk = actions.create_limit(form.raw, actor=actor, now=now).limit_id
        obj.refresh_from_db()

    @admin.action(description="Delete", permissions=["remove"])
    def delete_limits(self, request: HttpRequest, limits: QuerySet[Limit]) -> None:
        deleted = 0
        for pk in list(limits.values_list("pk", flat=True)):
            try:
                actions.delete_limit(pk, actor=request.user.get_username(), now=timezone.now())
                deleted += 1
            except ActionError as refusal:
                messages.error(request, refusal.sentence)
        if deleted:
            messages.success(request, f"{deleted} limit{'' if deleted == 1 else 's'} deleted.")
