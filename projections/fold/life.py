"""A memory's life: created, mentioned, revised, compressed, merged, un-merged, deleted, restored, purged; and its use: shown, put
to use, graded, promoted, kept. Pure.

Sections 2, 3, 5, 6 and 9 of memory.md. A memory is created from what an event says of it, or from an older record with its
counters. A merge makes a new memory of several; an un-merge brings them back as they were.

What a use changes is what each law reads later: stability and its clock (seed 004), boosts of the importance and the crossings
that call for a reviewer (seed 003), the schedule of reviews (seeds 000 and 004). All of it is folded whatever the owner's
profile, so that any law can read any history.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import msgspec
from msgspec import structs

from engramlog_server.events.catalogue import (
    Imported,
    MemoriesAccessed,
    MemoryCompressed,
    MemoryCreated,
    MemoryDeleted,
    MemoryErased,
    MemoryKept,
    MemoryMentioned,
    MemoryMerged,
    MemoryPromoted,
    MemoryPurged,
    MemoryReinforced,
    MemoryRestored,
    MemoryRevised,
    MemoryUnmerged,
    ReviewGraded,
)
from engramlog_server.events.envelope import Event, micros
from engramlog_server.events.parameters import Parameters
from engramlog_server.events.standing import FIRM, LOOKING, REVIEWERS
from engramlog_server.events.trust import ASSERTED, ORDER, PROPOSED
from engramlog_server.projections.fold.links import (
    all_boosted,
    basis_of,
    boosted,
    contradicted,
    flagged,
    linked,
    negation_state,
    newest_said,
    revised,
    settled,
    strongest,
    with_reports,
)
from engramlog_server.projections.fold.links import merged as merged_basis
from engramlog_server.projections.fold.trust import (
    FULL_QUEUE,
    of_words,
    queued,
    refusal,
    risen_by,
    risen_by_merge,
    say_again,
    stood_for,
    trust_of,
    waits,
)
from engramlog_server.projections.fold.working_set import MERGED_AWAY, UNKNOWN, WorkingSet, trouble_with
from engramlog_server.projections.language.sensitivity.level import level_of_data, words_in
from engramlog_server.projections.laws.law import (
    effective_importance,
    frequent_boost,
    review_threshold_of,
    strength_at,
)
from engramlog_server.projections.laws.spaced import OUTCOME_GRADES, graded
from engramlog_server.projections.memory.kind import OPERATOR, WITNESSES, MergedGround, of_merge, of_promotion
from engramlog_server.projections.memory.record import (
    DAY,
    FULL,
    HOUR,
    LEVELS,
    MAX_BOOSTS,
    MAX_CONFLICTS,
    MAX_MENTIONS,
    MAX_TURNS,
    MAX_UNMERGED,
    MAX_VERSIONS,
    MAX_WORDS,
    SUMMARY,
    UNCOMPRESSED,
    Boost,
    Edge,
    Memory,
    Upkeep,
    UserMention,
    Version,
    with_changes,
    without_content,
    without_words,
)

TIERS = frozenset({"system", "core", "fact", "episode"})
BY_HAND = frozenset({"user", "operator"})


def create(working: WorkingSet, data: MemoryCreated, event: Event[Any]) -> None:
    """A new record; a second creation with one id changes nothing, also when the first was purged."""
    if working.get(data.memory_id) is not None:
        working.ignore(data.memory_id, "this id exists already")
        return
    if working.settings.rejections and data.source_turns != (data.memory_id,):  # a turn was said all the same
        problem = refusal(working)
        if problem is not None:
            working.ignore(data.memory_id, problem)
            say_again(working, data, event)
            return
    at, brought = working.at, data.imported
    memory = Memory(  # in two steps: Python puts more than 15 arguments in a dict, which takes five times as long
        id=data.memory_id,
        content=data.content,
        category=data.category,
        kind=data.kind,
        tier=tier_of(
            data.tier or (data.kind if data.kind in TIERS else "fact"), data.importance or 0.0, working.parameters
        ),
        source=data.source,
        created_at=at,
        updated_at=at,
        last_activated_at=at,
        stamp=at,
        created_seq=working.seq,
        confidence=float(data.confidence),
        importance=1.0 if data.importance is None else float(data.importance),
        sensitivity=max(  # a producer's own figure only raises
            data.sensitivity or 0, level_of_data(data) if working.level is None else working.level
        ),
        source_turns=data.source_turns,
        trust=trust_of(working, data),
    )
    memory = with_changes(
        memory,
        speaker=data.speaker,
        session=event.session_id,
        stability=_first_stability(working, data),
        last_reinforced_at=at,
        changed_seq=working.seq,
        stated=working.statement,
        by=working.by,
        **_seldom_told(data, at),
    )
    if working.actor == "operator" and memory.tier in FIRM:
        memory = with_changes(memory, ground=OPERATOR)
    if brought:
        memory = _with_counters(memory, brought)
    working.create(risen(None, memory, working), "create", "a new memory")


def _seldom_told(data: MemoryCreated, at: int) -> dict[str, Any]:
    """Fields that most creations leave as they are, where this one does not: a record has eighty, and each has its price."""
    told: dict[str, Any] = {}
    if data.summary is not None:
        told["summary"] = data.summary
    if data.keywords:
        told["keywords"] = words(data.keywords)
    if data.tags:
        told["tags"] = data.tags
    if data.emotion is not None:
        told["emotion"] = float(data.emotion)
    if data.project is not None:
        told["project"] = data.project
    if data.task is not None:
        told["task"] = data.task
    if data.modality != "text":
        told["modalities"] = (data.modality,)
    if data.verified:
        told["verified"] = True
    if data.corrects is not None:
        told["corrects"] = data.corrects
    if data.summarises:
        told["summarises"] = data.summarises
    if data.because or data.grounds or data.metadata:
        told["basis"] = basis_of(data, at)
    return told


def _first_stability(working: WorkingSet, data: MemoryCreated) -> float:
    """Hours: a memory made by hand (by a user or operator, from no turn) begins more stable than one picked up."""
    by_hand = working.actor in BY_HAND and not data.source_turns and data.imported is None
    return working.parameters.manual_stability if by_hand else working.parameters.initial_stability


def _with_counters(memory: Memory, brought: Imported) -> Memory:
    """An older record's counters. Its strength and consolidation score are laws' readings, and computed anew."""
    updated = micros(brought.updated_at) if brought.updated_at else memory.updated_at
    edges: tuple[Edge, ...] = ()
    for edge in brought.associations:
        if edge.memory_id != memory.id:
            edges = linked(edges, edge.memory_id, float(edge.weight), edge.link)
    count = brought.access_count or 0
    inferred = 24.0 + min(12.0 * count, 120.0) + 48.0 * memory.confidence  # seed 004, section 3.3
    updated = max(updated, memory.updated_at)
    return with_changes(
        memory,
        imported=True,
        access_count=count,
        last_accessed_at=micros(brought.last_accessed_at) if brought.last_accessed_at else None,
        updated_at=updated,
        mention_count=brought.mention_count or 1,
        reinforce_count=count if brought.reinforce_count is None else brought.reinforce_count,
        edges=edges,
        stability=inferred if brought.stability is None else float(brought.stability),
        last_reinforced_at=micros(brought.last_reinforced_at) if brought.last_reinforced_at else updated,
        decay_rate=None if brought.decay_rate is None else float(brought.decay_rate),
    )


def words(keywords: tuple[str, ...]) -> tuple[str, ...]:
    """Keywords lower-cased and unique, in their order."""
    if not keywords:
        return ()
    return tuple(dict.fromkeys(word.casefold() for word in keywords))


def mention(working: WorkingSet, data: MemoryMentioned, event: Event[Any]) -> None:
    """Activates. A mention of a merged source goes to the memory that it was merged into."""
    memory = working.get(data.memory_id)
    while memory is not None and memory.merged_into is not None:
        if memory.id == data.memory_id:
            working.ignore(memory.id, f"{MERGED_AWAY}; the mention goes to {final_merge(working, memory)}")
        memory = working.get(memory.merged_into)
    if memory is None:
        working.ignore(data.memory_id, UNKNOWN)
        return
    if working.live(memory.id) is None:
        return
    at = working.at
    newest = memory.mentions[-1] if memory.mentions else None
    mentions = _with_mention(memory.mentions, at)
    start = at - int(working.parameters.frequent_window_hours * HOUR)
    frequent = bisect_right(mentions, at) - bisect_right(mentions, start) >= working.parameters.frequent_threshold
    fields: dict[str, Any] = {
        "mention_count": memory.mention_count + 1,
        "mentions": mentions,
        "last_activated_at": max(memory.last_activated_at, at),
        "level": FULL,
        "compressed": None,
        "level_due_at": None,
    }
    if newest is None or at >= newest:
        fields["mention_boost"] = (
            frequent_boost((at - (newest or at)) / DAY, memory.mention_boost, working.parameters)
            if frequent
            else working.parameters.semantic_boost
        )
    if data.modality and data.modality not in memory.modalities:
        fields["modalities"] = tuple(sorted({*memory.modalities, data.modality}))
    told = data.turn_id is None and data.similarity in (None, 1.0)  # not a likeness that a reader found in a turn
    if told:
        fields |= stood_for(working, memory)
    decision, reason = ("merge", "mentioned often within a day") if frequent else ("reinforce", "mentioned")
    if working.actor == "user" and working.trust != PROPOSED:
        own = working.trust == ASSERTED and (told or working.parameters.talk_reaffirms)
        mentioned = UserMention(at, data.turn_id, working.author_unless(memory), own)
        decided = _said_again(working, memory, mentioned, event, fields)
        decision, reason = decided or (decision, reason)
    working.change(memory, decision, reason, **fields)


def _said_again(
    working: WorkingSet, memory: Memory, mentioned: UserMention, event: Event[Any], fields: dict[str, Any]
) -> tuple[str, str] | None:
    """Put into `fields` what it changes that the user says it; what becomes of a negation, and why, None where nothing does."""
    said = fields["user_mentions"] = newest_said((*memory.user_mentions, mentioned))
    if not memory.negations:
        return None
    fields |= negation_state(memory.negations, said)
    if not memory.is_negated:
        return None
    if fields["negated_at"] is None:
        fields["conflicts"] = contradicted(working, memory, memory.superseded_by)
        return "reaffirm", "the user said it again"
    if mentioned.own or not _would_reaffirm(memory, mentioned):
        return None
    queue = queued(memory, event)
    if queue is None:
        return "reinforce", f"mentioned; {FULL_QUEUE}"
    fields["waiting"] = queue
    return "wait", "the user negated it: that it holds again waits for him"


def _would_reaffirm(memory: Memory, mentioned: UserMention) -> bool:
    """Whether a mention would take a negation back if it were the user's own word."""
    said = newest_said((*memory.user_mentions, msgspec.structs.replace(mentioned, own=True)))
    return negation_state(memory.negations, said)["negated_at"] is None


