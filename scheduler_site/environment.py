"""The only reader of environment variables: a typed value, or one sentence that says what to change."""

import base64
import math
import os
import re
import secrets
import shutil
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_database_url

from jobs.keyfiles import kept_in

TRUE_WORDS = ("1", "true", "yes", "on")
FALSE_WORDS = ("0", "false", "no", "off")
POOL = {"min_size": 1, "max_size": 20, "timeout": 10}  # PostgreSQL connections of one process; seconds


class Refusal(Exception):
    """Why a command cannot do its work, in a sentence that says what to change. `manage.py` prints it and exits 2."""


class SettingError(Refusal):
    """An environment value that cannot be used."""

    def __init__(self, name: str, given: str, expected: str, advice: str) -> None:
        self.name = name
        super().__init__(f"{name} is {given!r}, but must be {expected}. {advice}")


def text(name: str, default: str = "") -> str:
    """The value without surrounding blanks; an empty value counts as unset, as in a shell's `${NAME:-default}`."""
    return os.environ.get(name, "").strip() or default


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """A comma-separated list, blanks around the items dropped."""
    given = text(name)
    return [word.strip() for word in given.split(",") if word.strip()] if given else list(default)


def apps(name: str) -> list[str]:
    """Modules that can be found, separated by commas. They are looked for, not imported: Django does that."""
    found = words(name)
    for word in found:
        try:
            there = find_spec(word) is not None
        except (ImportError, ValueError):
            there = False
        if not there:
            expected = "names of Python packages that can be imported"
            raise SettingError(name, word, expected, "Put the folder that it lies in on PYTHONPATH, or install it.")
    return found


def integer(name: str, default: int, *, lowest: int, highest: int) -> int:
    """A whole number from `lowest` to `highest`, both included."""
    given = text(name)
    if not given:
        return default
    expected = f"a whole number from {lowest} to {highest}"
    try:
        number = int(given)
    except ValueError:
        raise SettingError(name, given, expected, f"Unset it for the default of {default}.") from None
    if not lowest <= number <= highest:
        raise SettingError(name, given, expected, f"Unset it for the default of {default}.")
    return number


def choice(name: str, default: str, allowed: tuple[str, ...]) -> str:
    """One of a few words."""
    given = text(name, default)
    if given not in allowed:
        raise SettingError(name, given, " or ".join(allowed), "Set one of these, or unset it.")
    return given


def weights(name: str, *, lowest: float, highest: float) -> dict[str, float]:
    """`a=3,b=1.5`: a number from `lowest` to `highest` for each name, both included. Empty when unset."""
    found: dict[str, float] = {}
    for word in words(name):
        who, _, given = (part.strip() for part in word.rpartition("="))
        weight = _number(given)
        if not who or not lowest <= weight <= highest:
            expected = f"a name, =, and a number from {lowest:g} to {highest:g}"
            raise SettingError(name, word, expected, "Say for example research=3,nightly=0.5.")
        if who in found:
            raise SettingError(name, text(name), "a list that says each name once", f"Say {who} once.")
        found[who] = weight
    return found


def _number(given: str) -> float:
    """Not a number (which is in no range) for what is none."""
    try:
        return float(given)
    except ValueError:
        return math.nan


def flag(name: str, default: bool = False) -> bool:
    given = text(name).lower()
    if not given:
        return default
    if given in TRUE_WORDS:
        return True
    if given in FALSE_WORDS:
        return False
    raise SettingError(name, given, "1, true, yes, on or 0, false, no, off", "Say 1 or 0.")


def time_zone(name: str, default: str) -> str:
    """The name of an IANA zone that this machine can load."""
    given = text(name, default)
    try:
        ZoneInfo(given)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # A folder name such as "Europe" raises IsADirectoryError, an absolute path ValueError.
        raise SettingError(name, given, "the name of an IANA time zone", "Say for example Europe/Berlin.") from None
    return given


def folder(name: str, default: Path) -> Path:
    """An absolute folder, made if it does not exist yet (readable by its owner only: it holds keys and outputs)."""
    given = Path(text(name, str(default))).expanduser()
    path = given if given.is_absolute() else Path.cwd() / given
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SettingError(
            name, str(given), f"a folder that can be made and written ({reason})", f"Set {name} to another folder."
        ) from None
    return path


def disk_mb(path: Path) -> int:
    """How large the disk is that the folder lies on."""
    return shutil.disk_usage(path).total // (1024 * 1024)


