"""What of an address may be shown. A URL can hold a password; no log line, refusal, answer or list of processes may. Pure."""

from __future__ import annotations

import re

HIDDEN = "***"
_PARAMETER = r"[\w.-]*(?:pass|pwd|secret|token|key|auth|credential|signature|username|user)[\w.-]*"
_USER = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^\s\"'<>`|\\]*@")
_QUERY = re.compile(rf"(?P<name>[?&;]{_PARAMETER}=)[^\s&;#\"'<>`|\\]+", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[\w.~:/%\[\]*@,+?=&;-]*")


def without_secrets(text: str) -> str:
    """`text` with user, password and secret parameters of every URL in it shown as `***`; the rest is as it was.

    All that stands before the last @ of a URL is hidden: what was not escaped as it should be is no less secret.
    """
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
