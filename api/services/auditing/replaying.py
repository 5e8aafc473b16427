"""Replaying an owner: under other parameters or another law, or without some of its events, beside what is answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Unpack, cast

from engramlog_server.api.requests.checks import TimesAsked, check_limit, check_mode, check_owner, told_times
from engramlog_server.api.services.auditing.folding import (
    KINDS,
    FoldAsked,
    Refolder,
    Sides,
    StrikesAsked,
    named_in,
    strikes_of,
)
from engramlog_server.api.services.auditing.parameters import check_parameter
from engramlog_server.api.services.auditing.questions import Questions, checked_questions
from engramlog_server.api.services.reading import Reader
from engramlog_server.api.shapes import QuestionMoved, Replayed, ReplayedDiffer
from engramlog_server.api.work.patience import current_check
from engramlog_server.events.errors import refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.parameters import ParameterValue
from engramlog_server.events.partitions import partition_of
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.modes import Mode
from engramlog_server.projections.reports.sides import Difference, differing, moved, text_of
from engramlog_server.projections.reports.struck_log import stays_told

MOST_DIFFERENCES = 1_000


class ReplayAsked(StrikesAsked, TimesAsked, total=False):
    """What is struck, and which past is asked about."""


class Replayer:
    """Folds an owner's own events anew, as they come from the log, beside the records as they are; writes nothing."""

    def __init__(self, log: EventLog, reader: Reader) -> None:
        self._partitions = log.partitions
        self._reader = reader
        self.refolder = Refolder(reader, log.partitions)

    def replay(
        self,
        owner: str,
        *,
        parameters: Mapping[str, ParameterValue] | None = None,
        profile: str | None = None,
        alone: bool = False,
        query: str | None = None,
        queries: Sequence[str] = (),
        mode: str = "review",
        limit: int = 10,
        offset: int = 0,
        most: int = MOST_DIFFERENCES,
        **asked: Unpack[ReplayAsked],
    ) -> Replayed:
        """What differs from what is answered today, or of the past that is asked about.

        Memories that appear or vanish, or stand otherwise; what is struck with what is named, and what stays; the order of the
        results of each question. `limit`: results of a question. `offset`, `most`: which of each list of differences, struck
        events and what stays; totals are told. Raises InputError naming the field, also for what was named in vain.
        """
        check_owner(owner)
        limit, checked = check_limit(limit), check_mode(mode)
        most, offset = check_limit(most, MOST_DIFFERENCES, "most"), max(offset, 0)
        forced = dict(parameters or {})
        for name, value in forced.items():
            check_parameter(name, value)
        if profile is not None and profile not in LAWS:
            raise refused("profile", profile, ", ".join(LAWS))
        texts = checked_questions(query, queries)
        told = named_in(asked)
        strikes = strikes_of(told, partition_of(owner, self._partitions))
        times = times_in(asked)
        questions = Questions(self._reader, owner, texts)
        wanted = FoldAsked(strikes, alone, forced, profile, offset, most, bool(texts))
        with self.refolder.sides(owner, wanted, times) as sides:
            answer: dict[str, object] = {
                "owner": owner,
                "set": forced,
                "profile": profile,
                **told,
                "alone": alone,
                "mode": checked,
                **told_times(times),
                "position": sides.snapshot.position,
                "events": {
                    "today": sides.snapshot.view.state.applied,
                    "replayed": sides.after.view.state.applied,
                },
                **self._differences(sides, checked, offset, most),
                **struck_told(sides, offset, most),
                **sides.snapshot.told,
            }
            asked_now = _asked(sides, questions, checked, limit)
        answer["questions"] = asked_now
        if texts:
            answer["query"] = _as_one(asked_now[0], checked)
        return cast("Replayed", answer)

    def _differences(self, sides: Sides, mode: Mode, offset: int, most: int) -> dict[str, object]:
        found, total, names = list[ReplayedDiffer](), 0, Counter[str]()
        for total, one in enumerate(differing(sides.before, sides.after, mode, current_check()), 1):
            names.update(one.names)
            if offset < total <= offset + most:
                found.append(_differ(one, sides, mode))
        return {"differences": found, "changed_fields": dict(names.most_common()), "total": total, "offset": offset}


def times_in(asked: ReplayAsked) -> TimesAsked:
    """The times among what was asked."""
    return cast("TimesAsked", {name: value for name, value in asked.items() if name not in KINDS})


def _differ(one: Difference, sides: Sides, mode: Mode) -> ReplayedDiffer:
    """As answers tell it; the words of what is deleted in debug mode alone, though they would stand without what is struck."""
    memory = sides.before.view.get(one.id) or sides.after.view.get(one.id)
    told = memory is not None and (memory.deleted_at is None or mode == "debug")
    text = text_of(memory) if told else None
    return {"id": one.id, "memory": text, "today": one.before, "replayed": one.after, "fields": list(one.fields)}


def struck_told(sides: Sides, offset: int, most: int) -> dict[str, object]:
    """What is struck, and what follows from that."""
    log, stays = sides.replay.log, sides.replay.closure.stays
    return {
        "struck": log.struck,
        "struck_total": sum(log.because.values()),
        "struck_because": dict(log.because),
        "stays": stays_told(stays[offset : offset + most], sides.snapshot.partition),
        "stays_total": len(stays),
        "without_effect": log.without_effect,
        "in_its_light": log.in_its_light,
    }


def _asked(sides: Sides, questions: Questions, mode: Mode, limit: int) -> list[QuestionMoved]:
    return list(moved(sides.before, sides.after, questions.texts, mode, limit, current_check(), rank=questions.rank))


def _as_one(question: QuestionMoved, mode: Mode) -> dict[str, object]:
    """The first question as 0.2.0 told the one that there was."""
    return {
        "text": question["query"],
        "mode": mode,
        "today": question["before"],
        "replayed": question["after"],
        "moved": [{"id": one["id"], "today": one["before"], "replayed": one["after"]} for one in question["moved"]],
    }
