"""What deletions leave standing of what was made of turns and memories. Pure.

A turn is retracted once every memory that is that turn is deleted by somebody, or purged. With it goes what was made of it and
of nothing that stands: typed memories, summaries, merges. What is deleted by a law's decay retracts nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from engramlog_server.projections.language.text import tokens
from engramlog_server.projections.memory.columns import Columns
from engramlog_server.projections.memory.kind import is_summary, is_turn
from engramlog_server.projections.memory.record import Memory


def turns_behind(memory: Memory) -> tuple[str, ...]:
    """Turns that state a memory: those it was made of, and those in which the user said it again."""
    mentioned_in = (mention.turn_id for mention in memory.user_mentions if mention.turn_id is not None)
    return tuple(dict.fromkeys((*memory.source_turns, *mentioned_in)))


class DeletionView:
    """An owner's memories as deletions find them: what was made of what, and what is gone already."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._standing = columns.standing().tolist()
        self._turns: dict[str, list[Memory]] = defaultdict(list)
        self._of_turn: dict[str, list[Memory]] = defaultdict(list)
        self._of_memory: dict[str, list[Memory]] = defaultdict(list)
        self._gone: set[str] = set()
        self._erased: set[str] = set()
        """Turns whose words were erased, with which nothing that was drawn from them went."""
        self._apart: set[str] = set()
        """Merges that come apart in what is being decided: their sources stand by themselves."""
        for memory, state in zip(columns.memories, self._standing, strict=True):
            self._put(memory, state)

    def _put(self, memory: Memory, state: int) -> None:
        if state >= Columns.DELETED and self._by_somebody(memory):
            self._gone.add(memory.id)
        if is_turn(memory):
            self._turns[memory.source_turns[0]].append(memory)
            if was_erased_alone(memory):
                self._erased.add(memory.source_turns[0])
        else:
            for turn in turns_behind(memory):
                self._of_turn[turn].append(memory)
        for origin in (*memory.summarises, *(memory.merged_from if memory.retired_at is not None else ())):
            self._of_memory[origin].append(memory)

    def _by_somebody(self, memory: Memory) -> bool:
        """Whether a hidden memory, or the merge that hides it, was deleted by somebody, or is purged."""
        return memory.purged_at is not None or _retracts(self._top(memory))

    def _top(self, memory: Memory) -> Memory:
        """The merge that stands for a memory; the memory itself where none does."""
        return _top(self._columns, memory, self._apart)

    def _memory(self, memory_id: str) -> Memory | None:
        row = self._columns.row(memory_id)
        return None if row is None else self._columns.memories[row]

    def _stands(self, memory: Memory) -> bool:
        """Whether a memory is neither gone nor deleted otherwise: live, retired or merged into one that is."""
        row = self._columns.row(memory.id)
        return row is not None and self._standing[row] < Columns.DELETED and memory.id not in self._gone

    def is_retracted(self, turn: str) -> bool:
        """Whether what was said in a turn is gone: all of its memories are, and it had one. Of one whose words were erased, what
        was drawn from it stays."""
        memories = None if turn in self._erased else self._turns.get(turn)
        return bool(memories) and all(memory.id in self._gone for memory in memories or ())

    def still_said_in(self, memory_id: str) -> list[str]:
        """Ids of the turns' memories that stand and say what a memory says, itself not among them."""
        memory = self._memory(memory_id)
        sayings = [saying for turn in turns_behind(memory) for saying in self._turns.get(turn, ())] if memory else []
        return [saying.id for saying in sayings if saying.id != memory_id and self._stands(saying)]

    def _sources(self, merge: Memory) -> list[Memory]:
        """Memories that a merge stands for."""
        if merge.id in self._apart:
            return []
        sources = map(self._memory, merge.merged_from)
        return [source for source in sources if source is not None and source.merged_into == merge.id]

    def reason(self, memory: Memory) -> str | None:
        """Why a memory may not stand, as things are; None where it may."""
        reason = next((f"it sums up {origin}" for origin in memory.summarises if origin in self._gone), None)
        if reason is None and memory.retired_at is not None:
            gone = (origin for origin in memory.merged_from if origin in self._gone)
            reason = next((f"it was merged from {origin}, and still says it" for origin in gone), None)
        return reason if reason is not None or is_turn(memory) else self._reason_of_turns(memory)

    def _reason_of_turns(self, memory: Memory) -> str | None:
        turns = turns_behind(memory)
        gone = [turn for turn in turns if self.is_retracted(turn)]
        if not gone:
            return None
        if is_summary(memory):
            return f"it sums up turn {gone[0]} among others"
        if memory.source_turns and len(gone) == len(turns):
            return f"made of turn {gone[0]}"
        return self._tells_more(memory)

    def _tells_more(self, memory: Memory) -> str | None:
        """Why a memory that others back too may not stand: it says words that, of its turns, only retracted ones say."""
        turns = turns_behind(memory)
        gone = [turn for turn in turns if self.is_retracted(turn)]
        backing = [self._turns.get(turn) for turn in turns if turn not in gone]
        if not gone or any(said is None for said in backing):
            return None
        kept = {word for said in backing for one in said or () for word in _words(one)}
        if not memory.source_turns:
            if not memory.versions:
                return None
            kept.update(tokens(memory.versions[0].content))
        for turn in gone:
            said = {word for one in self._turns[turn] for word in _words(one)}
            if (said & _words(memory)) - kept:
                return f"it says what only turn {turn} said"
        return None


