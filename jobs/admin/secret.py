"""Secrets in admin: made, described, replaced and deleted as everywhere, their values never shown."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from jobs import actions
from jobs.actions import ActionError
from jobs.actions.secrets import value_from_form
from jobs.admin.job_form import WIDE, line, lines
from jobs.admin.refused import RefusalsTold
from jobs.models import Secret


class UnseenArea(forms.Textarea):
    """Does not show again what was typed."""

    def format_value(self, value: Any) -> str:  # noqa: ARG002 - Django's signature
        return ""


class SecretForm(forms.ModelForm):  # type: ignore[type-arg]  # no generic at run time
    """What is wrong with the texts the actions say."""

    name = line("Letters, digits, and any of _.- inside; it stays.")
    value = forms.CharField(
        required=False,
        strip=False,
        help_text="Never shown again. Empty keeps the one that is stored.",
        widget=UnseenArea(WIDE | {"rows": 5, "autocomplete": "off"}),
    )
    description = lines(2)

    class Meta:
        model = Secret
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial = {"name": self.instance.name, "description": self.instance.description}
            self.fields["name"].disabled = True

    @sensitive_variables()
    def patch(self) -> dict[str, Any]:
        value = value_from_form(self.cleaned_data["value"])
        return {"description": self.cleaned_data["description"], **({"value": value} if value else {})}

    def _post_clean(self) -> None:
        """Nothing is put into the model from here: the actions do."""


@admin.register(Secret)
@method_decorator(sensitive_post_parameters("value"), name="changeform_view")
class SecretAdmin(RefusalsTold, admin.ModelAdmin):  # type: ignore[type-arg]  # no generic at run time
    form = SecretForm
    list_display = ("name", "description", "updated_at", "updated_by")
    search_fields = ("name", "description")
    fields = ("name", "value", "description")
    actions = ("delete_secrets",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Secret]:
        found: QuerySet[Secret] = super().get_queryset(request).defer("ciphertext")
        return found

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 - Django's signature
        """Not Django's way, which has no event."""
        return False

    def has_remove_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.delete_secret")

    def save_model(self, request: HttpRequest, obj: Secret, form: SecretForm, change: bool) -> None:
        who: dict[str, Any] = {"actor": request.user.get_username(), "now": timezone.now()}
        if change:
            actions.change_secret(obj.pk, form.patch(), **who)
        else:
            obj.pk = actions.create_secret({"name": form.cleaned_data["name"], **form.patch()}, **who).secret_id
        obj.refresh_from_db()

    @admin.action(description="Delete", permissions=["remove"])
    def delete_secrets(self, request: HttpRequest, secrets: QuerySet[Secret]) -> None:
        for pk in list(secrets.values_list("pk", flat=True)):
            try:
                done = actions.delete_secret(pk, actor=request.user.get_username(), now=timezone.now())
                messages.success(request, f"Secret {done.name} is deleted.")
            except ActionError as refusal:
                messages.error(request, refusal.sentence)