def final_merge(working: WorkingSet, memory: Memory) -> str:
    """Id of the memory that stands for a merged one at the end of its merges."""
    while memory.merged_into is not None:
        following = working.get(memory.merged_into)
        if following is None:
            return memory.merged_into
        memory = following
    return memory.id


def _with_mention(mentions: tuple[int, ...], at: int) -> tuple[int, ...]:
    """The newest 64 mention times, ascending."""
    if not mentions or at >= mentions[-1]:
        return (*mentions, at)[-MAX_MENTIONS:]
    times = list(mentions)
    insort(times, at)
    return tuple(times[-MAX_MENTIONS:])


def revise(working: WorkingSet, data: MemoryRevised, event: Event[Any]) -> None:
    """A new version of the content. Sensitivity may rise with it, never fall: older versions stay readable.

    Of what was erased the digests tell whether the words were others.
    """
    memory = working.live(data.memory_id)
    if memory is None or waits(working, memory, event):
        return
    is_other = data.content != memory.content or (not data.content and working.statement != memory.stated)
    if is_other and (problem := refusal(working)) is not None:
        working.ignore(memory.id, problem)
        return
    until = max(memory.updated_at, working.at)
    old = Version(memory.version, memory.content, memory.summary, until, memory.revised_by, memory.stated)
    fields: dict[str, Any] = {
        "content": data.content,
        "summary": data.summary,
        "version": memory.version + 1,
        "versions": (*memory.versions, old)[-MAX_VERSIONS:],
        "updated_at": until,
        "compressed": None,
        "sensitivity": risen_by(
            memory,
            (
                data.content,
                data.summary,
                *(data.keywords or ()),
                *(data.tags or ()),
                *words_in((data.because, data.grounds, data.metadata)),
            ),
            working.level,
        ),
        "conflicts": settled(working, memory),
        "basis": revised(memory.basis, data, working.at),
        "revised_by": working.author_unless(memory),
    }
    if is_other:
        fields |= _other_words(working, memory) | {"stated": working.statement, "trust": of_words(working, memory)}
    if data.keywords is not None:
        fields["keywords"] = words(data.keywords)
    if data.tags is not None:
        fields["tags"] = data.tags
    working.change(memory, "revise", "a new version of the content", **fields)