def spared(memory: Memory) -> str | None:
    """Why a memory is never taken along, whatever it was made of; None for most. A core memory is."""
    if memory.tier == "system":
        return f"memory {memory.id} is of tier system: system memories are left alone"
    return f"memory {memory.id} is verified: name it to delete it" if memory.verified else None


def _words(memory: Memory) -> set[str]:
    """The words of everything that a memory says or said."""
    texts = [memory.content, memory.summary, memory.compressed, *memory.keywords, *memory.tags]
    texts += [text for version in memory.versions for text in (version.content, version.summary)]
    return {word for text in texts if text for word in tokens(text)}


def was_erased_alone(memory: Memory) -> bool:
    """Whether a memory that stood lost its words for good: nothing that was drawn from it went with it. Whatever is deleted first,
    and purged or erased later, takes along what was made of it."""
    return memory.purged_at is not None and memory.purged_at == memory.deleted_at


def erased_turns(columns: Columns) -> frozenset[str]:
    """Turns whose words were erased while they stood: what else was drawn from them stays."""
    rows = (columns.state == Columns.PURGED).nonzero()[0].tolist()
    gone = (columns.memories[row] for row in rows)
    return frozenset(one.source_turns[0] for one in gone if is_turn(one) and was_erased_alone(one))


def forgotten_turns(columns: Columns) -> frozenset[str]:
    """Turns that must not be told: retracted ones, those of just what was rejected, and those without a memory of which
    something deleted was made."""
    gone = _deleted(columns)
    behind = {turn for one in gone for turn in turns_behind(one)}
    if not behind:
        return rejected_turns(columns)
    said = [one for one in columns.memories if one.source_turns and one.source_turns[0] in behind and is_turn(one)]
    known, away = {one.source_turns[0] for one in said}, {one.id for one in gone}
    stands = {one.source_turns[0] for one in said if one.id not in away}
    told = known - stands
    for memory in gone:
        turns = turns_behind(memory)
        if not (is_summary(memory) and any(turn in known for turn in turns)):
            told.update(turn for turn in turns if turn not in known)
    return frozenset(told) | rejected_turns(columns)


def rejected_turns(columns: Columns) -> frozenset[str]:
    """Turns of just what was rejected."""
    rows = (columns.state == Columns.REJECTED).nonzero()[0].tolist()
    return frozenset(one.source_turns[0] for one in map(columns.memories.__getitem__, rows) if is_turn(one))


def deleted_memories(columns: Columns) -> frozenset[str]:
    """Ids of what somebody deleted, or what is purged, with what hides under it; not what faded by itself."""
    return frozenset(one.id for one in _deleted(columns))


def deleted_turns(columns: Columns) -> frozenset[str]:
    """Turns of which something was made that somebody deleted, also where they stand: no job makes anything of them again."""
    gone = (one for one in _deleted(columns) if not is_summary(one))
    return frozenset(turn for memory in gone for turn in turns_behind(memory))


def _deleted(columns: Columns) -> list[Memory]:
    """Memories that somebody deleted, or that are purged, with what hides under them; no episodes that faded by themselves."""
    rows = (columns.standing() >= Columns.DELETED).nonzero()[0].tolist()
    hidden = [columns.memories[row] for row in rows]
    hidden = [one for one in hidden if one.deletion == "user_delete" or not is_summary(one)]
    return [one for one in hidden if one.purged_at is not None or _retracts(_top(columns, one, ()))]


def _top(columns: Columns, memory: Memory, apart: Collection[str]) -> Memory:
    while memory.merged_into is not None and memory.merged_into not in apart:
        row = columns.row(memory.merged_into)
        if row is None:
            break
        memory = columns.memories[row]
    return memory


def _retracts(memory: Memory) -> bool:
    return memory.purged_at is not None or memory.deletion == "user_delete"
