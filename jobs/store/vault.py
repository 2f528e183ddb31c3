"""The values of secrets as they are stored: encrypted by keys that are in no database.

The keys are those of ROTA_SECRETS_KEYS, else the lines of `secrets_key` in the data folder, which is made with the
first secret. The first encrypts, all decrypt.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction

from jobs import keyfiles
from jobs.models import Secret

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

KEY_FILE = "secrets_key"


class UnreadableSecretError(Exception):
    """A stored value that the keys of this node do not open. The message is a sentence."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"the secret {name} cannot be read with the keys of this node; give ROTA_SECRETS_KEYS the key that it was "
            "stored with, the same on all nodes, or store its value again"
        )


class UnusableKeysError(Exception):
    """The file with the keys holds none, or can be neither read nor made. The message is a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The file {KEY_FILE} in the data folder cannot be used: {why.rstrip('.')}. Put the one there that the "
            "secrets were stored with; without it remove it, and store the values of all secrets again."
        )


def encrypt(value: str) -> bytes:
    """Raises UnusableKeysError."""
    if not settings.SECRETS_KEYS and not _key_file().exists():
        try:
            keyfiles.kept_in(_key_file(), new_key)
        except OSError as error:
            raise UnusableKeysError(str(error)) from error
    return _opened_by(tuple(_keys())).encrypt(value.encode())


def decrypt(secret: Secret) -> str:
    """Raises UnreadableSecretError."""
    from cryptography.fernet import InvalidToken

    try:
        keys = tuple(_keys())
        if not keys:
            raise UnreadableSecretError(secret.name)
        return _opened_by(keys).decrypt(bytes(secret.ciphertext)).decode()
    except (InvalidToken, UnusableKeysError):
        raise UnreadableSecretError(secret.name) from None


def unreadable() -> list[str]:
    """Names of the secrets that this node cannot read."""
    names = []
    for secret in Secret.objects.all():
        try:
            decrypt(secret)
        except UnreadableSecretError:
            names.append(secret.name)
    return names


def notices() -> list[str]:
    """For the node's page."""
    names = unreadable()
    if not names:
        return []
    named = ", ".join(names[:5]) + (f" and {len(names) - 5} others" if names[5:] else "")
    sentence = (
        f"Jobs that are given these secrets cannot start here, for its keys do not open them: {named}. Give "
        "ROTA_SECRETS_KEYS the key that they were stored with, the same on all nodes."
    )
    try:
        _keys()
    except UnusableKeysError as error:
        return [str(error), sentence]
    return [sentence]


def new_key() -> str:
    from cryptography.fernet import Fernet

    return Fernet.generate_key().decode()


def rotate() -> tuple[int, list[str]]:
    """Encrypt all anew: with the first key of the setting, else with a new one; of those in the file only the last one
    stays beside it. Returns how many, and the names of those that cannot be read, for whose sake all keys stay. Raises
    UnusableKeysError, with nothing changed.
    """
    file = _key_file()
    if not settings.SECRETS_KEYS and file.exists():
        keyfiles.replace(file, "\n".join([new_key(), *_keys()]))
    left = unreadable()
    with transaction.atomic():
        secrets = list(Secret.objects.select_for_update().exclude(name__in=left))
        for secret in secrets:
            Secret.objects.filter(pk=secret.pk).update(ciphertext=encrypt(decrypt(secret)))
    if not settings.SECRETS_KEYS and file.exists() and not left:
        keyfiles.replace(file, "\n".join(_keys()[:2]))  # the second for what was being stored at this moment
    return len(secrets), left


def _keys() -> list[str]:
    """The file is read each time: a rotation by a command must not leave the service with the old ones. Raises
    UnusableKeysError.
    """
    try:
        return list(settings.SECRETS_KEYS) or _keys_in(_key_file().read_text())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UnusableKeysError(str(error)) from error


def _keys_in(text: str) -> list[str]:
    """ValueError if these are no keys."""
    keys = text.split()
    _opened_by(tuple(keys))
    return keys


def _key_file() -> Path:
    return Path(settings.DATA_DIR) / KEY_FILE


@cache
def _opened_by(keys: tuple[str, ...]) -> MultiFernet:
    """ValueError if these are no keys. Loaded when there is a secret: a service without any need not have the ten
    megabytes.
    """
    from cryptography.fernet import Fernet, MultiFernet

    return MultiFernet([Fernet(key) for key in keys])
