"""Patterns: what several memories have in common becomes a memory that names them (seed 000, phase 3). Pure, by rules.

The same thing said on several days is a pattern at once; what shares but a word is proposed, and waits for a person. A pattern of
which a piece no longer stands goes, and is made anew of what is left where that is enough. What a person would not have, he is
not asked about again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engramlog_server.events.catalogue import MemoryCreated, MemoryDeleted
from engramlog_server.events.trust import INFERRED, PROPOSED, TRUSTS, lowest
from engramlog_server.events.vocabulary import Category
from engramlog_server.projections.checks import Check, unchecked
from engramlog_server.projections.language.sensitivity.text_level import detect_sensitivity
from engramlog_server.projections.lifecycle.decision import Decision
from engramlog_server.projections.lifecycle.judge.rejecting import rejected_by
from engramlog_server.projections.memory.columns import Columns, state_of
from engramlog_server.projections.memory.creating import pattern
from engramlog_server.projections.memory.in_common import Alike, AlikeKey, alike, keys_of, stands_as_evidence, told
from engramlog_server.projections.memory.pattern import PREFIX, is_of_pattern, is_pattern
from engramlog_server.projections.memory.record import UNCOMPRESSED, Memory
from engramlog_server.projections.views.view import OwnerView

JOB = "abstract"
MOST_PROPOSED = 20
"""Proposals of patterns that wait for one owner at a time: no rule that is not certain fills an inbox."""


def abstractions(view: OwnerView, now: int, check: Check = unchecked) -> list[Decision]:
    """The patterns that there are to make or to propose, and before them those that go."""
    memories = [one for one in view.columns if one.facts or is_of_pattern(one.id)]
    known = [one for one in memories if is_of_pattern(one.id)]
    going = [one for one in (_going(view, one) for one in known) if one is not None]
    gone = {one.ids[0] for one in going}
    by_key: dict[str, list[Memory]] = {}
    for one in known:
        by_key.setdefault(_key_part(one.id), []).append(one)
    room = MOST_PROPOSED - sum(state_of(one) == Columns.PROPOSED and one.id not in gone for one in known)
    made: list[Decision] = []
    for found in alike(memories, view.parameters.time_zone, check):
        decided = _made(view, found, by_key, gone)
        if decided is None or (decided.trust == PROPOSED and room <= 0):
            continue
        room -= decided.trust == PROPOSED
        made.append(decided._replace(due_at=min(decided.due_at, now)))
    return [*going, *made]


def _made(view: OwnerView, found: Alike, by_key: Mapping[str, Sequence[Memory]], gone: set[str]) -> Decision | None:
    """The event that makes a pattern; None where it is known, or was not wanted."""
    key = key_name(view, found.key)
    pattern_id = f"{PREFIX}{key}.{_evidence_name(view, found.ids)}"
    if view.get(pattern_id) is not None or any(_keeps_out(view, one, gone) for one in by_key.get(key, ())):
        return None
    text, newest = told(found), found.pieces[-1].memory
    if detect_sensitivity(text) >= UNCOMPRESSED or rejected_by(view, text, None, newest.created_at) is not None:
        return None
    memories = [one.memory for one in found.pieces]
    trust = lowest(INFERRED, *(TRUSTS[one.trust] for one in memories))
    if found.key.rule == "word":
        trust = PROPOSED
    why = f"{len(memories)} memories of {len(found.days)} days " + (
        "say the same" if found.key.rule == "same" else f"share a word: {found.word}"
    )
    return made_of(pattern_id, text, why, memories)._replace(trust=trust)


def made_of(pattern_id: str, text: str, why: str, memories: Sequence[Memory], source: str = "system") -> Decision:
    """The event that makes a pattern of these memories, dated with the newest, as sensitive as the most of them."""
    newest = max(one.created_at for one in memories)
    ids = tuple(one.id for one in memories)
    speakers, categories = {one.speaker for one in memories}, {one.category for one in memories}
    category: Category = memories[0].category if len(categories) == 1 else "fact"  # type: ignore[assignment]
    data: MemoryCreated = pattern(
        pattern_id,
        text,
        why,
        ids,
        category=category,
        speaker=memories[0].speaker if len(speakers) == 1 else None,
        source=source,
        sensitivity=max(one.sensitivity for one in memories) or None,
    )
    return Decision(
        JOB,
        "abstract",
        (pattern_id, *ids),
        newest,
        max(one.changed_seq for one in memories),
        why,
        data,
        said_at=newest,
        once=("pattern", pattern_id),
    )


def key_name(view: OwnerView, key: AlikeKey) -> str:
    """What patterns of one key have in their ids: nobody tells the words by it."""
    return view.naming.made("pattern", *map(str, key))


def _evidence_name(view: OwnerView, ids: Iterable[str]) -> str:
    return view.naming.made("evidence of a pattern", *sorted(ids))[:8]


def _key_part(pattern_id: str) -> str:
    return pattern_id.removeprefix(PREFIX).partition(".")[0]


def _keeps_out(view: OwnerView, known: Memory, gone: set[str]) -> bool:
    """Whether a pattern of the same key means that none is made: it is there, or a person would not have it."""
    if known.id in gone:
        return False
    if state_of(known) <= Columns.REJECTED:
        return True
    return known.deletion == "user_delete" and all(_is_told(view, one) for one in known.summarises)


def _is_told(view: OwnerView, memory_id: str) -> bool:
    """Whether a memory is there and not deleted: a pattern that went with none of its pieces, somebody deleted by itself."""
    memory = view.get(memory_id)
    return memory is not None and state_of(memory) < Columns.DELETED


def _going(view: OwnerView, known: Memory) -> Decision | None:
    """That a pattern goes of which a piece stands no longer; None where all stand, or a person answers for it."""
    if not is_pattern(known) or state_of(known) not in (Columns.LIVE, Columns.PROPOSED) or known.is_negated:
        return None
    if TRUSTS[known.trust] == "asserted" or known.verified or known.tier in ("core", "system"):
        return None
    lost = [one for one in known.summarises if not _still_says(view, known, view.get(one))]
    if not lost:
        return None
    pieces = [one for one in map(view.get, known.summarises) if one is not None]
    since = max([known.created_at, *(one.stamp for one in pieces if one.id in lost)])
    reason = f"{len(lost)} of {len(known.summarises)} pieces of evidence no longer stand"
    data = MemoryDeleted(memory_id=known.id, policy="auto_cleanup", reason=reason)
    seq = max([known.changed_seq, *(one.changed_seq for one in pieces)])
    return Decision(JOB, "delete", (known.id,), since, seq, reason, data)


def _still_says(view: OwnerView, known: Memory, piece: Memory | None) -> bool:
    """Whether a piece of evidence stands; of a pattern by rule, whether it still backs what they have in common."""
    if piece is None or not stands_as_evidence(piece):
        return False
    if known.source != "system":
        return True
    key = _key_part(known.id)
    return any(key_name(view, one) == key for fact in piece.facts for one in keys_of(fact))
