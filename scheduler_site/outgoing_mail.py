"""ROTA_EMAIL_URL as Django's e-mail settings."""

from urllib.parse import unquote

from scheduler_site import environment

SCHEMES = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
EXAMPLE = "smtp+tls://user:password@mail.example:587 (STARTTLS), smtps:// (TLS) or smtp:// (neither)."


def from_url(name: str) -> dict[str, object]:
    """EMAIL_* settings for the server at this URL; the mail server of this machine when unset.

    Characters with a meaning in URLs are written percent-encoded in user and password.
    """
    parts = environment.url(name, schemes=tuple(SCHEMES), example=EXAMPLE)
    if parts is None:
        return {"EMAIL_HOST": "localhost", "EMAIL_PORT": 25}
    if not parts.hostname:
        raise environment.SettingError(name, parts.geturl(), "a URL with a host", f"Say {EXAMPLE}")
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or SCHEMES[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }
