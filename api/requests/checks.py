"""What callers ask for, checked: owners, modes, limits, instants and positions. Every refusal names field, got and allowed."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from events.envelope import micros
from events.errors import refused
from events.partitions import parse_position, partition_of
from events.text.saying import is_text
from events.vocabulary import EARLIEST, ID_RULE, Actor, check_id
from projections.choices import MAX_RESULTS, RANKINGS, SEARCH_MODES

if TYPE_CHECKING:
    from projections.laws.modes import Mode

ACTORS: tuple[str, ...] = get_args(Actor)
MAX_QUERY = 10_000
"""Longest query, in characters."""


class AsOf(NamedTuple):
    """A place in time: an instant, a day, or a position; none of them where nothing was asked."""

    instant: int | None = None
    """Microseconds since 1970."""
    seq: int | None = None
    day: str | None = None
    """YYYY-MM-DD: the end of that day by the owner's clocks."""

    def by_the_clocks_of(self, zone: str) -> AsOf:
        """The same with a day as the instant at which it ends in the zone."""
        if self.day is None:
            return self
        from projections.ranking.conversation_dates import parse_range

        return AsOf(instant=parse_range(self.day, 0, zone).end - 1)


PRESENT = AsOf()


def check_owner(owner: str) -> str:
    """The owner, or InputError."""
    return check_id_of("owner", owner)


def check_memory_id(memory_id: str) -> str:
    """The memory id, or InputError."""
    return check_id_of("memory_id", memory_id)


def check_id_of(field: str, value: str) -> str:
    """An id of a turn, a session or whatever a field names, or InputError."""
    try:
        return check_id(value)
    except PydanticCustomError:
        raise refused(field, value, ID_RULE) from None


def check_mode(mode: str) -> Mode:
    """The mode, or InputError."""
    from projections.laws.modes import MODES

    for known in MODES:
        if mode == known:
            return known
    raise refused("mode", mode, ", ".join(MODES))


def check_limit(limit: int, most: int = MAX_RESULTS, field: str = "limit") -> int:
    """A number of results, or InputError."""
    if not 1 <= limit <= most:
        raise refused(field, limit, f"a whole number from 1 to {most}")
    return limit


def check_query(query: str) -> str:
    """A query, or InputError."""
    if not is_text(query, MAX_QUERY):
        shown = query if len(query) <= 60 else f"{query[:60]}… ({len(query):,} characters)"
        raise refused("query", shown, f"some text in UTF-8 of at most {MAX_QUERY:,} characters")
    return query


def check_ranking(ranking: str) -> str:
    """The name of a ranking, or InputError."""
    if ranking not in RANKINGS:
        raise refused("ranking", ranking, ", ".join(RANKINGS))
    return ranking


def check_search_mode(mode: str) -> str:
    """The name of a search mode, or InputError."""
    if mode not in SEARCH_MODES:
        raise refused("search_mode", mode, ", ".join(SEARCH_MODES))
    return mode


def check_actor(actor: str, field: str = "actor") -> str:
    """An actor, or InputError."""
    if actor not in ACTORS:
        raise refused(field, actor, ", ".join(ACTORS))
    return actor


_DATETIME = TypeAdapter(datetime)
_INSTANT_RULE = "an RFC 3339 date-time with a time zone, e.g. 2023-10-22T12:00:00Z"
_AS_OF_RULE = f"{_INSTANT_RULE}, a day, e.g. 2023-10-22, or a position, e.g. 3:128"


def parse_instant(text: str, field: str = "at", rule: str = _INSTANT_RULE) -> int:
    """Microseconds since 1970 of an RFC 3339 date-time with a zone, or InputError, which tells the rule."""
    try:
        moment = _DATETIME.validate_python(text)
    except ValidationError:
        raise refused(field, text, rule) from None
    if moment.tzinfo is None or text[4:5] != "-" or moment < EARLIEST:
        raise refused(field, text, f"{rule}, not before 1900")
    return micros(moment)


def parse_as_of(text: str | None, owner: str, partitions: int, field: str = "as_of") -> AsOf:
    """An instant, a day, or a position `p:seq` of the owner's partition; the present where nothing is given."""
    return parse_place(text, field, partition_of(owner, partitions), f"owner {owner}, whose partition is")


def parse_line(text: str | None, field: str) -> AsOf:
    """An instant or a day, of many owners: a position is one owner's."""
    if text is not None and text.count(":") == 1 and text.replace(":", "").isdigit():
        raise refused(field, text, "an instant, or a day: a position is one owner's")
    return parse_place(text, field, 0, "", f"{_INSTANT_RULE}, or a day, e.g. 2023-10-22")


def parse_place(text: str | None, field: str, partition: int, whose: str, rule: str | None = None) -> AsOf:
    """The same of a partition; `whose`: what a refusal calls it; `rule`: what it tells to be allowed."""
    if text is None:
        return PRESENT
    if text.replace(":", "").isdigit() and text.count(":") == 1:
        return AsOf(seq=_position_in(text, partition, field, whose))
    if _DAY.fullmatch(text):
        _check_day(field, text)
        return AsOf(day=text)
    return AsOf(instant=parse_instant(text, field, rule or _AS_OF_RULE))


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _check_day(field: str, text: str) -> None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise refused(field, text, f"a day of the calendar, or {_INSTANT_RULE}") from None
    if day < EARLIEST.date():
        raise refused(field, text, "a day not before 1900")


def position_of(text: str, owner: str, partitions: int, field: str = "after") -> int:
    """The seq of a position, which must lie in the owner's partition."""
    return _position_in(text, partition_of(owner, partitions), field, f"owner {owner}, whose partition is")


def _position_in(text: str, mine: int, field: str, whose: str) -> int:
    try:
        partition, seq = parse_position(text)
    except ValueError:
        raise refused(field, text, f"a position partition:seq, e.g. {mine}:128") from None
    if partition != mine:
        raise refused(field, text, f"a position of {whose} {mine}: {mine}:seq")
    return seq
