"""Ids and names that are new must look like what they are: two that look alike are one, or a trap.

Refused where something is begun (a turn, a memory, what a merge makes), and its owner and session with it: controls, characters
that show nothing, what NFKC writes otherwise (full width, ligatures, ⅷ), and `.` and `..`, which browsers and proxies take out of
a path even percent-encoded. Letters that look alike in different scripts are not: they are people's names. What is old folds, is
read and is deleted as before, so nothing here is asked of events about it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any, NamedTuple

from engramlog_server.events.errors import InvalidEvent
from engramlog_server.events.standing import Path, Speaker
from engramlog_server.events.text.invisible import hidden_in, named

_NEW: dict[str, tuple[str, ...]] = {
    "TurnRecorded": ("turn_id",),
    "MemoryCreated": ("memory_id",),
    "MemoryMerged": ("into",),
}
"""The events that begin something, and what they name."""
_NAMES: dict[str, tuple[str, ...]] = {
    "TurnRecorded": ("speaker",),
    "ToolResultRecorded": ("tool",),
    "MemoryCreated": ("speaker", "project", "task"),
}
DOTS = frozenset([".", ".."])
"""What no path of a URL holds as a part (RFC 3986, 5.2.4)."""
NO_PATH = "an id that a URL's path can hold: not only one dot or two"
_TOLD = _NEW.keys() | _NAMES.keys()
_JOBS = frozenset(["system", "judge"])
_CARRYING_ON: frozenset[Path] = frozenset(["job", "import", "terminal"])
"""Actors that carry on, by these paths, for owners and speakers that are there already, whatever they are called."""


def check_new_ids(event: Any, by: Speaker, where: dict[str, Any]) -> None:
    """Raises InvalidEvent where the event begins something under an id that hides something or no path holds, or such a name."""
    if event.type not in _TOLD:
        return
    carries_on = event.actor in _JOBS and by.path in _CARRYING_ON
    for field, value in _ids(event, carries_on=carries_on):
        if value in DOTS:
            raise InvalidEvent(field, value, NO_PATH, **where)
        if not value.isascii():
            _check(field, value, normal=True, where=where)
    for field in () if carries_on else _NAMES.get(event.type, ()):
        value = getattr(event.data, field)
        if value is not None and not (value.isascii() and value.isprintable()):
            _check(f"data.{field}", value, normal=False, where=where)


def _ids(event: Any, *, carries_on: bool) -> Iterator[tuple[str, str]]:
    """The ids that an event begins something under; ASCII ones were checked letter by letter already."""
    made = _NEW.get(event.type)
    if made is None:
        return
    yield from ((f"data.{name}", getattr(event.data, name)) for name in made)
    if not carries_on:
        yield "owner", event.owner
        if event.session_id is not None:
            yield "session_id", event.session_id


class IdTrouble(NamedTuple):
    """Why an id or a name may not be new: what is allowed instead, and which characters cannot be seen."""

    allowed: str
    hidden: frozenset[str]


def trouble_with(value: str, *, normal: bool = True) -> IdTrouble | None:
    """What is wrong with a new id or name; None where nothing is. `normal` asks for NFKC too."""
    hidden = list(hidden_in(value))
    if hidden:
        first = hidden[0]
        told = f"no character that shows nothing: {named(first[0])} is character {first.start() + 1}"
        return IdTrouble(told, frozenset(one[0] for one in hidden))
    plain = unicodedata.normalize("NFKC", value)
    if not normal or plain == value:
        return None
    odd = (at for at, one in enumerate(value) if unicodedata.normalize("NFKC", one) != one)
    at = next(odd, 0)
    return IdTrouble(
        f"a new id in its plain form (NFKC), {plain!r}: {named(value[at])} is character {at + 1}", frozenset()
    )


def _check(field: str, value: str, *, normal: bool, where: dict[str, Any]) -> None:
    if trouble := trouble_with(value, normal=normal):
        shown = "".join(f"\\u{ord(one):04x}" if one in trouble.hidden else one for one in value)
        raise InvalidEvent(field, shown, trouble.allowed, **where)
