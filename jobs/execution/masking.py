"""Which values of environment variables their readers are not shown. Standard library only.

One rule for the page of an attempt, the API and the form's preview. docs/running.md tells it.
"""

from __future__ import annotations

import re

MASK = "********"
# Rather one too many: what else may be secret nobody can know.
SECRET_WORDS = ("PASS", "SECRET", "TOKEN", "KEY", "CREDENTIAL", "AUTH", "PRIVATE", "COOKIE", "SIGNATURE", "DSN")
SECRET_NAME = re.compile("|".join(SECRET_WORDS), re.IGNORECASE)
SECRET_IN_JSON = re.compile(rf'"[^"]*(?:{"|".join(SECRET_WORDS)})[^"]*"\s*:', re.IGNORECASE)
# As far as the last @, for a password may have one that nobody has escaped.
PASSWORD_IN_ADDRESS = re.compile(r"(://[^\s:/@]*:)\S+@")


def masked(name: str, value: str) -> str:
    """The value as it may be shown: a mask by the look of its name, or of one in it where it is JSON, else with a mask
    for a password in an address.
    """
    if value and (SECRET_NAME.search(name) or SECRET_IN_JSON.search(value)):
        return MASK
    return PASSWORD_IN_ADDRESS.sub(rf"\g<1>{MASK}@", value)
