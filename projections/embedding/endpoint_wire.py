"""What endpoints that speak as OpenAI's have in common: addresses, keys, errors and waits. Pure.

No error text holds what was sent or received: these are memories and, in some endpoints' answers, parts of the key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import orjson

from engramlog_server.events.errors import BadSetting
from engramlog_server.projections.language.patterns import regex

OPENAI = "https://api.openai.com/v1"
REFUSES_CONTENT = (400, 413, 422)
"""Status codes of an endpoint that answers, and will not have what was sent."""
LATER = (408, 429)
"""Status codes after which the same request may fare better; so may it after any from 500."""
_HINTS = {
    401: ": the key is missing or not accepted",
    403: ": the key is not allowed to do this",
    404: ": the URL or the model is not known there",
}
_CODE = regex(r"[a-zA-Z][a-zA-Z0-9_.-]{0,63}")
"""What an endpoint's error may be called by: no sentence, which could quote what was sent."""


def checked_url(url: str, endpoint: str, path: str) -> str:
    """The URL before `path`, such as `/embeddings`, which may stand at its end. Raises BadSetting naming the endpoint."""
    allowed = "http:// or https://, a host, and a path such as /v1, without user, query or fragment"
    try:
        parts = urlsplit(url)
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    # The URL is not shown where it does not fit: it may hold a password.
    if not fits or parts.username is not None or parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise BadSetting(f"the URL of the {endpoint} endpoint cannot be used; allowed: {allowed}")
    return url.rstrip("/").removesuffix(path)


def checked_key(key: str | None, endpoint: str) -> str | None:
    """The key, None where it is empty. Raises BadSetting where no header can hold it."""
    if not key:
        return None
    if not key.isascii() or not key.isprintable() or " " in key:
        raise BadSetting(f"the key of the {endpoint} endpoint cannot be used; allowed: ASCII without white space")
    return key


def base_url(url: str | None, key: str | None, endpoint: str, path: str, settings: str) -> str:
    """Where requests go: `url`, or OpenAI's own with a key. Raises BadSetting where neither is given.

    Without it a setting that was forgotten would send contents to a company nobody named. `settings` begins the names of both.
    """
    if url is None and key is None:
        raise BadSetting(
            f"where the {endpoint} endpoint is was not said: set {settings}_URL to what comes before {path},"
            f" or {settings}_KEY for OpenAI's own"
        )
    return checked_url(url or OPENAI, endpoint, path)


def trouble_of(status: int, body: bytes, key: str | None) -> str:
    """An error answer in words: its status, its code where that can be told, and what to look at."""
    code = code_in(body, key)
    return f"answered {status}{f' ({code})' if code else ''}{_HINTS.get(status, '')}"


def code_in(answer: bytes, key: str | None) -> str:
    """What an endpoint calls its error, such as `insufficient_quota`; empty where it has no name that can be told."""
    try:
        error = orjson.loads(answer)["error"]
        names = [error.get("code"), error.get("type")]
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""
    fitting = [name for name in names if isinstance(name, str) and _CODE.fullmatch(name) and not _tells(name, key)]
    return fitting[0] if fitting else ""


def _tells(name: str, key: str | None) -> bool:
    return key is not None and (key in name or name in key)


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that an answer asks to wait before the next request; None where it does not say.

    A date is compared with the answer's own `Date`, so that no clock is needed.
    """
    asked = headers.get("retry-after", "").strip()
    try:
        if re.fullmatch(r"\d{1,9}(\.\d+)?", asked):
            return float(asked)
        until, now = parsedate_to_datetime(asked), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
