"""Words of a search that look like `name:value`, and ask for what the search does not know.

As a plain word such a one finds nothing, and nobody learns why. In quotes it is a plain word: names have colons, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection

# Lower-case letters before a colon and something after it; not the beginning of an address such as http://.
_QUALIFIED = re.compile(r'(?<![^\s])(-?)([a-z]+):(?!//)(?:"[^"]*"|[^\s"]+)')
_QUOTED = re.compile(r'"([^"]*)"|(\S+)')


def unknown_qualifiers(text: str, known: Collection[str], instead: str) -> list[str]:
    """A sentence for each. `known`: the names that the search has; `instead`: what to do, such as "known are tag:"."""
    found = []
    for match in _QUALIFIED.finditer(_without_quoted(text)):
        if match[1] and match[2] in known:
            found.append(f"{match[0]} says nothing: a minus leaves nothing out here; {instead}.")
        elif match[2] not in known:
            found.append(
                f'{match[0]} says nothing here; {instead}. To find it as a word, put it in quotes: "{match[0]}".'
            )
    return found


def words_of(text: str) -> list[str]:
    """Apart at blanks, but for what is in quotes."""
    return [quoted or plain for quoted, plain in _QUOTED.findall(text) if quoted or plain]


def _without_quoted(text: str) -> str:
    """Without words that are in quotes as a whole; a value in quotes stays with its name."""
    return re.sub(r'(?<![^\s])"[^"]*"', "", text)
