"""Merges that a language model confirms: which statements it is shown, and the events that its answers lead to. Pure.

What no rule knows to be the same is shown to the model where the vectors are near enough. It merges nothing that differs in a
number, a day, a name or a relative, that a denial turns round, that was and is no more, that is tied or of another frame: so an
answer that is wrong, or that a text ordered, goes no further than that. Its word is a model's: what the user said himself waits
for him in the inbox.

A summary that adds a number, says little of their words or the reverse of one of them is refused, and asked for again with the
reason. What the model does not name stays apart.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import permutations
from typing import Annotated
from zoneinfo import ZoneInfo

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from engramlog_server.events.catalogue import MemoryMerged
from engramlog_server.events.parameters import Parameters
from engramlog_server.projections.embedding.compared import looked_at
from engramlog_server.projections.language.contradiction.relation import read
from engramlog_server.projections.language.kin import relatives
from engramlog_server.projections.language.polarity import names_apart, numbers_and_days, opposite
from engramlog_server.projections.language.prompt_text import is_chinese, one_line
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.joining import (
    frame_alone,
    framed_apart,
    may_be_compared,
    merge_id,
    tied,
    unfit,
)
from engramlog_server.projections.memory.kind import is_statement
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.models.chat import Chat, ModelUsage, Unfit, prompt
from engramlog_server.projections.models.patterns_by_model import LONGEST, Claim, ShownMemory, fault_of_words
from engramlog_server.projections.views.view import OwnerView

MOST_COMPARED = 10_000
"""Statements that are compared, the newest."""
MOST_SHOWN = 20
"""Of one question."""
MOST_QUESTIONS = 10
"""Of one run about one owner, those with the newest statement first."""
_BLOCK = 256


def alike_statements(view: OwnerView, now: int) -> list[tuple[ShownMemory, ...]]:  # noqa: ARG001 - as every plan is
    """What a model would be asked: statements of one frame that are near, each in one question; none without vectors."""
    vectors = view.vectors_today
    if vectors is None:
        return []
    memories, fit = view.columns.memories, may_be_compared(view)
    for row in np.flatnonzero(fit).tolist():
        fit[row] = _is_fit(memories[row])
    framed: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for row in looked_at(fit, vectors, MOST_COMPARED).rows.tolist():
        framed[frame_alone(memories[row], view.parameters)].append(row)
    clock = ZoneInfo(view.parameters.time_zone)
    groups = [
        group
        for rows in framed.values()
        for group in _near(np.array(rows), vectors.wholes[rows], view.parameters.merge_similarity)
    ]
    asked = [shown for group in groups if len(shown := [memories[row] for row in group]) > 1]
    asked.sort(key=lambda group: (-max(one.created_seq for one in group), group[0].id))
    return [
        tuple(
            ShownMemory(
                one.id, datetime.fromtimestamp(one.created_at // 1_000_000, clock).date().isoformat(), one.content
            )
            for one in group
        )
        for group in asked[:MOST_QUESTIONS]
    ]


def _is_fit(memory: Memory) -> bool:
    return is_statement(memory) and not memory.waiting and unfit(memory) is None


def _near(rows: np.ndarray, wholes: np.ndarray, least: float) -> Iterator[list[int]]:
    """Rows that are joined by cosines from the least on, at most `MOST_SHOWN` together: of each the nearest first."""
    near: dict[int, list[int]] = {}
    for start in range(0, len(rows), _BLOCK):
        cosines = wholes[start : start + _BLOCK] @ wholes.T
        for at, row in enumerate(cosines, start):
            enough = np.flatnonzero(row >= least)
            near[at] = enough[np.argsort(-row[enough], kind="stable")][: 4 * MOST_SHOWN].tolist()
    taken: set[int] = set()
    for first in reversed(range(len(rows))):
        group, waiting = list[int](), [first]
        while waiting and len(group) < MOST_SHOWN:
            at = waiting.pop(0)
            if at not in taken:
                taken.add(at)
                group.append(int(rows[at]))
                waiting += near[at]
        if len(group) > 1:
            yield sorted(group)


def merges_by_model(view: OwnerView, claims: Sequence[Claim], texts: Mapping[str, str], model: str) -> list[Decision]:
    """The merges that a model confirmed. `texts`: what the memories said when it was asked, by id.

    Of a claim goes what says something else by now and what may not be merged with the rest.
    """
    decisions = []
    for claim in claims:
        found = (view.get(one) for one in claim.evidence)
        memories = [one for one in found if one is not None and one.content == texts.get(one.id) and _is_fit(one)]
        sources = _together(memories, view.parameters)
        if len(sources) < 2:
            continue
        ids, seq = tuple(sorted(one.id for one in sources)), max(one.changed_seq for one in sources)
        reason = f"{len(ids)} say the same, a model says"
        data = MemoryMerged(sources=ids, into=merge_id(view, ids, seq), summary=claim.statement, reason=reason)
        due = max(one.updated_at for one in sources)
        decisions.append(Decision("merge", "merge", ids, due, seq, reason, data, actor="judge", model=model))
    return decisions


def _together(memories: Sequence[Memory], parameters: Parameters) -> list[Memory]:
    """The most of these that may be merged with one another, beginning with the one that has most to be merged with."""
    fits = {(a.id, b.id) for a, b in permutations(memories, 2) if _may(a, b, parameters)}
    counted = Counter(one for one, _ in fits)
    kept: list[Memory] = []
    for one in sorted(memories, key=lambda one: (-counted[one.id], one.id)):
        if all((one.id, other.id) in fits for other in kept):
            kept.append(one)
    return kept


def _may(a: Memory, b: Memory, parameters: Parameters) -> bool:
    """Whether a model's word may make them one."""
    told = a.content, b.content
    return not (
        framed_apart(a, b, parameters)
        or tied(a, b)
        or opposite(*told)
        or numbers_and_days(told[0]) != numbers_and_days(told[1])
        or names_apart(*told)
        or relatives(told[0]) != relatives(told[1])
        or read(told[0]).past != read(told[1]).past
    )