def _other_words(working: WorkingSet, memory: Memory) -> dict[str, Any]:
    """What was granted to the former words is not granted to the new: a place in every prompt, uses that bore them out, a
    sensitivity set by hand (whose level stays the least)."""
    upkeep = memory.upkeep
    return {
        "ground": memory.ground if working.actor == "operator" else None,
        "upkeep": upkeep if upkeep is None else msgspec.structs.replace(upkeep, earned=0.0, witnessed=0.0),
        "sensitivity_set_at": None,
    }


def compress(working: WorkingSet, data: MemoryCompressed, _event: Event[Any]) -> None:
    """Records a level. Identity, core and sensitive memories are never compressed."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    if data.level != "full" and never_compressed(memory):
        working.ignore(memory.id, "never compressed: identity, core or sensitive")
        return
    fields: dict[str, Any] = {
        "level": LEVELS.index(data.level),
        "compressed": data.content,
        "level_due_at": None if data.due_at is None else micros(data.due_at),
    }
    if data.content is not None:
        fields["sensitivity"] = risen_by(memory, (data.content,), working.level)
    working.change(memory, "compress", f"level {data.level}", **fields)


def never_compressed(memory: Memory) -> bool:
    """Whether no idle time makes its level deeper (memory.md, section 6)."""
    return memory.category == "identity" or memory.tier in ("core", "system") or memory.sensitivity >= UNCOMPRESSED


def delete(working: WorkingSet, data: MemoryDeleted, event: Event[Any]) -> None:
    """Soft delete, also of what was merged into it: those are hidden with it."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    if memory.deleted_at is not None:
        working.ignore(memory.id, "deleted already")
        return
    if data.policy == "auto_cleanup" and data.due_at is not None and not _still_due(working, memory):
        working.ignore(memory.id, "no longer due: it was used since that was decided")
        return
    if waits(working, memory, event):
        return
    conflicts = settled(working, memory)
    gone = {"deleted_at": working.at, "deletion": data.policy, "deleted_by": working.author_unless(memory)}
    working.change(memory, "delete", data.policy, conflicts=conflicts, **gone)


