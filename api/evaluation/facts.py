"""Measuring extraction by rules on a set of conversations: how much of what somebody marked is caught, and how much is made.

The turns go through the ordinary import and fold, and the ordinary judge of extraction. No store is opened, nothing is kept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

from api.choices import HALVES, LEAVE
from api.evaluation.fact_figures import FactFigures, FactsAnswer, MissedTurn, SampledMemory
from api.evaluation.folder import TURNS, read_views
from api.evaluation.marks import SELF, MarkedTurn, key_of
from api.evaluation.search import AFTER, Progress
from api.exchange.long_texts import check_way
from events.catalogue import MemoryCreated
from events.errors import refused
from events.naming import Naming
from projections.language.extraction.shape import TurnText
from projections.language.extraction.whose import told_of_others
from projections.language.scripts import holds_han
from projections.lifecycle.extracting import turns_heard, turns_of_people
from projections.lifecycle.judge.correcting import judge
from projections.lifecycle.judge.judging import ReadTurn, Verdict
from projections.views.view import OwnerView

BY_RULES = "rules"
NOTE = "note"
"""Kind of what is kept in its speaker's own words: a copy, and no typed statement."""
ENGLISH, CHINESE = "English", "Chinese"
COMPARED: tuple[Literal["set", "half", "by", "marks"], ...] = ("set", "half", "by", "marks")
"""In what two runs must be the same to be compared."""
MOST_SAMPLED = 1_000
LAST_SEED = 2**32 - 1


class FactsAsked(NamedTuple):
    """What is measured."""

    half: str = HALVES[0]
    """Conversations by name: all, the first half of them, or the second."""
    sample: int = 0
    """So many memories are told with their turns, 0 to 1,000."""
    seed: int = 0
    """Which ones they are, 0 to 2**32 - 1."""
    long_turns: str = LEAVE


class _Said(NamedTuple):
    """A turn of a person, with what was made of it."""

    conversation: str
    half: str
    turn: TurnText
    asserted: Sequence[bool]
    """Of each statement of it."""
    verdicts: Sequence[Verdict]

    @property
    def parts(self) -> tuple[str, ...]:
        language = CHINESE if holds_han(self.turn.text) else ENGLISH
        return (self.half, language, f"{self.half}, {language}")

    @property
    def made(self) -> list[Verdict]:
        """What became memories of it."""
        return [one for one in self.verdicts if one.statement.kind != "question" and _makes(one)]


def evaluate_facts(
    folder: Path,
    marks: Sequence[MarkedTurn],
    asked: FactsAsked,
    on_progress: Progress = lambda _done, _total: None,
) -> FactsAnswer:
    """The share of marks that is caught, and the memories of a hundred turns, over all and by half and language.

    A mark is caught by a memory of its turn that is about its subject, of one of its classes, has one of its words, and is a
    statement, not a note in its speaker's own words. Raises InputError for a set that cannot be read, a mark of a turn that is not
    in it or that no person said, and numbers out of their range.
    """
    _check(asked)
    views, read = read_views(folder, long_turns=asked.long_turns)
    halves = half_of(views)
    wanted = sorted(name for name in views if asked.half in (HALVES[0], halves[name]))
    if not wanted:
        raise refused("set", str(folder), f"a folder whose {TURNS} has turns in the {asked.half} half")
    _check_turns(marks, views)
    said: dict[tuple[str, str], _Said] = {}
    for number, name in enumerate(wanted, 1):
        view, last = views[name]
        view.naming = Naming(name, sha256(name.encode("utf-8", "surrogatepass")).digest())  # of ids that nobody keeps
        heard = turns_heard(view)
        for one in _with_verdicts(name, halves[name], heard, judge(heard, view, last + AFTER)):
            said[name, one.turn.turn_id] = one
        on_progress(number, len(wanted))
    held = [
        (mark, said[mark.conversation, mark.turn_id])
        for mark in marks
        if asked.half in (HALVES[0], halves[mark.conversation])
    ]
    caught = [(one, mark, catches(one.turn, one.verdicts, mark)) for mark, one in held]
    rows = list(said.values())
    answer: FactsAnswer = {
        "set": folder.name,
        "half": asked.half,
        "by": BY_RULES,
        "marks": key_of(marks),
        "marked_elsewhere": len(marks) - len(held),
        "conversations": len(wanted),
        "turns_too_long": read.too_long,
        "turns_cut": read.cut,
        "all": _figures(rows, [hit for _, _, hit in caught]),
        "categories": {
            part: _figures(
                [one for one in rows if part in one.parts], [hit for one, _, hit in caught if part in one.parts]
            )
            for part in sorted({part for one in rows for part in one.parts})
        },
        "missed": [_missed(one, mark) for one, mark, hit in caught if not hit],
    }
    if asked.sample:
        answer["sample"] = sampled(rows, asked.sample, asked.seed)
    return answer