def url(name: str, *, schemes: tuple[str, ...], example: str) -> SplitResult | None:
    """The parts of a URL of one of these schemes, or None when unset."""
    given = text(name)
    if not given:
        return None
    try:
        parts = urlsplit(given)
        valid = parts.scheme in schemes and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        # The URL may hold a password, so it is not repeated.
        raise SettingError(
            name, _without_password(given), f"a URL that starts with {' or '.join(schemes)}:", f"Say {example}"
        )
    return parts


def text_of_url(name: str, *, schemes: tuple[str, ...], example: str) -> str:
    parts = url(name, schemes=schemes, example=example)
    return parts.geturl() if parts else ""


def sub_path(name: str) -> str:
    """Such as /rota: empty, or a path that begins and does not end with a slash."""
    given = text(name).strip("/")
    if given and not all(re.fullmatch(r"[\w~-][\w.~-]*", part, re.ASCII) for part in given.split("/")):
        raise SettingError(name, given, "a path of letters, digits and - . _ ~", "Say for example /rota.")
    return f"/{given}" if given else ""


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Addresses and networks (10.0.0.0/8), separated by commas."""
    found = []
    for word in words(name):
        try:
            found.append(ip_network(word))
        except ValueError:
            advice = "Say for example 127.0.0.1,10.1.0.0/16."
            raise SettingError(name, word, "an IP address or a network, not a name", advice) from None
    return found


def database_url(name: str, default: Path) -> dict[str, object]:
    """Django's settings of the database at this URL; the SQLite file `default` when unset."""
    parts = url(
        name,
        schemes=("postgres", "postgresql", "sqlite"),
        example="postgres://user:password@host:5432/rota, or unset it for SQLite in the data folder.",
    )
    if parts is None:
        return sqlite_database(str(default))
    database = dict(dj_database_url.parse(parts.geturl()))
    if not database["NAME"] or database["NAME"] == ":memory:":
        raise SettingError(
            name,
            _without_password(parts.geturl()),
            "a URL that names a database",
            "End it with /rota (PostgreSQL) or an absolute file path (sqlite:////srv/rota/db.sqlite3).",
        )
    if parts.scheme == "sqlite":
        return sqlite_database(str(database["NAME"]))
    # Each request has a thread of its own, so a connection that is kept by its thread would never be used again.
    options = {**dict(parse_qsl(parts.query)), "pool": POOL}
    # And one that the server has cut since then, as by its restart, is not given to another.
    return {**database, "OPTIONS": options, "CONN_HEALTH_CHECKS": True}


def sqlite_database(file: str) -> dict[str, object]:
    # Tests get a file too: a database in memory has no WAL and is one connection for all threads.
    return {"ENGINE": "jobs.sqlite", "NAME": file, "TEST": {"NAME": f"{file}.test"}}


def secret_key(name: str, file: Path) -> str:
    """The key that signs sessions: the variable, else a random one that is kept in `file` (mode 0600)."""
    given = text(name)
    if given and len(given) < 32:
        raise SettingError(name, "*" * len(given), "at least 32 characters long", "Unset it to have one made.")
    return given or _kept_key(file)


def fernet_keys(name: str) -> list[str]:
    """Keys separated by commas, each 32 bytes in URL-safe base64; the first encrypts, all decrypt."""
    keys = words(name)
    for key in keys:
        try:
            fine = len(base64.b64decode(key, altchars=b"-_", validate=True)) == 32
        except ValueError:
            fine = False
        if not fine:
            raise SettingError(
                name,
                "*" * len(key),
                "32 random bytes in URL-safe base64, 44 characters",
                "`openssl rand -base64 32 | tr +/ -_` makes one. Unset it to have one made in the data folder.",
            )
    return list(keys)


def _kept_key(file: Path) -> str:
    try:
        return kept_in(file, lambda: secrets.token_urlsafe(48))
    except OSError as error:
        raise SettingError(
            "ROTA_DATA",
            str(file.parent),
            f"a folder in which {file.name} can be read and written ({error.strerror})",
            "Give it to the user who runs Rota, or set ROTA_DATA to another folder.",
        ) from None


def _without_password(given: str) -> str:
    scheme, mark, rest = given.partition("://")
    credentials, at, host = rest.rpartition("@")
    return f"{scheme}{mark}{credentials.partition(':')[0]}:***@{host}" if at else given
