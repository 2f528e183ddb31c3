"""Values of parameters as they are shown, and given back."""

from __future__ import annotations

import pytest

from jobs.execution.masking import MASK
from jobs.parameters.masking import masked, masks_in, unmasked

VALUES = {
    "table": "a", "api_key": "hush", "pin_token": 1234, "place": {"user": "a", "password": "hush", "n": [1]},
    "hosts": ["x://u:pw@h", "y"], "secrets": ["hush"], "empty_password": "", "no_secret": None,
}  # fmt: skip


def test_what_looks_secret_is_masked_wherever_it_lies():
    assert masked(VALUES) == {
        "table": "a", "api_key": MASK, "pin_token": MASK, "place": {"user": "a", "password": MASK, "n": [1]},
        "hosts": [f"x://u:{MASK}@h", "y"], "secrets": MASK, "empty_password": "", "no_secret": None,
    }  # fmt: skip


def test_masked_values_given_back_are_those_that_are_stored():
    assert unmasked(masked(VALUES), VALUES) == VALUES
    changed = masked(VALUES) | {"place": {"user": "b", "password": MASK, "n": [1]}}
    assert unmasked(changed, VALUES)["place"] == {"user": "b", "password": "hush", "n": [1]}


@pytest.mark.parametrize("given", [{"api_key": MASK}, {"place": {"password": MASK}}])
def test_mask_that_stands_for_nothing_is_found(given):
    assert list(masks_in(unmasked(given, {"table": "a"})))
    assert not list(masks_in(VALUES))


@pytest.mark.parametrize(
    ("stored", "given"),
    [
        ([{"user": "a", "password": "hush"}], [{"user": "b", "password": MASK}]),
        ("x://u:hush@host/db", f"x://u:{MASK}@other/db"),
        ("hush", MASK),
    ],
)
def test_mask_in_a_changed_list_or_address_is_no_value(stored, given):
    assert unmasked(masked({"of": stored}), {"of": stored}) == {"of": stored}
    assert list(masks_in(unmasked({"of": given}, {"of": stored}))) == ["of"]
