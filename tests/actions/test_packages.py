"""What a job and its script say that they need."""

import pytest

from jobs.packages import InvalidRequirements, ScriptBlock, needed, script_block

BLOCK = """#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "requests<3",  # for the web
#   "rich",
# ]
#
# [tool.other]
# key = 1
# ///
import requests
"""


def test_a_block_says_versions_and_packages():
    assert script_block(BLOCK) == ScriptBlock(">=3.11", ("requests<3", "rich"))


def test_line_ends_of_other_systems_do_not_matter():
    assert script_block(BLOCK.replace("\n", "\r\n")) == script_block(BLOCK)


def test_a_script_without_a_block_says_nothing():
    assert script_block("print('# /// script')\n") is None


def test_an_empty_block_needs_nothing():
    assert not needed("", (), script_block("# /// script\n# ///\n"))


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("# /// script\n# dependencies = ['requests']\nimport requests\n", "has no end"),
        ("# /// script\n# ///\n\n# /// script\n# ///\n", "two blocks # /// script, in lines 1 and 4"),
        ("# /// script\n# dependencies = 'requests'\n# ///\n", "not a list of texts"),
        ("# /// script\n# dependencies = ['-e .']\n# ///\n", "is an option of pip"),
        ("# /// script\n# requires-python = 3\n# ///\n", "requires-python"),
        ("# /// script\n# dependencies = [\n# ///\n", "is not TOML"),
        (f"# /// script\n# x = {'9' * 5000}\n# ///\n", "is not TOML"),
    ],
)
def test_a_block_that_cannot_be_read_says_why(block, said):
    with pytest.raises(InvalidRequirements, match=said):
        script_block(block)


def test_both_the_fields_and_the_block_count():
    found = needed("3.12", ["rich", "pandas"], ScriptBlock(">=3.11", ("rich", "requests")))
    assert (found.python, found.requirements) == ("==3.12.*,>=3.11", ("pandas", "requests", "rich"))


def test_an_exact_version_is_that_one():
    assert needed("3.12.4", ()).python == "==3.12.4"
