"""Replaying many owners: how the reading of a whole store would change under other parameters, or without some of its events.

One part of a store is a list of owners; its figures can be added to those of other parts in any order. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import msgspec

from engramlog_server.api.requests.checks import check_limit, parse_instant, parse_line
from engramlog_server.api.services.auditing.folding import (
    KINDS,
    FoldAsked,
    Refolder,
    StrikesAsked,
    named_in,
    strikes_of,
)
from engramlog_server.api.services.auditing.parameters import check_parameter
from engramlog_server.api.services.auditing.questions import Questions, checked_questions
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.errors import (
    EngramlogError,
    FoldError,
    NotFound,
    OwnerErased,
    OwnerTooLarge,
    ReadError,
    refused,
)
from engramlog_server.events.parameters import ParameterValue
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.reports.store_moved import MODE, OrderMoved, StoreMoved

if TYPE_CHECKING:
    from engramlog_server.api.requests.checks import TimesAsked

Passing = Callable[[str], AbstractContextManager[None]]
"""Within it an owner is looked at in passing (`RedisViews.passing`)."""
LEFT_OUT: tuple[type[EngramlogError], ...] = (NotFound, OwnerErased, OwnerTooLarge, ReadError, FoldError)
"""What keeps one owner from being looked at. Anything else is wrong with the question, the store or this machine."""


class WholeAsked(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked of a whole store; JSON-ready, so that another process can be asked the same."""

    parameters: dict[str, ParameterValue] = {}
    profile: str | None = None
    strikes: dict[str, list[str]] = {}
    alone: bool = False
    queries: list[str] = []
    limit: int = 10
    as_of: str | None = None
    known: str | None = None
    at: str | None = None

    def times(self) -> TimesAsked:
        """The past that is asked about."""
        told = {"as_of": self.as_of, "known": self.known, "at": self.at}
        return {name: value for name, value in told.items() if value is not None}  # type: ignore[return-value]


def whole_asked(
    *,
    parameters: Mapping[str, ParameterValue] | None = None,
    profile: str | None = None,
    alone: bool = False,
    queries: Sequence[str] = (),
    limit: int = 10,
    as_of: str | None = None,
    known: str | None = None,
    at: str | None = None,
    **strikes: Sequence[str],
) -> WholeAsked:
    """The same, checked once for all owners. Raises InputError naming the field."""
    forced = dict(parameters or {})
    for name, value in forced.items():
        check_parameter(name, value)
    if profile is not None and profile not in LAWS:
        raise refused("profile", profile, ", ".join(LAWS))
    told = {name: sorted(set(values)) for name, values in named_in(strikes).items() if values}
    for text in told.get("without", ()):
        raise refused("without", text, "nothing with --all: an event or a position is one owner's")
    strikes_of(_named(told), 0)
    if not (forced or profile or told):
        raise refused(
            "parameters",
            "nothing",
            "a parameter, a profile or something to leave out: else nothing would be read otherwise",
        )
    texts = checked_questions(None, queries)
    for field, moment in (("as_of", as_of), ("known", known)):
        parse_line(moment, field)
    if at is not None:
        parse_instant(at)
    return WholeAsked(
        parameters=forced,
        profile=profile,
        strikes=told,
        alone=alone,
        queries=texts,
        limit=check_limit(limit),
        as_of=as_of,
        known=known,
        at=at,
    )


class StoreReplayer:
    """Replays owners one after the other. Safe for threads."""

    def __init__(self, reader: Reader, refolder: Refolder, partitions: int, passing: Passing) -> None:
        self._reader, self._refolder, self._partitions, self._passing = reader, refolder, partitions, passing

    def part(self, owners: Sequence[str], asked: WholeAsked) -> StoreMoved:
        """The figures of these owners. One that cannot be read is counted by why (`LEFT_OUT`), and keeps no other from it.

        Raises what is wrong with more than one owner, and what the question in hand ends for.
        """
        found, check = nothing_of(asked), current_check()
        for number, owner in enumerate(owners):
            check(number, len(owners))
            try:
                with self._passing(owner):
                    found.add(self._one(owner, asked))
            except LEFT_OUT as error:
                found.leaves_out(type(error).__name__)
        return found

    def _one(self, owner: str, asked: WholeAsked) -> StoreMoved:
        strikes = strikes_of(_named(asked.strikes), partition_of(owner, self._partitions))
        ranks, found = bool(asked.queries), nothing_of(asked)
        wanted = FoldAsked(strikes, asked.alone, asked.parameters, asked.profile, 0, 0, ranks, passes_over=True)
        questions = Questions(self._reader, owner, asked.queries)
        with self._refolder.sides(owner, wanted, asked.times()) as sides:
            found.take(owner, sides.before, sides.after, current_check())
            for text, order in found.questions.items():
                one, other = (questions.rank(side, text, MODE, asked.limit) for side in (sides.before, sides.after))
                order.take(one, other)
            found.events = sides.snapshot.view.state.applied
            found.struck = len(sides.replay.closure.struck)
            found.untouched = int(strikes.any and not found.struck)
            found.quarantined = int(sides.snapshot.quarantine is not None)
            found.behind = int(sides.snapshot.quarantine is None and sides.snapshot.behind > 0)
        return found


def nothing_of(asked: WholeAsked) -> StoreMoved:
    """The figures of nobody."""
    return StoreMoved(questions={text: OrderMoved() for text in asked.queries})


def told_of(asked: WholeAsked) -> Mapping[str, Any]:
    """What was asked, as the answer tells it again; JSON-ready."""
    return {
        "set": asked.parameters,
        "profile": asked.profile,
        "strikes": asked.strikes,
        "alone": asked.alone,
        "mode": MODE,
        "limit": asked.limit,
        "as_of": asked.as_of,
        "known": asked.known,
        "at": asked.at,
    }


def _named(strikes: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    told: StrikesAsked = {name: strikes.get(name, ()) for name in KINDS}  # type: ignore[assignment]
    return named_in(told)
