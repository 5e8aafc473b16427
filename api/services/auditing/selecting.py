"""Which events somebody names to be struck, as every face tells them."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypedDict, cast

from api.requests.checks import check_actor
from events.errors import InputError, refused
from events.partitions import parse_position, position_text
from projections.reports.strikes import Strikes

MOST_NAMED = 1_000
"""Of one kind, in one call."""
_LIKEST = 5
"""Names that a refusal tells of those that are there."""
_COMPARED = 500
"""Those of them that are compared, the nearest by their beginnings: an owner may have 100,000 sessions."""
_POSITION = re.compile(r"[0-9]{1,4}:[0-9]{1,16}\Z")
_KNOWN_AS = {
    "without": "event ids of this owner or positions, applied by then; `engramlog history OWNER` shows them",
    "turns": "ids of turns of this owner; `engramlog why OWNER ID --provenance` shows them",
    "sessions": "sessions in which something of this owner was said",
    "sources": "user, assistant, judge, system or import where a memory of this owner has that source, or the URI of a ground",
    "principals": "who brought events of this owner, whole; `engramlog export OWNER` shows it (recorded since log format 2)",
    "correlations": "a correlation_id of this owner's events",
    "models": "language models that decided events of this owner, as a principal names them behind ` model:`",
}


class StrikesAsked(TypedDict, total=False):
    """What is to be struck, by its kind."""

    without: Sequence[str]
    without_turns: Sequence[str]
    without_sessions: Sequence[str]
    without_sources: Sequence[str]
    without_actors: Sequence[str]
    without_principals: Sequence[str]
    without_correlations: Sequence[str]
    without_models: Sequence[str]


KINDS = tuple(StrikesAsked.__annotations__)


def named_in(asked: Mapping[str, object]) -> dict[str, list[str]]:
    """What is named, by all of its kinds."""
    told = ((name, asked.get(name)) for name in KINDS)
    return {name: list(cast("Sequence[str]", values)) if values else [] for name, values in told}


def strikes_of(told: Mapping[str, Sequence[str]], partition: int) -> Strikes:
    """What is named, checked. Raises InputError naming the field: for an actor that cannot be, a position of another owner."""
    for name, values in told.items():
        if len(values) > MOST_NAMED:
            raise refused(name, f"{len(values):,} values", f"at most {MOST_NAMED:,}")
    for actor in told["without_actors"]:
        check_actor(actor, "without_actors")
    ids, seqs = set[str](), set[int]()
    for text in told["without"]:
        if _POSITION.match(text):
            seqs.add(_seq(text, partition))
        else:
            ids.add(text.lower())
    others = (frozenset(told[name]) for name in KINDS[1:])
    return Strikes(frozenset(ids), frozenset(seqs), *others)


def _seq(text: str, partition: int) -> int:
    of, seq = parse_position(text)
    if of != partition:
        raise refused("without", text, f"a position of this owner: its events stand in partition {partition}")
    return seq


def refusal_of(unmet: dict[str, list[str]], partition: int, there: Callable[[str], list[str]]) -> InputError | None:
    """The refusal of what was named and is nowhere, with what is there and most like it; None where all was found."""
    for field, values in unmet.items():
        texts = (position_text(partition, int(one[1:])) if _is_seq(field, one) else one for one in values)
        name = field if field == "without" else f"without_{field}"
        return refused(name, ", ".join(sorted(texts))[:500], _KNOWN_AS[field] + _likest(values[0], there(field)))
    return None


def _likest(value: str, there: Sequence[str]) -> str:
    """The names there are, in order, that are most like one that is not, in words; nothing where there are none."""
    if not there:
        return ""
    first = max(0, min(bisect(there, value) - _COMPARED // 2, len(there) - _COMPARED))
    near = there[first : first + _COMPARED]
    found = get_close_matches(value, near, n=_LIKEST, cutoff=0) if len(there) > _LIKEST else there
    more = f" and {len(there) - len(found):,} more" if len(there) > len(found) else ""
    return f": {', '.join(found)}{more}"[:300]


def _is_seq(field: str, value: str) -> bool:
    return field == "without" and value[:1] == ":" and value[1:].isdigit()
