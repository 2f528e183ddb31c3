"""Functions that may be made jobs, by the API."""

import pytest

pytestmark = pytest.mark.django_db


def test_callables_are_listed_with_what_they_take(api):
    found = {one["name"]: one for one in api.get("callables").json()}
    size = found["jobs.examples.jobs.folder_size"]
    assert (size["execution_model"], size["pooled"]) == ("thread", False)
    assert size["doc"].startswith("How many bytes a folder has")
    assert size["parameters"]["properties"]["largest"]["maximum"] == 100
    assert list(found) == sorted(found)
