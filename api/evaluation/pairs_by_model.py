"""Measuring how well a language model tells contradiction, by the figures by which the rules are measured.

What a request fails to answer is no verdict: its pairs are counted apart and no figure is made of them. Where the endpoint is
down nothing more is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from api.evaluation.pairs import LabelledPair, Progress, told_of
from events.errors import ModelFailed
from projections.language.contradiction.relation import Relation
from projections.models.chat import Chat, ModelUsage
from projections.models.contradiction_by_model import BATCH, StatementPair, batches, relations
from projections.models.prompt_files import prompt

MOST_FAILURES = 5
"""Different failures that are told in words."""


def evaluate_pairs_by_model(
    pairs: Sequence[LabelledPair],
    chat: Chat,
    on_progress: Progress = lambda _done, _total: None,
    *,
    batch: int = BATCH,
) -> dict[str, Any]:
    """The figures of `evaluate_pairs` over the pairs that were answered; `unanswered` pairs, `failures`, and what was used.

    Raises ModelFailed where not one pair was answered.
    """
    asked = [StatementPair(pair.new, pair.known) for pair in pairs]
    found: dict[int, Relation] = {}
    failures: Counter[str] = Counter()
    usage, done = ModelUsage(), 0
    for indexes in batches(asked, batch):
        try:
            told, used = relations([asked[index] for index in indexes], chat, prompt)
        except ModelFailed as failure:
            failures[failure.message] += 1
            usage = usage.plus(ModelUsage(*failure.usage))
            if not found and (failure.down or done + len(indexes) == len(pairs)):
                raise
            if failure.down:
                break
        else:
            found.update(zip(indexes, told, strict=True))
            usage = usage.plus(used)
        done += len(indexes)
        on_progress(done, len(pairs))
    outcomes = [(pairs[index], found[index]) for index in sorted(found)]
    return {
        "judge": chat.model,
        **told_of(outcomes),
        "unanswered": len(pairs) - len(found),
        "failures": [{"message": message, "requests": times} for message, times in failures.most_common(MOST_FAILURES)],
        "usage": usage._asdict(),
    }