def _still_due(working: WorkingSet, memory: Memory) -> bool:
    """Whether the law that let it go still does: an access may have come between the decision and its event."""
    if working.settings.profile == "ebbinghaus":
        return strength_at(memory, working.at, working.parameters) < working.parameters.delete_strength
    if working.settings.profile == "tiered":
        left = effective_importance(memory, working.at, working.parameters)
        return left < review_threshold_of(memory, working.parameters)
    return True


def restore(working: WorkingSet, data: MemoryRestored, _event: Event[Any]) -> None:
    """Undoes a soft delete; the level is full again, no time stamp of activity moves."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    if memory.deleted_at is None:
        working.ignore(memory.id, "not deleted")
        return
    working.change(
        memory,
        "restore",
        "a deletion was undone",
        deleted_at=None,
        deletion=None,
        deleted_by=None,
        level=FULL,
        compressed=None,
        level_due_at=None,
        restored_at=working.at if memory.restored_at is None else max(memory.restored_at, working.at),
    )


def purge(working: WorkingSet, data: MemoryPurged, _event: Event[Any]) -> None:
    """Content, summary, keywords and edges go; id, dates and lineage stay. Also of everything merged into it."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    if memory.deleted_at is None:
        working.ignore(memory.id, "not deleted")
        return
    if micros(data.due_at) > working.at:
        working.ignore(memory.id, "not due yet")
        return
    if micros(data.due_at) < memory.deleted_at + int(working.parameters.deleted_kept_days * DAY):
        working.ignore(memory.id, "not due: it was deleted later than this purge supposes")
        return
    waiting = [memory.id]
    while waiting:
        one = working.get(waiting.pop(0))
        if one is None:
            continue
        bare = without_content(one) | {"conflicts": settled(working, one)}
        working.change(one, "purge", "kept long enough after its deletion", purged_at=working.at, **bare)
        for source_id in one.merged_from:
            source = working.get(source_id)
            if source is not None and source.merged_into == one.id and source.purged_at is None:
                waiting.append(source.id)
        _forget_correction(working, one)
        for merge_id in one.unmerged_from:  # a retired merge still says what its sources said
            retired = working.get(merge_id)
            if retired is not None and retired.retired_at is not None and retired.purged_at is None:
                waiting.append(retired.id)