def check_comparable(answer: FactsAnswer, before: Mapping[str, object]) -> None:
    """Raises InputError where a saved run is of another set, half, way of reading or other marks: its figures tell nothing here."""
    for name in COMPARED:
        if before.get(name) != answer[name]:
            raise refused(f"against, {name}", before.get(name), f"a run with {answer[name]!r}")


def half_of(names: Iterable[str]) -> dict[str, str]:
    """Of each conversation which half it is in: they are sorted by name, and one in the middle is in the first."""
    ordered = sorted(names)
    middle = (len(ordered) + 1) // 2
    return {name: HALVES[1] if place < middle else HALVES[2] for place, name in enumerate(ordered)}


def catches(turn: TurnText, verdicts: Sequence[Verdict], mark: MarkedTurn) -> bool:
    """Whether one of what was made of a turn is what was to be caught of it."""
    return any(_fits(turn, one, mark) for one in verdicts)


def _fits(turn: TurnText, one: Verdict, mark: MarkedTurn) -> bool:
    said, content = one.statement, one.statement.content.casefold()
    return (
        one.operation != "SKIP"
        and said.asserted
        and said.kind not in (NOTE, "question")
        and said.category in mark.classes
        and any(word.casefold() in content for word in mark.words)
        and any(_about(turn, said.content, subject) for subject in mark.subject)
    )


def _about(turn: TurnText, content: str, subject: str) -> bool:
    if subject != SELF:
        return subject.casefold() in content.casefold()
    return not told_of_others(content, turn.name)


def _check(asked: FactsAsked) -> None:
    check_way(asked.long_turns)
    if asked.half not in HALVES:
        raise refused("half", asked.half, ", ".join(HALVES))
    if not 0 <= asked.sample <= MOST_SAMPLED:
        raise refused("sample", asked.sample, f"0 to {MOST_SAMPLED:,} memories")
    if not 0 <= asked.seed <= LAST_SEED:
        raise refused("seed", asked.seed, f"0 to {LAST_SEED:,}")


def _check_turns(marks: Sequence[MarkedTurn], views: Mapping[str, tuple[OwnerView, int]]) -> None:
    """Raises InputError where the set has no conversation or no turn of a person of that name, in whichever half."""
    said: dict[str, set[str]] = {}
    for mark in marks:
        name = mark.conversation
        if name not in views:
            raise refused(f"marked line {mark.line}, conversation", name, f"a conversation of {TURNS}")
        if name not in said:
            said[name] = turns_of_people(views[name][0])
        if mark.turn_id not in said[name]:
            raise refused(
                f"marked line {mark.line}, turn_id",
                mark.turn_id,
                f"a turn of this conversation in {TURNS} that a person said",
            )


def _with_verdicts(name: str, half: str, heard: Sequence[ReadTurn], told: Sequence[Verdict]) -> Iterable[_Said]:
    by_turn = defaultdict(list)
    for one in told:
        by_turn[one.turn_id].append(one)
    for turn in heard:
        asserted = [one.asserted for one in turn.statements]
        yield _Said(name, half, turn.turn, asserted, by_turn[turn.turn.turn_id])


def _makes(verdict: Verdict) -> bool:
    return any(isinstance(decision.data, MemoryCreated) for decision in verdict.decisions)


def _figures(rows: Sequence[_Said], caught: Sequence[bool]) -> FactFigures:
    told: FactFigures = {"turns": len(rows), "memories": sum(len(one.made) for one in rows)}
    if rows:
        told["per_100"] = round(100 * told["memories"] / len(rows), 2)
    asserted = [sure for one in rows for sure in one.asserted]
    told["statements"] = len(asserted)
    if asserted:
        told["asserted"] = round(sum(asserted) / len(asserted), 4)
    told |= {"marked": len(caught), "caught": sum(caught)}
    if caught:
        told["recall"] = round(sum(caught) / len(caught), 4)
    return told


def _missed(one: _Said, mark: MarkedTurn) -> MissedTurn:
    return {
        "line": mark.line,
        "conversation": mark.conversation,
        "turn_id": mark.turn_id,
        "words": list(mark.words),
        "made": [verdict.statement.content for verdict in one.verdicts if verdict.operation != "SKIP"],
        "text": one.turn.text,
    }


def sampled(rows: Iterable[_Said], most: int, seed: int) -> list[SampledMemory]:
    """So many memories, which ones hangs on the seed and the set alone, in the order in which a hash puts them."""

    def order(pair: tuple[_Said, Verdict]) -> bytes:
        one, verdict = pair
        told = f"{seed} {one.conversation} {one.turn.turn_id} {verdict.statement.content}"
        return sha256(told.encode("utf-8", "replace")).digest()

    found = sorted(((one, verdict) for one in rows for verdict in one.made), key=order)[:most]
    return [
        {
            "conversation": one.conversation,
            "turn_id": one.turn.turn_id,
            "speaker": one.turn.speaker,
            "category": verdict.statement.category,
            "kind": verdict.statement.kind,
            "content": verdict.statement.content,
            "text": re.sub(r"\s+", " ", one.turn.text),
        }
        for one, verdict in found
    ]
