"""What goes with a memory that is deleted, what comes back with one that is restored, and what deletions leave standing. Pure.

A turn is retracted once every memory that is that turn is deleted by somebody, or purged. With it goes what was made of it and
of nothing that stands: typed memories, summaries, merges. What is deleted by a law's decay retracts nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

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


class Taken(NamedTuple):
    """A memory that goes with another."""

    id: str
    reason: str
    apart: bool = False
    """A merge that goes while some of its sources stay: it is un-merged first."""


class LeftMemory(NamedTuple):
    """A memory that stays, and why."""

    id: str
    reason: str


class Taking(NamedTuple):
    """What the deletion of one memory means for others."""

    also: tuple[Taken, ...]
    """In the order in which they are to be deleted."""
    left: tuple[LeftMemory, ...]
    """Made of it, and left alone."""


class DeletionCascade(DeletionView):
    """Takes one memory after the other away, or brings one back; each after what was taken before it."""

    def take(self, memory_id: str, *, with_sources: bool = False) -> Taking:
        """What goes with one memory, after what was taken before it. `with_sources`: the turns that say it go too."""
        going, left = dict[str, Taken](), dict[str, LeftMemory]()
        waiting = [memory_id]
        if with_sources:
            for source in map(self._memory, self.still_said_in(memory_id)):
                assert source is not None
                if (reason := spared(source) or self._hidden(source)) is not None:
                    left[source.id] = LeftMemory(source.id, reason)
                else:
                    going[source.id] = Taken(source.id, f"it says what {memory_id} says")
                    waiting.append(source.id)
        while waiting:
            self._spread(list(self._go(waiting.pop(0))), going, left, waiting)
        return Taking(tuple(going.values()), tuple(left.values()))

    def missed(self, memory_id: str) -> tuple[Taken, ...]:
        """What should have gone with a memory that is gone already: what was made of it since that was looked for."""
        going, left, waiting = dict[str, Taken](), dict[str, LeftMemory](), list[str]()
        if memory_id not in self._gone:
            return ()
        self._spread([memory_id, *(source.id for source in self._below(memory_id))], going, left, waiting)
        while waiting:
            self._spread(list(self._go(waiting.pop(0))), going, left, waiting)
        return tuple(going.values())

    def hidden_with(self, memory_ids: Iterable[str]) -> list[str]:
        """What was merged into these, however deep, each once: hidden with them, and there again with them."""
        return list(dict.fromkeys(source.id for one in memory_ids for source in self._below(one)))

    def _spread(
        self, gone: list[str], going: dict[str, Taken], left: dict[str, LeftMemory], waiting: list[str]
    ) -> None:
        """What was made of memories that just went goes too, or is left alone."""
        for top in dict.fromkeys(self._top(one).id for one in self._made_of(gone)):
            self._judge(top, going, left, waiting)

    def _hidden(self, memory: Memory) -> str | None:
        into = memory.merged_into
        return None if into is None else f"merged into {into}, which says more than that: name it to delete it"

    def _go(self, memory_id: str) -> Iterator[str]:
        """A memory goes, and what was merged into it is hidden with it."""
        waiting = [memory_id]
        while waiting:
            memory = self._memory(waiting.pop())
            if memory is None or memory.id in self._gone:
                continue
            self._gone.add(memory.id)
            yield memory.id
            waiting += [source.id for source in self._sources(memory)]

    def _leaves(self, merge: Memory) -> list[Memory]:
        """What a merge and the merges in it were made of."""
        leaves, waiting = [], self._sources(merge)
        while waiting:
            source = waiting.pop(0)
            below = self._sources(source)
            waiting += below
            leaves += [] if below else [source]
        return leaves

    def _made_of(self, gone: Iterable[str]) -> list[Memory]:
        """What was made of memories that just went, oldest first."""
        products: dict[str, Memory] = {}
        for memory in filter(None, map(self._memory, gone)):
            made = list(self._of_memory.get(memory.id, ()))
            turn = memory.source_turns[0] if is_turn(memory) else None
            if turn is not None and self.is_retracted(turn):
                made += self._of_turn.get(turn, ())
            products.update((product.id, product) for product in made if self._stands(product))
        return sorted(products.values(), key=lambda product: (product.created_seq, product.id))

    def _judge(self, memory_id: str, going: dict[str, Taken], left: dict[str, LeftMemory], waiting: list[str]) -> None:
        """Whether a memory that stands goes too; of a merge perhaps only some of its sources."""
        memory = self._memory(memory_id)
        if memory is None or memory.id in going or not self._stands(memory):
            return
        leaves = self._leaves(memory)
        reasons: dict[str, str] = {}
        for source in leaves or [memory]:
            if (reason := self.reason(source)) is None:
                continue
            if (why := spared(source)) is None:
                reasons[source.id] = reason
            else:
                left[source.id] = LeftMemory(source.id, why)
        whole = self._tells_more(memory) if leaves and not reasons else None
        if not reasons and whole is None:
            return
        if (why := spared(memory)) is not None:
            left[memory.id] = LeftMemory(memory.id, why)
            return
        if not leaves or len(reasons) == len(leaves):
            _take([Taken(memory.id, next(iter(reasons.values())))], going, waiting)
            return
        first = whole or f"merged from {next(iter(reasons))}: what else it was merged from comes back"
        apart = self._chain(memory, reasons)
        self._apart.update(part.id for part in apart)
        taken = [Taken(part.id, first, True) for part in apart]
        _take([*taken, *(Taken(source_id, reason) for source_id, reason in reasons.items())], going, waiting)

    def _chain(self, merge: Memory, going: Collection[str]) -> list[Memory]:
        """The merge and those in it that must come apart so that these sources can go, the outermost first."""
        chain, waiting = [], [merge]
        while waiting:
            part = waiting.pop(0)
            if part is merge or any(leaf.id in going for leaf in self._leaves(part)):
                chain.append(part)
                waiting += [below for below in self._sources(part) if below.merged_from]
        return chain

    def returning(self, memory_id: str, along: Collection[str]) -> tuple[list[str], list[LeftMemory]]:
        """Which memories come back with one that is restored, and which do not, of those that deletions took along."""
        self._gone.discard(memory_id)
        self._gone.difference_update(memory.id for memory in self._below(memory_id))
        waiting = [memory for memory in map(self._memory, along) if memory is not None]
        returned: list[str] = []
        while True:
            back = [memory for memory in waiting if self._why_not_back(memory) is None]
            if not back:
                break
            for memory in back:
                returned.append(memory.id)
                self._gone.discard(memory.id)
                self._gone.difference_update(below.id for below in self._below(memory.id))
            waiting = [memory for memory in waiting if memory not in back]
        return returned, [LeftMemory(memory.id, self._why_not_back(memory) or "") for memory in waiting]

    def _below(self, memory_id: str) -> list[Memory]:
        memory = self._memory(memory_id)
        below, waiting = [], [] if memory is None else self._sources(memory)
        while waiting:
            source = waiting.pop()
            below.append(source)
            waiting += self._sources(source)
        return below

    def _why_not_back(self, memory: Memory) -> str | None:
        if is_summary(memory):
            for turn in memory.source_turns:
                for other in self._of_turn.get(turn, ()):
                    anew = other.created_seq > memory.changed_seq
                    if anew and is_summary(other) and self._stands(other):
                        return f"{other.id} has been made anew of its turns"
        leaves = [self.reason(one) for one in self._leaves(memory)]
        return self.reason(memory) if not leaves else next((one for one in leaves if one is not None), None)


def _take(taken: Iterable[Taken], going: dict[str, Taken], waiting: list[str]) -> None:
    for memory in taken:
        going.setdefault(memory.id, memory)
        waiting.append(memory.id)