def _forget_correction(working: WorkingSet, purged: Memory) -> None:
    """What a memory was corrected to is told no more once the correction is purged."""
    old = working.get(purged.corrects) if purged.corrects else None
    if old is None or all(
        one.replaced_by != purged.id or not (one.reason or one.new_preference) for one in old.negations
    ):
        return
    negations = tuple(without_words(one) if one.replaced_by == purged.id else one for one in old.negations)
    working.adjust(old, negations=negations)


def erase(working: WorkingSet, data: MemoryErased, _event: Event[Any]) -> None:
    """Its words go for good, whatever became of it before. What was made of it is told by events of its own."""
    memory = working.get(data.memory_id)
    if memory is None:
        working.ignore(data.memory_id, UNKNOWN)
        return
    working.change(
        memory,
        "erase",
        "its words were erased for good",
        deleted_at=working.at if memory.deleted_at is None else memory.deleted_at,
        deletion=memory.deletion or "user_delete",
        purged_at=working.at if memory.purged_at is None else memory.purged_at,
        **(without_content(memory) | {"conflicts": settled(working, memory)}),
    )
    _forget_correction(working, memory)


def merge(working: WorkingSet, data: MemoryMerged, event: Event[Any]) -> None:
    """Creates `into` from its sources and marks them; all or nothing."""
    problem = _merge_problem(working, data) or refusal(working)
    if problem is not None:
        for memory_id in dict.fromkeys((data.into, *data.sources)):
            trouble = trouble_with(working.get(memory_id)) if memory_id != data.into else None
            working.ignore(memory_id, trouble or problem)
        return
    sources = [memory for memory in map(working.get, data.sources) if memory is not None]
    held = [source.id for source in sources if waits(working, source, event)]  # all are asked: each notes it
    if held:
        working.ignore(data.into, "waits for a person")
        return
    into = _merged(working, data, sources)
    working.create(into, "merge", f"merged from {len(sources)} memories")
    for other_id in into.conflicts:
        if other := working.get(other_id):
            working.adjust(other, conflicts=flagged(other.conflicts, into.id))
    for source in sources:
        working.change(source, "merge", f"merged into {data.into}", merged_into=data.into, merged_at=working.at)


def _merge_problem(working: WorkingSet, data: MemoryMerged) -> str | None:
    if working.get(data.into) is not None or data.into in data.sources:
        return f"{data.into} exists already: a merge needs a new id"
    for memory_id in data.sources:
        memory = working.get(memory_id)
        if trouble := trouble_with(memory):
            return f"source {memory_id}: {trouble}"
        if memory is not None and memory.deleted_at is not None:
            return f"source {memory_id} is deleted: restore it first"
    return None if len(set(data.sources)) >= 2 else "a merge needs two sources"


