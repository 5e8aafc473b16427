"""The relation of statements to known ones, told by a language model: what `contradiction.compare` tells by rules. Pure.

Pairs are asked about in batches of one language; an answer that leaves a pair out, names one twice or one that is not there
is refused, and asked for again by the Chat. The statements go in as JSON, so that nothing in them ends the data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, NamedTuple

import orjson
from pydantic import BaseModel, ConfigDict, Field

from projections.language.contradiction.reading import MOST_READ
from projections.language.contradiction.relation import Kind, Relation
from projections.language.scripts import holds_han
from projections.models.chat import Chat, ModelUsage, Unfit
from projections.models.prompt_files import Language

BATCH = 20
"""Pairs of one request."""
BATCH_LETTERS = 20_000
"""Characters of the statements of one request, from which no more are added."""
MOST_REASON = 300
"""Characters of a reason that are kept."""
PROMPT = "contradiction"


class StatementPair(NamedTuple):
    """A new statement and the known one that it is compared with."""

    new: str
    known: str

    @property
    def language(self) -> Language:
        """`zh` where there is a Han character in either, else `en`."""
        return "zh" if holds_han(self.new + self.known) else "en"


class Judged(BaseModel):
    """What the model says of one pair."""

    model_config = ConfigDict(extra="ignore")

    id: int
    relation: Kind
    sure: bool = Field(description="Whether the new statement may replace the known one without asking.")
    reason: Annotated[str, Field(description="What differs or agrees, in a few words.")]


class Judgement(BaseModel):
    """What the model says of all pairs of a request."""

    pairs: list[Judged]


def batches(pairs: Sequence[StatementPair], most: int = BATCH) -> Iterator[list[int]]:
    """Indexes of the pairs, in order, in batches of one language each; every index once."""
    waiting: dict[str, list[int]] = {}
    letters: Counter[str] = Counter()
    for index, pair in enumerate(pairs):
        language = pair.language
        waiting.setdefault(language, []).append(index)
        letters[language] += min(len(pair.new), MOST_READ) + min(len(pair.known), MOST_READ)
        if len(waiting[language]) >= most or letters[language] >= BATCH_LETTERS:
            yield waiting.pop(language)
            del letters[language]
    yield from waiting.values()


def relations(
    pairs: Sequence[StatementPair], chat: Chat, prompt: Callable[[str, Language], str]
) -> tuple[list[Relation], ModelUsage]:
    """The relation of each pair, in order, and what asking took: one request, of pairs in one language.

    `prompt` gives the instructions by name and language. Only a contradiction is `sure`, as with rules, but for equal words.
    Raises ModelFailed.
    """
    numbered = [
        {"id": number, "known": pair.known[:MOST_READ], "new": pair.new[:MOST_READ]}
        for number, pair in enumerate(pairs, 1)
    ]
    asked = orjson.dumps({"pairs": numbered}).decode()
    language: Language = "zh" if any(pair.language == "zh" for pair in pairs) else "en"
    answer, usage = chat.ask(prompt(PROMPT, language), asked, Judgement, lambda told: _check(told, len(pairs)))
    by_id = {one.id: one for one in answer.pairs}
    return [_relation(by_id[number]) for number in range(1, len(pairs) + 1)], usage


def _check(told: Judgement, count: int) -> None:
    ids = Counter(one.id for one in told.pairs)
    unknown = sorted(one for one in ids if not 1 <= one <= count)
    twice = sorted(one for one, times in ids.items() if times > 1)
    missing = [one for one in range(1, count + 1) if one not in ids]
    wrong = [
        f"{what}: {', '.join(map(str, numbers[:20]))}"
        for what, numbers in (("no such id", unknown), ("answered more than once", twice), ("not answered", missing))
        if numbers
    ]
    if wrong:
        raise Unfit(f"{'; '.join(wrong)}. Answer each id from 1 to {count} exactly once.")


def _relation(told: Judged) -> Relation:
    sure = told.sure and told.relation == "contradicts"
    return Relation(told.relation, sure, (told.reason.strip()[:MOST_REASON],))
