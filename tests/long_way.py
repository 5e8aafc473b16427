"""The door without what is read at once: what it makes of an event must be the same."""

from __future__ import annotations

import pytest

from engramlog_server.events import validation
from engramlog_server.events.envelope import Prepared
from engramlog_server.events.errors import InvalidEvent
from engramlog_server.events.validation import read_event
from tests.given.samples import NOW


def outcome(raw: bytes | str) -> Prepared | tuple[str, ...]:
    """What the door makes of it, or what it says is wrong."""
    try:
        return read_event(raw, now=NOW)
    except InvalidEvent as refusal:
        return refusal.field, refusal.got, refusal.allowed


def the_long_way(raw: bytes | str) -> Prepared | tuple[str, ...]:
    """The same where nothing is read at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "read_at_once", lambda _raw: None)
        patch.setattr(validation, "read_plain", lambda _type, _raw: None)
        return outcome(raw)