def _merged(working: WorkingSet, data: MemoryMerged, sources: list[Memory]) -> Memory:
    base = max(sources, key=lambda m: (m.last_activated_at, m.created_seq))
    importance = round(max(effective_importance(m, working.at, working.parameters) for m in sources), 6)
    tier = "core" if any(m.tier == "core" for m in sources) else tier_of(base.tier, importance, working.parameters)
    standing = of_merge(data.summary, sources, working.actor, tier)
    sensitivity, set_at = risen_by_merge(data.summary, sources, working.level)
    mentioned = max(sources, key=lambda m: (m.mentions[-1] if m.mentions else -(2**62), m.created_seq))
    return Memory(
        id=data.into,
        content=data.summary,
        category=base.category,
        kind=base.kind,
        tier=tier,
        source=base.source,
        speaker=base.speaker if all(m.speaker == base.speaker for m in sources) else None,
        project=base.project,
        task=base.task,
        emotion=base.emotion,
        created_at=max(m.created_at for m in sources),
        updated_at=max(m.updated_at for m in sources),
        last_activated_at=base.last_activated_at,
        last_accessed_at=max((m.last_accessed_at for m in sources if m.last_accessed_at is not None), default=None),
        stamp=max(working.at, *(m.stamp for m in sources)),
        created_seq=working.seq,
        level=SUMMARY,
        confidence=max(m.confidence for m in sources),
        importance=importance,
        sensitivity=sensitivity,
        sensitivity_set_at=set_at,
        verified=all(m.verified for m in sources),
        trust=min(ORDER[working.trust], *(m.trust for m in sources)),
        keywords=_united(sources, lambda m: m.keywords)[:MAX_WORDS],
        tags=_united(sources, lambda m: m.tags)[:MAX_WORDS],
        modalities=tuple(sorted(_united(sources, lambda m: m.modalities))),
        source_turns=_united(sources, lambda m: m.source_turns)[:MAX_TURNS],
        mention_count=sum(m.mention_count for m in sources),
        mentions=tuple(sorted(time for m in sources for time in m.mentions)[-MAX_MENTIONS:]),
        mention_boost=mentioned.mention_boost,
        user_mentions=newest_said(
            structs.replace(said, author=said.author or m.author) for m in sources for said in m.user_mentions
        ),
        access_count=sum(m.access_count for m in sources),
        reinforce_count=sum(m.reinforce_count for m in sources),
        conflicts=tuple(c for c in _united(sources, lambda m: m.conflicts) if c not in data.sources)[-MAX_CONFLICTS:],
        merged_from=data.sources,
        edges=strongest([edge for m in sources for edge in m.edges if edge.to not in data.sources]),
        session=base.session if all(m.session == base.session for m in sources) else None,
        stability=max(m.stability for m in sources),
        last_reinforced_at=max(m.last_reinforced_at for m in sources),
        changed_seq=working.seq,
        used_at=max((m.used_at for m in sources if m.used_at is not None), default=None),
        upkeep=_upkeep(sources, working.at, standing),
        schedule=max((m.schedule for m in sources if m.schedule), key=lambda s: s.graded_at, default=None),
        ground=standing.ground,
        basis=merged_basis(base, sources),
        stated=working.statement,
        by=working.by,
    )


def _upkeep(sources: Iterable[Memory], at: int, standing: MergedGround) -> Upkeep:
    """Boosts of all, so that a merge is no way around their limits; what is left of the importance is set now."""
    found = [m.upkeep for m in sources if m.upkeep is not None]
    boosts = sorted((boost for upkeep in found for boost in upkeep.boosts), key=lambda boost: boost.at)
    return Upkeep(
        limited(tuple(boosts)),
        at,
        max((u.promotion_at for u in found if u.promotion_at is not None), default=None),
        bool(found) and all(u.kept for u in found),
        standing.earned,
        standing.witnessed,
    )


def _united(sources: Iterable[Memory], part: Callable[[Memory], tuple[str, ...]]) -> tuple[str, ...]:
    """All different values of the sources, in their order."""
    return tuple(dict.fromkeys(value for memory in sources for value in part(memory)))


def unmerge(working: WorkingSet, data: MemoryUnmerged, _event: Event[Any]) -> None:
    """The sources come back as they were; `into` retires and keeps what happened to it meanwhile."""
    into = working.live(data.into)
    if into is None:
        return
    if not into.merged_from or into.retired_at is not None:
        working.ignore(into.id, "not merged" if not into.merged_from else "un-merged already")
        return
    if into.deleted_at is not None:
        working.ignore(into.id, "deleted: restore it first")
        return
    working.change(into, "unmerge", "its sources came back", retired_at=working.at, conflicts=settled(working, into))
    for source_id in into.merged_from:
        source = working.get(source_id)
        if source is not None and source.merged_into == into.id:
            left = (*source.unmerged_from, into.id)[-MAX_UNMERGED:]
            back = {"merged_into": None, "merged_at": None, "unmerged_from": left}
            basis = with_reports(source.basis, into.basis)
            working.change(source, "unmerge", f"back from {into.id}", basis=basis, **back)


FIRST_HITS = 3
"""How many of the memories shown together are associated by it."""
NO_HITS = frozenset({"association", "injection"})
"""Ways of showing by which an access makes no co-hits."""
NEVER = -(1 << 63)
"""Before every instant, in microseconds."""
ALIKE = ("used", "manual_review")
"""Outcomes that strengthen the association to the memory that led there."""


