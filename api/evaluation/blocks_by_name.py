"""An evaluation of the context block asked for by names, as `by_name` does for a search."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from api.evaluation.blocks import BlockAsked, evaluate_blocks
from api.evaluation.by_name import EvaluationNames, Watch
from api.evaluation.search import EvaluationAnswer, differences, read_saved, save
from events.errors import refused
from projections.prompt.block import LEAST_BUDGET

MOST_BUDGET = 100_000


def evaluate_blocks_named(
    names: EvaluationNames, asked: BlockAsked, watch: Watch, saved: Path | None, against: Path | None
) -> EvaluationAnswer:
    """`evaluate_blocks`; the answer is saved where that is asked for, and compared with one that was."""
    request, models = names.checked()
    if not LEAST_BUDGET <= asked.budget <= MOST_BUDGET:
        raise refused("budget", asked.budget, f"a whole number of tokens from {LEAST_BUDGET} to {MOST_BUDGET}")
    if not 0 <= asked.threshold <= 1:
        raise refused("threshold", asked.threshold, "a number from 0 to 1")
    before = None if against is None else read_saved(against)
    with ExitStack() as stack:
        kept = stack.enter_context(names.vectors_of(models))
        answer = evaluate_blocks(
            names.folder,
            request,
            asked,
            stack.enter_context(watch("asking")),
            later_days=names.later,
            profile=names.profile,
            linked=names.linked,
            long_turns=names.long_turns,
            vectors=kept,
            on_embedding=stack.enter_context(watch("embedding")),
        )
    if saved is not None:
        save(answer, saved)
    if before is not None:
        answer["differences"] = differences(answer, before)
    return answer
