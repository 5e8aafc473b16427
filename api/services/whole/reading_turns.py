"""Reading the turns of many owners: what follows is appended as extraction of each does, or told and nothing is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.choices import MODEL, RULES
from api.requests.whole import ReadingAsked
from api.services.extracting import WAYS, Extractor
from api.services.whole.walking import LEFT_OUT, Passing, walk
from events.errors import ConcurrencyError, ModelFailed, OwnerQuarantined, refused
from projections.reports.many.reading import TurnsRead

NOT_NOW = (*LEFT_OUT, OwnerQuarantined, ConcurrencyError)
"""What keeps the turns of one owner from being read now."""
TROUBLED_IN_A_ROW = 3
"""Owners one after the other in whose turns a model failed, after which no other is begun: it is the model's, not theirs."""


def reading_asked(*, by: str = RULES, dry_run: bool = False, again: bool = False) -> ReadingAsked:
    """The same, checked once for all owners. Raises InputError naming the field."""
    if by not in WAYS:
        raise refused("by", by, " or ".join(WAYS))
    if again and not dry_run:
        raise refused(
            "again", "no --dry-run", "with --dry-run alone: what another reading made, a person may have changed since"
        )
    if again and by == MODEL:
        raise refused("by", by, f"{RULES} with --again: a model is asked about what nobody has read")
    return ReadingAsked(by, dry_run, again)


class StoreTurnReader:
    """Reads the turns of owners one after the other. Safe for threads."""

    def __init__(self, extractor: Extractor, passing: Passing) -> None:
        self._extractor, self._passing = extractor, passing
        self._troubled = 0

    def part(self, owners: Sequence[str], asked: ReadingAsked) -> TurnsRead:
        """The figures of these owners. One whose turns cannot be read is counted by why, and keeps no other from it.

        What was appended stays, whatever it ends with. Raises what is wrong with more than one owner: ModelFailed where a model
        fails of `TROUBLED_IN_A_ROW` owners, BadSetting where there is none, StoreError.
        """
        found = TurnsRead()

        def take(owner: str) -> None:
            answer = self._one(owner, asked)
            trouble = answer.get("trouble")
            self._troubled = 0 if trouble is None else self._troubled + 1
            if self._troubled >= TROUBLED_IN_A_ROW:
                raise ModelFailed(
                    f"the model failed of {TROUBLED_IN_A_ROW} owners one after the other: {trouble}", down=True
                )
            found.take(owner, answer)

        return walk(owners, found, take, self._passing, NOT_NOW)

    def _one(self, owner: str, asked: ReadingAsked) -> Mapping[str, Any]:
        if asked.again:
            return self._extractor.read_again(owner)
        if not asked.dry_run:
            return self._extractor.extract(owner, asked.by)
        try:
            return self._extractor.rehearse(owner, asked.by)
        except ModelFailed as error:
            requests, sent, received = error.usage
            usage = {"requests": requests, "input_tokens": sent, "output_tokens": received}
            return {"counts": {}, "usage": usage, "trouble": error.message}
