"""Reading entries again under newer rules: what they find more in a memory's words is appended as a raised level. Pure.

An entry's level is what the rules of its day found. So when the rules change, the owner's events are folded once more
as if today's rules had validated it: what a person judged by hand holds there as ever, and merges take their highest source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engramlog_server.events.catalogue import SensitivityRaised
from engramlog_server.events.envelope import Stored
from engramlog_server.events.parameters import DEFAULTS, Parameters
from engramlog_server.projections.checks import Check, counted, unchecked
from engramlog_server.projections.language.sensitivity.level import LEVEL_RULES, judged_under
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.past.folding import fold_records
from engramlog_server.projections.views.view import OwnerView

_UNJUDGED = b"0:0"
_WORDED = ("MemoryCreated.", "MemoryRevised.", "MemoryCompressed.", "MemoryMerged.", "FactAsserted.")
"""Kinds of events whose words become a memory's."""


def is_outdated(stored: Stored) -> bool:
    """Whether it puts words into a memory whose level was found by older rules than today's, or by none."""
    return stored.kind.startswith(_WORDED) and judged_under(stored) < LEVEL_RULES


def levels_today(
    stored: Iterable[Stored], base: Parameters = DEFAULTS, check: Check = unchecked, total: int = 0
) -> dict[str, int]:
    """Memory id -> its level had today's rules judged every outdated entry. `stored`: all that was folded of the owner, in order.

    A text is judged alone, so this may be lower than what stands: nothing is lowered by it.
    """
    memories = fold_records(_judged_anew(stored), base=base, check=check, total=total).memories
    return {memory.id: memory.sensitivity for memory in memories.values()}


def _judged_anew(stored: Iterable[Stored]) -> Iterator[Stored]:
    for one in stored:
        if is_outdated(one):
            yield one._replace(beside=(*one.beside[:2], _UNJUDGED, *one.beside[3:]))
        else:
            yield one


def raises(view: OwnerView, _now: int, check: Check = unchecked) -> list[Decision]:
    """One decision for each memory that is more sensitive by today's rules than it stands; none where nobody read again."""
    found = view.judged_today
    if found is None:
        return []
    memories = view.columns.memories
    return [
        Decision(
            "levels",
            "raise",
            (memory.id,),
            memory.updated_at,
            memory.changed_seq,
            f"rules {LEVEL_RULES} find {level} in its words (it is {memory.sensitivity})",
            SensitivityRaised(memory_id=memory.id, level=level, rules=LEVEL_RULES),
        )
        for memory in counted(memories, check, len(memories))
        if memory.purged_at is None and (level := found.get(memory.id, 0)) > memory.sensitivity
    ]
