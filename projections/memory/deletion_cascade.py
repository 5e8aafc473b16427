"""What goes with a memory that somebody deletes, and what comes back with one that is restored. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from engramlog_server.projections.memory.deletion_view import DeletionView, spared
from engramlog_server.projections.memory.kind import is_summary, is_turn
from engramlog_server.projections.memory.record import Memory


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
