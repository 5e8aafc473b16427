"""What filters of a search may be, checked: each refusal names the field, what was got and what is allowed. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from engramlog_server.events.errors import refused
from engramlog_server.events.text.saying import is_text
from engramlog_server.projections.memory.tags import FILTERS, TAGS
from engramlog_server.projections.ranking.conversation_dates import TimeRange, parse_range

Plain = str | int | float | bool
MOST_WORDS = 50
"""Words, or pairs, of one filter."""
MOST_METADATA = 4 * 1024
"""Characters of a pair: what is told with a memory has at most as many bytes."""


def check_words(field: str, words: Sequence[str], most: int = MOST_WORDS) -> tuple[str, ...]:
    """Words to filter by, each once, or InputError."""
    if len(words) > most:
        raise refused(field, f"{len(words)} of them", f"at most {most}")
    for word in words:
        if not is_text(word, 200):
            raise refused(field, word[:80], "some text of 1 to 200 characters in UTF-8")
    return tuple(dict.fromkeys(words))


def check_among(field: str, words: Sequence[str], allowed: Sequence[str]) -> tuple[str, ...]:
    """Words of a closed list to filter by, each once, or InputError."""
    found = check_words(field, words)
    for word in found:
        if word not in allowed:
            raise refused(field, word, ", ".join(allowed))
    return found


def check_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Context tags to filter by, or InputError; a producer's own tags may be asked for too."""
    if len(tags) > MOST_WORDS:
        raise refused("tags", f"{len(tags)} of them", f"at most {MOST_WORDS}")
    for tag in tags:
        if not is_text(tag, 100):
            raise refused("tags", tag, "tags of 1 to 100 characters, such as " + ", ".join(TAGS))
    return tuple(dict.fromkeys(tags))


def check_feeling(feeling: str | None) -> str | None:
    """An emotional filter, or InputError."""
    if feeling is not None and feeling not in FILTERS:
        raise refused("feeling", feeling, ", ".join(FILTERS))
    return feeling


def check_name(field: str, name: str | None) -> str | None:
    """A name, or InputError."""
    if name is not None:
        check_words(field, [name])
    return name


def check_number(field: str, number: float, most: int) -> float:
    """A number from 0 to `most`, or InputError."""
    if not 0 <= number <= most:
        raise refused(field, number, f"a number from 0 to {most}")
    return number


def check_pairs(field: str, pairs: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """`name=value` pairs, all of which must hold, or InputError."""
    if len(pairs) > MOST_WORDS:
        raise refused(field, f"{len(pairs)} of them", f"at most {MOST_WORDS}")
    found: dict[tuple[str, str], None] = {}
    for pair in dict.fromkeys(pairs):
        name, equals, value = pair.partition("=")
        if not equals or not is_text(name, 200) or not is_text(f"={value}", MOST_METADATA):
            raise refused(field, pair[:80], "name=value, e.g. page=4, of at most 4 KiB")
        found[name, value] = None
    return tuple(found)


def as_told(value: Plain) -> str:
    """A plain value as people write it beside an equals sign: `4` of 4 and of 4.0, `true` of a truth value."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


class FilterSpan(NamedTuple):
    """Instants from one to another, that not among them, microseconds since 1970; None: no bound."""

    since: int | None = None
    until: int | None = None


def check_span(told: Mapping[str, Any], now: int, zone: str, prefix: str = "") -> FilterSpan:
    """What is told as `since` and `until`, with a prefix, as `parse_times` reads it; or InputError, also where it holds nothing."""
    fields = f"{prefix}since", f"{prefix}until"
    since, until = (parse_times(name, told.get(name), now, zone) for name in fields)
    found = FilterSpan(None if since is None else since.start, None if until is None else until.end)
    if found.since is not None and found.until is not None and found.since >= found.until:
        raise refused(fields[1], told.get(fields[1]), f"a time after {fields[0]}, which is {told.get(fields[0])}")
    return found


def parse_times(field: str, text: str | None, now: int, zone: str) -> TimeRange | None:
    """The range that a filter means, seen from `now` in the zone: an instant, a date, or words; or InputError."""
    if text is None:
        return None
    try:
        return parse_range(text, now, zone)
    except ValueError as error:
        raise refused(field, text[:80], str(error).partition("; allowed: ")[2]) from None
