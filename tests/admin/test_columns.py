"""What admin calls things: by words, and by those of the pages."""

import re

import pytest
from django.apps import apps

from jobs.admin.bulk_form import BulkForm
from jobs.admin.job_form import JobForm
from jobs.labels import LABELS
from jobs.models import Job

pytestmark = pytest.mark.django_db


def test_no_column_is_called_by_a_unit_that_is_no_word():
    fields = (field for model in apps.get_app_config("jobs").get_models() for field in model._meta.concrete_fields)
    no_word = re.compile(r"\b(mb|cpu|uuid|id)\b|(?<! in)(?<! after)(?<! over) seconds$")
    assert [str(field) for field in fields if no_word.search(field.verbose_name)] == []


@pytest.mark.parametrize("form", [JobForm, BulkForm])
def test_fields_of_a_job_are_called_as_on_its_page(form):
    fields = form().fields
    called = {name: str(field.label) for name, field in fields.items() if name in LABELS and name != "first_at_once"}
    assert called == {name: LABELS[name] for name in called}
    assert len(called) > 15


def test_lists_are_headed_in_words(admin_client):
    page = admin_client.get("/admin/jobs/apitoken/").content.decode()
    assert "API tokens" in page
    assert "Api token" not in page
    assert Job._meta.get_field("memory_mb").verbose_name == "memory in MB"
