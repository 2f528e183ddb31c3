"""Values of secrets as programs print them beside plain: each is asked, not described."""

import csv
import html
import io
import json
import os
import re
import shlex
import sqlite3
import subprocess
from contextlib import closing
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import pytest
from django.utils.html import escape as escape_for_django
from django.utils.html import json_script

from jobs.execution.mask import MASK, Mask

VALUE = """Zq7-tO$p's"c%r&t+v=9/`x <yz>,{!}\\#~é"""
SHELLS = ["declare -p A", "export -p", "printf %q \"$A\"", "echo ${A@Q}", "echo ${A@A}", "set -x; : \"$A\" x",
          "set", "bash -c 'trap'; env", "printf '%q' \"#$A\""]  # fmt: skip

CONTROLS = "Zq7\x1b[31m'red\x07\x7f\"\ttab\r\nZq7é-żółw"


def in_csv(text):
    written = io.StringIO()
    csv.writer(written).writerow([text])
    return written.getvalue()


def in_small_percents(text):
    return re.sub("%..", lambda one: one[0].lower(), quote(text, safe=""))


def in_sql(text):
    with closing(sqlite3.connect(":memory:")) as database:
        return database.execute("SELECT quote(?)", [text]).fetchone()[0]


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


@pytest.mark.parametrize("value", [VALUE, CONTROLS])
@pytest.mark.parametrize(
    "write",
    [
        ascii,
        in_csv,
        in_sql,
        in_small_percents,
        json_script,
        lambda text: text.encode("ascii", "backslashreplace").decode(),
        lambda text: text.encode("ascii", "xmlcharrefreplace").decode(),
        lambda text: escape(text).encode("ascii", "xmlcharrefreplace").decode(),
        lambda text: json.dumps(json.dumps(text)),
        lambda text: json.dumps(json.dumps(text, ensure_ascii=False), ensure_ascii=False),
        lambda text: json.dumps(text).replace("/", "\\/"),
        lambda text: re.sub(r"\\u....", lambda one: rf"\u{one[0][2:].upper()}", json.dumps(text)),
        lambda text: json.dumps(repr(text), ensure_ascii=False),
        lambda text: repr({"message": repr(text)}),
        lambda text: repr(json.dumps({"key": text})),
    ],
)
def test_value_in_code_is_masked(write, value):
    assert hidden(str(write(value)), value)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("command", ["declare -p A", 'printf %q "$A"', "echo ${A@Q}", 'set -x; : "$A" x', "set"])
def test_what_bash_says_of_odd_letters_is_masked(command, locale):
    env = {"PATH": os.defpath, "LANG": locale, "A": CONTROLS}
    said = subprocess.run(["/bin/bash", "-c", command], env=env, capture_output=True, check=True)
    left = Mask([CONTROLS]).whole(said.stdout + said.stderr)
    assert MASK in left
    assert b"Zq7" not in left


def test_attribute_with_blanks_is_masked():
    assert hidden(quoteattr(CONTROLS), CONTROLS)
