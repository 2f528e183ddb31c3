"""The fields of parameters: what they show, and what becomes of what is posted from them."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.views.debug import SafeExceptionReporterFilter

from dashboard.parameterforms import posted_values
from dashboard.presentation.parameters import PREFIX, in_words, parameter_fields
from jobs import actions
from jobs.actions import Problem
from jobs.execution.masking import MASK
from jobs.models import Instance, Job
from tests.actions.places import NOW, make_job

SCHEMA = {
    "type": "object",
    "properties": {
        "table": {"type": "string", "title": "Table", "description": "Which one."},
        "note": {"type": "string", "maxLength": 5000},
        "limit": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
        "share": {"type": "number"},
        "dry": {"type": "boolean"},
        "mode": {"enum": ["a", 1, None]},
        "day": {"type": "string", "format": "date"},
        "names": {"type": "array", "items": {"type": "string"}},
        "maybe": {"type": ["integer", "null"]},
        "password": {"type": "string"},
    },
    "required": ["table"],
}


def fields(values=None, **kwargs):
    return {one.name: one for one in parameter_fields(SCHEMA, values or {}, **kwargs)}


def read(texts, filled=None):
    return posted_values(SCHEMA, {PREFIX + name: text for name, text in texts.items()}, filled or {})


def test_each_kind_has_its_field():
    found = fields({"limit": 5, "names": ["x"]})
    assert {name: one.widget for name, one in found.items()} == {
        "table": "input", "note": "area", "limit": "input", "share": "input", "dry": "select", "mode": "select",
        "day": "input", "names": "json", "maybe": "input", "password": "input",
    }  # fmt: skip
    assert [found[name].type for name in ("table", "limit", "day")] == ["text", "number", "date"]
    assert (found["limit"].least, found["limit"].most, found["limit"].step) == (1, 9, 1)
    assert found["share"].step == "any"
    assert found["dry"].choices == (("", "not said"), ("true", "yes"), ("false", "no"))
    assert found["mode"].choices == (("", "not said"), ('"a"', "a"), ("1", "1"), ("null", "none"))
    assert (found["table"].label, found["table"].required, found["limit"].required) == ("Table", True, False)
    assert found["names"].value == '[\n  "x"\n]'


def test_text_with_lines_has_an_area():
    assert fields({"table": "a\nb"})["table"].widget == "area"


def test_posted_texts_become_typed_values():
    assert read({"table": "a\r\nb", "limit": "7", "share": "1e-3", "dry": "false", "mode": "1", "names": '["x"]',
                 "day": "", "maybe": ""}) == {
        "table": "a\nb", "limit": 7, "share": 0.001, "dry": False, "mode": 1, "names": ["x"]
    }  # fmt: skip


def test_what_cannot_be_read_stays_as_typed():
    assert read({"limit": "many", "names": "[1", "share": "1,5"}) == {"limit": "many", "names": "[1", "share": "1,5"}


def test_field_that_was_left_keeps_its_very_value():
    filled = {"table": "a\r\nb\r", "limit": 5, "names": ["x"], "dry": None, "maybe": None, "password": MASK}
    shown = {name: one.value for name, one in fields(filled).items() if name in filled}
    assert read(shown, filled) == filled


def test_emptied_text_is_the_empty_text():
    assert read({"table": "", "day": "", "limit": ""}, {"table": "a", "day": "2026-11-30", "limit": 5}) == {"table": ""}


def test_errors_and_texts_are_kept_at_their_field():
    problem = Problem("parameters.limit", "12", "", "limit is 12.")
    found = fields({"limit": 5}, posted={PREFIX + "limit": "12"}, problems=[problem])
    assert (found["limit"].value, found["limit"].errors) == ("12", ("limit is 12.",))


def test_further_names_are_posted_as_json():
    schema = {"properties": {"a": {}}, "additionalProperties": True}
    assert [one.label for one in parameter_fields(schema, {"b": 1})] == ["a", "Further parameters"]
    assert posted_values(schema, {"parameters-more": '{"b": 2}'}, {}) == {"b": 2}


@pytest.fixture
def load(db):
    return make_job("load", command="true", parameters=SCHEMA, parameter_values={"limit": 3, "password": "hush"})


def test_run_page_shows_fields_and_runs(visitor, load):
    page = visitor.get(reverse("run-with", args=[load.pk]))
    assert b'name="parameter:limit" type="number" value="3" min="1" max="9" step="1"' in page.content
    assert b"hush" not in page.content
    posted = {"parameter:table": "orders", "parameter:limit": "4", "parameter:password": MASK}
    answer = visitor.post(reverse("run-with", args=[load.pk]), posted)
    row = Instance.objects.get()
    assert answer.url == reverse("instance", args=[row.pk])
    assert row.parameter_values == {"table": "orders", "limit": 4, "password": "hush"}


def labels(page):
    found = re.findall(r"<label for=\"p-\d+\">(.*?)</label>", page)
    return {re.sub(r"<[^>]*>", "", label).split()[0]: re.sub(r"<[^>]*>", "", label) for label in found}


def test_required_parameters_are_marked_for_all_readers(visitor, load):
    page = visitor.get(reverse("run-with", args=[load.pk])).content.decode()
    marked = {name for name, label in labels(page).items() if label.endswith("required")}
    assert marked == {"Table"}
    required = re.findall(r'name="parameter:(\w+)"[^>]* aria-required="true"', page)
    assert required == ["table"]
    shown = {one.name: one.required for one in in_words(load)}
    assert {name for name, required in shown.items() if required} == {"table"}
    job = visitor.get(reverse("job", args=[load.pk])).content.decode()
    assert '<code><bdi>table</bdi></code> <span class="required">required</span>' in job
    assert job.count('class="required"') == 1


def test_value_of_the_job_takes_the_mark_away(load):
    load.parameter_values = {"table": "orders"}
    assert not any(one.required for one in in_words(load))


def test_refused_run_keeps_what_was_typed(visitor, load):
    answer = visitor.post(reverse("run-with", args=[load.pk]), {"parameter:limit": "12"})
    assert answer.status_code == 422
    assert b"limit is 12, expected a whole number from 1 to 9." in answer.content
    assert b"table has no value" in answer.content
    assert b'value="12"' in answer.content


def test_value_for_a_parameter_that_was_taken_away_is_refused(visitor, load):
    answer = visitor.post(reverse("run-with", args=[load.pk]), {"parameter:table": "a", "parameter:until": "9"})
    assert answer.status_code == 422
    assert b"There is no parameter &quot;until&quot;" in answer.content
    assert not Instance.objects.exists()


def test_run_again_has_what_the_instance_ran_with(visitor, load):
    run = actions.run_job(load.pk, actor="ada", now=NOW, parameters={"table": "orders", "password": "other"})
    address = f"{reverse('run-with', args=[load.pk])}?again={run.instance_id}"
    page = visitor.get(address)
    assert b'value="orders"' in page.content
    posted = {"again": run.instance_id, "parameter:table": "lines", "parameter:password": MASK, "parameter:limit": "3"}
    visitor.post(address, posted)
    first, second = Instance.objects.order_by("pk")
    assert second.parameter_values == {"table": "lines", "limit": 3, "password": "other"}
    assert (second.logical_at, second.generation) == (first.logical_at, 1)


def test_instance_page_shows_them_masked(visitor, load):
    run = actions.run_job(load.pk, actor="ada", now=NOW, parameters={"table": "orders"})
    content = visitor.get(reverse("instance", args=[run.instance_id])).content
    assert b"orders" in content
    assert MASK.encode() in content
    assert b"hush" not in content


def test_run_now_without_a_needed_value_asks_for_it(visitor, load):
    answer = visitor.post(reverse("run-job", args=[load.pk]))
    assert answer.url == reverse("run-with", args=[load.pk])
    page = visitor.get(reverse("job", args=[load.pk])).content
    assert b"Run with" in page
    assert b"hush" not in page


FORM = {"runs": "command", "command": "true", "name": "load", "when": "by_hand"}


def test_form_declares_them(visitor):
    texts = {"parameters": '{"properties": {"limit": {"type": "integer"}}}', "parameter_values": '{"limit": 3}'}
    assert visitor.post(reverse("new-job"), FORM | texts).status_code == 302
    job = Job.objects.get()
    assert (job.parameters, job.parameter_values) == ({"properties": {"limit": {"type": "integer"}}}, {"limit": 3})


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("parameters", "{", "Parameters is no JSON: Expecting property name enclosed in double quotes in line 1"),
        ("parameters", '{"a": 1, "a": 2}', "Parameters is no JSON: the name &quot;a&quot; is given twice"),
        ("parameters", '{"properties": {"a": {"$ref": "b"}}}', "has &quot;$ref&quot;, which is not taken here"),
        ("parameter_values", '{"a": NaN}', "is no JSON: NaN is no number of JSON"),
        ("parameter_values", "[1]", "expected an object of values by the names of parameters"),
        ("parameter_values", '{"a": 1}', "There is no parameter &quot;a&quot;; the job takes none."),
    ],
)
def test_form_says_at_the_field_what_is_wrong(visitor, field, text, sentence):
    answer = visitor.post(reverse("new-job"), FORM | {field: text})
    assert answer.status_code == 422
    content = answer.content.decode()
    assert sentence in content
    assert f'href="#f-{field}"' in content
    assert 'id="fold-parameters" data-of-script data-parameters open' in content
    assert not Job.objects.exists()


def test_examples_in_the_form_are_whole(visitor):
    content = visitor.get(reverse("new-job")).content.decode()
    assert 'placeholder="{&quot;table&quot;: &quot;orders&quot;}"' in content


def test_form_that_is_to_run_now_asks_for_what_it_lacks(visitor):
    texts = {"parameters": '{"properties": {"table": {"type": "string"}}, "required": ["table"]}', "when": "now"}
    page = visitor.post(reverse("new-job"), FORM | texts, follow=True)
    assert page.redirect_chain[-1][0] == reverse("run-with", args=[Job.objects.get().pk])
    assert "Created load. It has not run yet: give what it lacks." in page.content.decode()
    assert not Instance.objects.exists()


def test_edit_that_leaves_them_changes_nothing(visitor, load):
    page = visitor.get(reverse("edit-job", args=[load.pk]))
    form = page.context["form"]
    texts = {name: field.value.replace("\n", "\r\n") for name, field in form.fields.items()}
    assert "hush" not in page.content.decode()
    posted = texts | {"revision": form.revision, "seen": form.seen, "description": "New."}
    visitor.post(reverse("edit-job", args=[load.pk]), posted)
    load.refresh_from_db()
    assert (load.description, load.parameters, load.parameter_values["password"]) == ("New.", SCHEMA, "hush")


@pytest.mark.parametrize("address", ["/jobs/new/", "/jobs/try/", "/jobs/preview/environment/"])
def test_report_of_an_error_hides_the_values(visitor, address):
    answer = visitor.post(address, {"name": "load", "parameter:password": "hush"})
    assert "hush" not in str(SafeExceptionReporterFilter().get_post_parameters(answer.wsgi_request))