class SaidAlike(BaseModel):
    """Memories that say the same, and what they say."""

    model_config = ConfigDict(extra="forbid")

    same: Annotated[list[str], Field(description="Keys of two memories or more that say exactly the same.")]
    summary: str = Field(description="One sentence that says what each of them says.")


class SaidAlikes(BaseModel):
    """Groups of memories that say the same; empty where all differ."""

    model_config = ConfigDict(extra="forbid")

    groups: list[SaidAlike]


def said_alike(chat: Chat, shown: Sequence[ShownMemory]) -> tuple[list[Claim], ModelUsage]:
    """Which of these memories say the same, and in which words, as a model says. Raises ModelFailed."""
    keyed = {f"M{number}": one for number, one in enumerate(shown, 1)}
    told = [{"key": key, "text": one_line(one.text)[:LONGEST]} for key, one in keyed.items()]
    language = "zh" if is_chinese(" ".join(one.text for one in shown)) else "en"

    def check(answer: SaidAlikes) -> None:
        taken = set[str]()
        for number, one in enumerate(answer.groups, 1):
            if (wrong := _fault(one, keyed, taken)) is not None:
                raise Unfit(f"group {number}: {wrong}")
            taken.update(one.same)

    question = json.dumps({"memories": told}, ensure_ascii=False)
    answer, usage = chat.ask(prompt("merge", language), question, SaidAlikes, check)
    return [Claim(one_line(one.summary), tuple(keyed[key].id for key in one.same)) for one in answer.groups], usage


def _fault(group: SaidAlike, keyed: dict[str, ShownMemory], taken: set[str]) -> str | None:
    """Why a group may not be followed, in words for the model; None where it may."""
    for key in group.same:
        if key not in keyed:
            return f"no memory is called {key[:20]!r}"
        if key in taken or group.same.count(key) > 1:
            return f"{key} is named twice"
    if len(group.same) < 2:
        return f"it names {len(group.same)} memories; at least 2 are needed"
    return fault_of_words(one_line(group.summary), [keyed[key].text for key in group.same])
