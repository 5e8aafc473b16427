"""The day that extraction adds to a statement: `User moved (said on 2026-01-02)`, 用户搬家了（2026-01-02说）."""

from __future__ import annotations

from engramlog_server.projections.language.patterns import regex

_SAID_ON = regex(r" ?[(（](?:said on )?\d{4}-\d\d-\d\d说?[)）]")


def without_day(text: str) -> str:
    """The text without days that extraction added: they are no part of what it states."""
    return _SAID_ON.sub("", text) if "(" in text or "（" in text else text
