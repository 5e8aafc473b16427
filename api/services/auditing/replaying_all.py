"""Replaying many owners: how the reading of a whole store would change under other parameters, or without some of its events.

One part of a store is a list of owners; its figures can be added to those of other parts in any order. Nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from api.requests.checks import check_limit
from api.requests.whole import WholeAsked
from api.services.auditing.folding import FoldAsked, Refolder, Sides
from api.services.auditing.parameters import check_parameter
from api.services.auditing.questions import Questions, checked_questions
from api.services.auditing.selecting import KINDS, StrikesAsked, named_in, strikes_of
from api.services.reading import Reader
from api.work.patience import current_check
from events.errors import (
    DeadlineExceeded,
    EngramlogError,
    InputError,
    KeyUnavailable,
    NotFound,
    OwnerErased,
    StoreUnavailable,
    refused,
)
from events.parameters import ParameterValue
from events.partitions import partition_of
from projections.laws import LAWS
from projections.laws.modes import Mode
from projections.reports.many.moved import OrderMoved, StoreMoved
from projections.reports.sides import Standings

Advance = Callable[[int], None]
"""Hears how many owners more were looked at."""


MODE: Mode = "normal"
"""What is told of: what a prompt would hold."""
_LEFT_OUT = (NotFound, OwnerErased)
_POSITION = re.compile(r"[0-9]+:[0-9]+\Z")


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
    told = {name: values for name, values in named_in(strikes).items() if values}
    for text in told.get("without", ()):
        raise refused("without", text, "nothing of a whole store: an event or a position is one owner's")
    if not (forced or profile or told):
        raise refused(
            "set", "nothing", "a parameter, a profile or something to leave out: else nothing would be read otherwise"
        )
    texts = list(checked_questions(None, queries))
    for field, moment in (("as_of", as_of), ("known", known)):
        if moment is not None and _POSITION.match(moment):
            raise refused(field, moment, "an instant or the end of a day: a position is one owner's")
    return WholeAsked(forced, profile, told, alone, texts, check_limit(limit), as_of=as_of, known=known, at=at)


class StoreReplayer:
    """Replays owners one after the other. Safe for threads."""

    def __init__(self, reader: Reader, refolder: Refolder, partitions: int) -> None:
        self._reader, self._refolder, self._partitions = reader, refolder, partitions

    def part(self, owners: Sequence[str], asked: WholeAsked, advance: Advance = lambda _many: None) -> StoreMoved:
        """The figures of these owners. One that cannot be read is counted by why, and keeps none of the others from it.

        Raises StoreUnavailable where Redis does not answer, and what the question in hand ends for.
        """
        found, check = StoreMoved(questions={text: OrderMoved() for text in asked.queries}), current_check()
        for number, owner in enumerate(owners):
            check(number, len(owners))
            try:
                self._take(found, owner, asked)
            except (StoreUnavailable, DeadlineExceeded):
                raise
            except EngramlogError as error:
                if error.context.get("field") in KINDS:
                    found.untouched += 1
                    found.owners += 1
                elif isinstance(error, InputError | KeyUnavailable) and not isinstance(error, _LEFT_OUT):
                    raise  # so it would be of every owner
                else:
                    found.leaves_out(type(error).__name__)
            advance(1)
        return found

    def _take(self, found: StoreMoved, owner: str, asked: WholeAsked) -> None:
        told: StrikesAsked = {name: asked.strikes.get(name, []) for name in KINDS}  # type: ignore[assignment]
        strikes = strikes_of(named_in(told), partition_of(owner, self._partitions))
        wanted = FoldAsked(strikes, asked.alone, asked.parameters, asked.profile, 0, 1, bool(asked.queries))
        questions = Questions(self._reader, owner, asked.queries)
        with self._refolder.sides(owner, wanted, asked.times()) as sides:
            standings = Standings(sides.before, MODE), Standings(sides.after, MODE)
            found.take(owner, sides.before, sides.after, standings)
            _ask(found, questions, sides, asked)


def _ask(found: StoreMoved, questions: Questions, sides: Sides, asked: WholeAsked) -> None:
    """Rank the questions on both sides."""
    for text in asked.queries:
        one = questions.rank(sides.before, text, MODE, asked.limit)
        other = questions.rank(sides.after, text, MODE, asked.limit)
        found.questions[text].take(one, other)