def access(working: WorkingSet, data: MemoriesAccessed, _event: Event[Any]) -> None:
    """Counts what was shown, no later than the event itself, and reinforces it once. Moves no time stamp of activity, writes
    no entry. What a person only looked at moves nothing."""
    if data.via in LOOKING:
        return
    parameters = working.parameters
    factor = parameters.reinforce_association if data.via == "association" else parameters.reinforce_recall
    for memory_id, (count, last_at) in _sums(data).items():
        memory = working.get(memory_id)
        if memory is None or memory.deleted_at is not None or trouble_with(memory):
            continue
        last = min(last_at, working.at)
        after = with_changes(
            memory,
            access_count=memory.access_count + count,
            last_accessed_at=last if memory.last_accessed_at is None else max(memory.last_accessed_at, last),
            reinforce_count=memory.reinforce_count + 1,
            stability=_steadied(working, memory, factor),
            last_reinforced_at=max(memory.last_reinforced_at, last),
            changed_seq=working.seq,
        )
        working.changed[memory_id] = risen(memory, after, working)
    pairs = (pair for group in (*data.together, *_first_hits(data)) for pair in combinations(_few(group), 2))
    all_boosted(working, pairs, parameters.co_hit_boost)


def _sums(data: MemoriesAccessed) -> dict[str, tuple[int, int]]:
    """How often each memory was shown, and when last in microseconds since 1970; as an event of version 1 says it."""
    sums: dict[str, tuple[int, int]] = {}
    for hit in data.hits:
        count, last = sums.get(hit.memory_id, (0, NEVER))
        sums[hit.memory_id] = (count + hit.count, max(last, micros(hit.last_at)))
    for one in data.accesses:
        at = micros(one.at)
        for memory_id in one.shown:
            count, last = sums.get(memory_id, (0, NEVER))
            sums[memory_id] = (count + 1, max(last, at))
    return sums


def _few(group: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(group))[:FIRST_HITS]


def _first_hits(data: MemoriesAccessed) -> list[tuple[str, ...]]:
    """What stood side by side at the top of each answer. What is only brought to mind was not hit, a further page holds no first
    hits, and what stands in a prompt was not found together: of that `together` tells."""
    if data.via in NO_HITS:
        return []
    return [one.shown[:FIRST_HITS] for one in data.accesses if one.first == 1 and len(one.shown) > 1]


def _steadied(working: WorkingSet, memory: Memory, factor: float) -> float:
    """S after a reinforcement, hours."""
    return min(max(memory.stability * factor, working.parameters.min_stability), working.parameters.max_stability)


def reinforce(working: WorkingSet, data: MemoryReinforced, _event: Event[Any]) -> None:
    """It was put to use: stability and clock, the boost of a use, the grade of a task, the way that led there."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    parameters, outcome = working.parameters, data.outcome
    failed = outcome == "task_failure"
    fields: dict[str, Any] = {
        "stability": _steadied(working, memory, getattr(parameters, f"reinforce_{outcome}")),
        "reinforce_count": memory.reinforce_count + (not failed or parameters.failure_restarts_clock),
    }
    if not failed or parameters.failure_restarts_clock:
        fields["last_reinforced_at"] = max(memory.last_reinforced_at, working.at)
    if outcome in OUTCOME_GRADES:
        fields["schedule"] = graded(memory.schedule, OUTCOME_GRADES[outcome], working.at)
    if not failed:
        fields["used_at"] = max(memory.used_at or working.at, working.at)
    reason = f"outcome {outcome}"
    if outcome == "used":
        gain, refusal = _boost(working, memory)
        if refusal is None:
            fields |= gain
        else:
            reason = f"{reason}; {refusal}"
    after = risen(memory, with_changes(memory, **fields), working)
    told = {name: getattr(after, name) for name in (*fields, "upkeep")}
    working.change(memory, "reinforce", reason, **told)
    if data.from_memory is not None and outcome in ALIKE:
        boosted(working, data.from_memory, memory.id, parameters.used_edge_boost)


def _boost(working: WorkingSet, memory: Memory) -> tuple[dict[str, Any], str | None]:
    """The importance after a use (seed 003, boost limits), or why this use does not count.

    The decayed value is taken first. One that comes late, before the last counted boost, falls within its cool-down.
    """
    parameters, at = working.parameters, working.at
    upkeep = memory.upkeep or Upkeep()
    if upkeep.boosts and at - upkeep.boosts[-1].at < int(parameters.boost_cooldown_hours * HOUR):
        return {}, "no boost: within the cool-down of the last"
    recent = tuple(boost for boost in upkeep.boosts if boost.at > at - DAY)
    room = round(parameters.boost_daily_limit - sum(boost.amount for boost in recent), 6)
    amount = min(parameters.use_boost, room)
    if amount <= 0:
        return {}, "no boost: the limit of a day is reached"
    importance = round(effective_importance(memory, at, parameters) + amount, 6)
    kept = upkeep.kept and importance < parameters.decay_review_importance
    boosts = limited((*recent, Boost(at, amount)))
    fields: dict[str, Any] = {
        "importance": importance,
        "upkeep": Upkeep(
            boosts,
            max(at, upkeep.set_at or at),
            upkeep.promotion_at,
            kept,
            round(upkeep.earned + amount, 6),
            round(upkeep.witnessed + amount, 6) if working.actor in WITNESSES else upkeep.witnessed,
        ),
    }
    fields["tier"] = tier_of(memory.tier, importance, parameters)
    return fields, None


def tier_of(tier: str, importance: float, parameters: Parameters) -> str:
    """The tier at an importance: from 3.0 on a memory is core for good."""
    return "core" if importance >= parameters.core_importance and tier in ("fact", "episode") else tier


def limited(boosts: tuple[Boost, ...]) -> tuple[Boost, ...]:
    """The newest 16, the oldest of them with what those before it added: the limit of a day counts them all."""
    if len(boosts) <= MAX_BOOSTS:
        return boosts
    older, newest = boosts[: -MAX_BOOSTS + 1], boosts[-MAX_BOOSTS + 1 :]
    return (Boost(older[-1].at, round(sum(boost.amount for boost in older), 6)), *newest)


def risen(before: Memory | None, after: Memory, working: WorkingSet) -> Memory:
    """`after`, asking for a reviewer where its effective importance rose to the promotion threshold just now."""
    threshold = working.parameters.promotion_importance
    if after.importance < threshold or after.tier not in ("fact", "episode"):
        return after
    if before is not None and effective_importance(before, working.at, working.parameters) >= threshold:
        return after
    if effective_importance(after, working.at, working.parameters) < threshold:
        return after
    upkeep = after.upkeep or Upkeep()
    return with_changes(after, upkeep=msgspec.structs.replace(upkeep, promotion_at=working.at))


def grade(working: WorkingSet, data: ReviewGraded, _event: Event[Any]) -> None:
    """A review: the schedule moves, and it counts as an access."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    last = working.at if memory.last_accessed_at is None else max(memory.last_accessed_at, working.at)
    fields: dict[str, Any] = {
        "access_count": memory.access_count + 1,
        "last_accessed_at": last,
        "schedule": graded(memory.schedule, data.grade, working.at),
    }
    after = risen(memory, with_changes(memory, **fields), working)
    working.change(memory, "review", f"graded {data.grade}", **fields, upkeep=after.upkeep)


