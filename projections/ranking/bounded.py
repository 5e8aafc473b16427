"""What holds for a time only stands above what it interrupts until then, and below it afterwards. Pure.

Nothing is withheld for it: what was so until Friday was so, and is found by whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from projections.language.contradiction.interrupting import interrupts
from projections.language.times.bounds import bounded
from projections.ranking.ranked import Ranked, best
from projections.ranking.running import RunningSearch

MOST_LOOKED_AT = 30
"""Of the best matches."""


def interrupted(this: RunningSearch, ranked: Ranked) -> Iterator[tuple[int, int]]:
    """Rows of two matches, of which the first is to stand below the second."""
    memories, zone, now = this.view.columns.memories, this.view.parameters.time_zone, this.asked.now
    rows = ranked.rows[best(ranked.scores, ranked.rows, MOST_LOOKED_AT)].tolist()
    best_rows = [(row, memories[row]) for row in rows]
    found = [(row, memory, bounded(memory.content, memory.worded_at, zone)) for row, memory in best_rows]
    others = [(row, memory) for row, memory, bound in found if bound is None]
    for row, memory, bound in found:
        if bound is None:
            continue
        is_over = bound.until <= now
        for other, known in others:
            if (is_over or known.worded_at <= memory.worded_at) and interrupts(bound.rest, known.content):
                yield (row, other) if is_over else (other, row)
