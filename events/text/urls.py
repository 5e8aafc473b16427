"""What of a text may be shown: no password of a URL, no token or key of ours; no log line or refusal may show one. Pure."""

from __future__ import annotations

import re

HIDDEN = "***"
_PARAMETER = r"[\w.-]*(?:pass|pwd|secret|token|key|auth|credential|signature|username|user)[\w.-]*"
_USER = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^\s\"'<>`|\\]*@")
_QUERY = re.compile(rf"(?P<name>[?&;]{_PARAMETER}=)[^\s&;#\"'<>`|\\]+", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[\w.~:/%\[\]*@,+?=&;-]*")


_OURS = re.compile(r"(?P<kind>eg[cst]1_|egl_(?:[a-z0-9]{8}_)?)[A-Za-z0-9_-]{16,}")
"""Tokens, sessions, codes and keys; of a key its id may be shown."""
_BEGUN = ("egl_", "egt1_", "egs1_", "egc1_")
"""How they begin."""
_SIGNED = re.compile(r"eyJ[\w-]{8,}\.eyJ[\w-]{4,}\.[\w-]{16,}")
"""A token made of a key, or of an identity provider."""


def without_secrets(text: str) -> str:
    """`text` with user, password and secret parameters of every URL in it shown as `***`, and tokens and keys of ours too.

    All that stands before the last @ of a URL is hidden: what was not escaped as it should be is no less secret.
    """
    if any(begun in text for begun in _BEGUN):
        text = _OURS.sub(rf"\g<kind>{HIDDEN}", text)
    if "eyJ" in text:
        text = _SIGNED.sub(HIDDEN, text)
    if "://" not in text:
        return text
    return _QUERY.sub(rf"\g<name>{HIDDEN}", _USER.sub(rf"\g<scheme>{HIDDEN}@", text))


def holds_secret(url: str) -> bool:
    """Whether a setting that is an address holds more than an address, as far as one can see."""
    return without_secrets(url) != url or ("@" in url and "://" not in url)


def shown(value: str) -> str:
    """A value that was meant as an address and cannot be used as one: cleaned where it is plainly one, else hidden."""
    cleaned = without_secrets(value)
    if _PLAIN.fullmatch(cleaned) or (cleaned == value and not set("@?=#\\ ") & set(value)):
        return repr(cleaned)
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]{0,15}://", value)
    return f"'{scheme[0] if scheme else ''}{HIDDEN}'"