def promote(working: WorkingSet, data: MemoryPromoted, _event: Event[Any]) -> None:
    """A reviewer's decision: another tier."""
    if memory := working.live(data.memory_id):
        ground, reason = of_promotion(memory, data.to, working.actor), f"tier {data.to}"
        if data.to in FIRM and ground is None:
            reason += "; without a ground to stand in every prompt"
        working.change(memory, "promote", reason, tier=data.to, upkeep=_answered(memory), ground=ground)


def _answered(memory: Memory) -> Upkeep | None:
    upkeep = memory.upkeep
    return None if upkeep is None else msgspec.structs.replace(upkeep, promotion_at=None)


def _who(working: WorkingSet) -> str:
    """Who keeps it: anybody may, and only some are reviewers."""
    return "a reviewer" if working.actor in REVIEWERS else f"the {working.actor}"


def keep(working: WorkingSet, data: MemoryKept, _event: Event[Any]) -> None:
    """A reviewer's decision: it stays. Asked whether to promote, nothing else changes; asked because it had decayed, it
    starts again from the review threshold, when the reviewer says so: a late answer leaves it as long as a prompt one."""
    memory = working.live(data.memory_id)
    if memory is None:
        return
    due = working.at if data.due_at is None else min(micros(data.due_at), working.at)
    upkeep = memory.upkeep or Upkeep()
    if upkeep.promotion_at is not None and data.due_at is not None and upkeep.promotion_at == due:
        working.change(memory, "keep", f"{_who(working)} kept its tier", upkeep=_answered(memory))
        return
    if effective_importance(memory, due, working.parameters) >= review_threshold_of(memory, working.parameters):
        working.change(memory, "keep", f"{_who(working)} kept it")
        return
    working.change(
        memory,
        "keep",
        f"{_who(working)} kept it: importance back to the review threshold",
        importance=working.parameters.decay_review_importance,
        upkeep=msgspec.structs.replace(upkeep, set_at=max(working.at, upkeep.set_at or working.at), kept=True),
    )
