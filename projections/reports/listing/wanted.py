"""What a list of memories is asked for: the filters that a search has too, those of a list alone, and its order. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from engramlog_server.events.errors import refused
from engramlog_server.events.trust import TRUSTS
from engramlog_server.events.vocabulary import is_text
from engramlog_server.projections.index.record_names import SOURCES
from engramlog_server.projections.language.traditional import part_folded
from engramlog_server.projections.memory.columns import STATUSES, TIERS
from engramlog_server.projections.memory.record import DISPUTED, LEVELS, REJECTED, SECRET
from engramlog_server.projections.ranking.search_request import (
    Filters,
    FilterSpan,
    check_among,
    check_number,
    check_span,
    filters_of,
)

TRUSTS_TOLD: Final = (*TRUSTS, DISPUTED, REJECTED)
"""Every word for how far a memory is trusted, as `trust_told` has it."""
FLAGS: Final = ("conflicting", "waiting", "ground_changed")
"""It may contradict one that stands; something in the inbox is about it; what it rests on has changed."""
SORTS: Final = ("activated", "created", "updated", "weight", "id")
ORDERS: Final = ("descending", "ascending")
MOST_PART = 400
"""Characters of a part that is looked for."""
SENSITIVITIES: Final = tuple(range(SECRET + 1))


class RowsWanted(NamedTuple):
    """What a memory must have; of several values of one kind any will do. Nothing told: everything passes."""

    filters: Filters = Filters()
    """Of these kinds, categories, tags, session, project, speaker, creation, weight and least trust are looked at."""
    statuses: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    """Effective ones."""
    trusts: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    sensitivities: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    words: str = ""
    """A part of its id or its text, folded."""
    max_weight: float | None = None
    """Unclipped weight under the owner's law, at most."""
    updated: FilterSpan = FilterSpan()
    """Made or revised within."""


class RowOrder(NamedTuple):
    """By what rows are ordered, and whether the highest stand first."""

    by: str = SORTS[0]
    descending: bool = True


def wanted_of(told: Mapping[str, Any], now: int, zone: str) -> RowsWanted:
    """The filters among what a list was told, checked.

    `now` (microseconds since 1970), `zone`: what "last week" is relative to. Raises InputError naming the field.
    """
    filters, most = filters_of(told, now, zone), told.get("max_weight")
    if most is not None:
        check_number("max_weight", most, 1_000)
        filters.check_most(most)
    return RowsWanted(
        filters,
        _among("statuses", told, STATUSES),
        _among("levels", told, LEVELS),
        _among("trusts", told, TRUSTS_TOLD),
        _among("tiers", told, TIERS),
        _sensitivities(told.get("sensitivities") or ()),
        _among("sources", told, SOURCES),
        _among("flags", told, FLAGS),
        _part(told.get("words")),
        most,
        check_span(told, now, zone, "updated_"),
    )


def check_wanted(told: Mapping[str, Any]) -> None:
    """InputError for whatever can be told to be wrong before the owner's zone and the question's instant are known."""
    wanted_of({name: value for name, value in told.items() if not name.endswith(("since", "until"))}, 0, "UTC")


def sorting_of(sort: str, order: str | None) -> RowOrder:
    """An order of rows, or InputError; untold, the newest and heaviest stand first, and ids in the order of their letters."""
    if sort not in SORTS:
        raise refused("sort", sort, ", ".join(SORTS))
    if order is not None and order not in ORDERS:
        raise refused("order", order, ", ".join(ORDERS))
    return RowOrder(sort, sort != "id" if order is None else order == ORDERS[0])


def _among(field: str, told: Mapping[str, Any], allowed: Sequence[str]) -> tuple[str, ...]:
    return check_among(field, told.get(field) or (), allowed)


def _sensitivities(told: Sequence[int]) -> tuple[int, ...]:
    for one in told:
        if one not in SENSITIVITIES:
            raise refused("sensitivities", one, f"whole numbers from 0 to {SECRET}")
    return tuple(dict.fromkeys(told))


def _part(words: str | None) -> str:
    if not words:
        return ""
    if not is_text(words, MOST_PART):
        raise refused("words", words[:80], f"a part of a text or an id, in UTF-8, at most {MOST_PART} characters")
    return part_folded(words)
