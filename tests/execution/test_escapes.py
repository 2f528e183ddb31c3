"""Values of secrets as programs print them beside plain: each is asked, not described."""

import html
import os
import shlex
import subprocess
from xml.sax.saxutils import escape, quoteattr

import pytest
from django.utils.html import escape as escape_for_django

from jobs.execution.mask import MASK, Mask

VALUE = """Zq7-tO$p's"c%r&t+v=9/`x <yz>,{!}\\#~é"""
SHELLS = ["declare -p A", "export -p", "printf %q \"$A\"", "echo ${A@Q}", "echo ${A@A}", "set -x; : \"$A\" x",
          "set", "bash -c 'trap'; env", "printf '%q' \"#$A\""]  # fmt: skip


def hidden(text, value=VALUE):
    left = Mask([value]).whole(text.encode())
    return MASK in left and b"Zq7" not in left


@pytest.mark.parametrize("command", SHELLS)
def test_what_bash_says_of_its_variables_is_masked(command):
    env = {"PATH": os.defpath, "LANG": "C.UTF-8", "A": VALUE}
    said = subprocess.run(["/bin/bash", "-c", command], env=env, capture_output=True, text=True, check=True)
    assert hidden(said.stdout + said.stderr)


@pytest.mark.parametrize("command", ["export -p", "set", 'set -x; : "$A"'])
def test_what_sh_says_of_its_variables_is_masked(command):
    said = subprocess.run(["/bin/sh", "-c", command], env={"A": VALUE}, capture_output=True, text=True, check=True)
    assert hidden(said.stdout + said.stderr)


@pytest.mark.parametrize(
    "write", [html.escape, lambda text: html.escape(text, quote=False), escape, quoteattr, escape_for_django,
              shlex.quote, lambda text: escape(text, {'"': "&quot;", "'": "&apos;"})],
)  # fmt: skip
def test_value_in_markup_or_quotes_is_masked(write):
    assert hidden(str(write(VALUE)))


def test_password_of_an_address_is_masked_alone():
    mask = Mask(["postgres://user:Zq7%2Fsecret@host:5432/db"])
    assert mask.text("password=Zq7/secret, raw Zq7%2Fsecret, host host") == "password=********, raw ********, host host"
    assert Mask(["redis://:abc@h/0"]).text("abc") == "abc"
