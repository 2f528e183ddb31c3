"""What a job and its script say that they need."""

import pytest

from jobs.packages import InvalidRequirements, ScriptBlock, needed, read_requirement, script_block

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


def test_a_byte_order_mark_does_not_hide_the_block():
    """Its packages were missing, and nothing said why."""
    assert script_block('\ufeff# /// script\n# dependencies = ["tiny"]\n# ///\n').requirements == ("tiny",)


def test_spellings_of_one_name_share_an_environment():
    assert needed("", ["Ruamel_Yaml[Jinja2]>=0.18"]) == needed("", ["ruamel.yaml[Jinja2]>=0.18"])
    assert needed("", ["tiny==1.0", "Tiny==1.0"]).requirements == ("tiny==1.0",)


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


@pytest.mark.parametrize(
    "line",
    [
        "requests[socks]>=2,<3", "numpy; python_version < '3.13'", "tiny===1.0", "Tiny_Name==1.*", "a.b-c!=2",
        "zipp>=3", "tarball", "pandas[all]~=2.2 ; sys_platform == 'linux'",
    ],
)  # fmt: skip
def test_packages_as_pip_has_them_are_taken(line):
    assert read_requirement(line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-e .", "is an option of pip"),
        ("--index-url=mirror", "is an option of pip"),
        ("-r more.txt", "is an option of pip"),
        ("tiny==1.0 --hash=sha256:00", "has an option of pip"),
        ("tiny --no-deps", "has an option of pip"),
        ("./tiny", "is a path"),
        ("~/tiny", "is a path"),
        ("dist/tiny", "is a path"),
        ("tiny-1.0-py3-none-any.whl", "is a path"),
        ("tiny-1.0.tar.gz", "is a path"),
        ("tiny.zip[extra]", "is a path"),
        ("file:///tiny", "is a path"),
        ("git+ssh://host/tiny", "is an address"),
        ("tiny @ git+ssh://host/tiny", "is fetched from an address"),
        ("tiny @ ./tiny", "is fetched from an address"),
        ("tiny requests", "is not a package as pip has it"),
        ("tiny==", "is not a package as pip has it"),
    ],
)
def test_all_else_is_refused_with_a_sentence(line, said):
    """An archive's name was taken for a package's, and uv installed the file of that name."""
    with pytest.raises(InvalidRequirements, match=said):
        read_requirement(line)


def test_both_the_fields_and_the_block_count():
    found = needed("3.12", ["rich", "pandas"], ScriptBlock(">=3.11", ("rich", "requests")))
    assert (found.python, found.requirements) == ("==3.12.*,>=3.11", ("pandas", "requests", "rich"))


def test_an_exact_version_is_that_one():
    assert needed("3.12.4", ()).python == "==3.12.4"
