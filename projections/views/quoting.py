"""What has words of others, and how it reads where these may not be told any more. Pure.

A pattern, a suggestion, a question that is asked again, an episode and a merge have words of what they are made of. Records stay as
they were folded: here is how they read. What became secret takes the words of it along, at once and wherever they are told, and
so does what somebody deleted, rejected or had purged; what was made sensitive makes them as sensitive. A person who judges the
words of the account himself, after that, has the last word on them. What he says of a merge holds of what was merged into it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from projections.memory.kind import has_words_of_others, is_summary
from projections.memory.record import SECRET, Memory, with_changes


class Quoting:
    """How an owner's accounts of other memories read. Where there are none it costs nothing."""

    def __init__(self, get: Callable[[str], Memory | None]) -> None:
        """`get`: a memory as it reads now, before what changes is put."""
        self._get = get
        self._by: dict[str, set[str]] = {}
        """A memory -> ids of what has words of it."""
        self._accounts: set[str] = set()
        """Ids of what ever had words of others."""
        self._read: dict[str, Memory] = {}
        """Records that read otherwise than they were given, as they were given."""

    def follow(self, changed: Sequence[Memory]) -> list[Memory]:
        """How these changed records read, in their order, and then all others that read otherwise now."""
        new = {memory.id: memory for memory in changed}
        accounts = [memory for memory in changed if memory.id in self._accounts or has_words_of_others(memory)]
        if not accounts and not self._by:
            return list(changed)
        affected = {memory.id for memory in accounts}
        for memory in accounts:
            self._put(memory)
        affected |= self._reached(memory.id for memory in changed if memory.id in self._by and self._hides_else(memory))
        before = {name: self._get(name) for name in affected if name not in new}
        now = {name: one for name in affected if (one := self._reading(name, new)) is not None}
        others = [one for name, one in now.items() if name not in new and one != before[name]]
        return [now.get(memory.id, memory) for memory in changed] + others

    @property
    def read_otherwise(self) -> Collection[str]:
        """Ids of what reads otherwise than it was given."""
        return self._read.keys()

    @property
    def quotes(self) -> bool:
        """Whether there is an account of others."""
        return bool(self._accounts)

    def as_given(self, memory: Memory) -> Memory:
        """The record without what this makes of it."""
        return self._read.get(memory.id, memory)

    def _put(self, memory: Memory) -> None:
        self._accounts.add(memory.id)
        for one in (*_pieces(memory), *_merges(memory)):
            self._by.setdefault(one, set()).add(memory.id)

    def _hides_else(self, memory: Memory) -> bool:
        """Whether a changed memory hides its words otherwise than before."""
        before = self._get(memory.id)
        return before is None or _state(self.as_given(before)) != _state(memory)

    def _reached(self, ids: Iterable[str]) -> set[str]:
        """All that has words of these, or of what has."""
        found, waiting = set[str](), list(ids)
        while waiting:
            more = self._by.get(waiting.pop(), set()) - found
            found |= more
            waiting += more
        return found

    def _reading(self, name: str, new: dict[str, Memory]) -> Memory | None:
        memory = self._given(name, new)
        if memory is None:
            return None
        read = as_told(memory, lambda other: self._given(other, new))
        if read is memory:
            self._read.pop(name, None)
        else:
            self._read[name] = memory
        return read

    def _given(self, name: str, new: dict[str, Memory]) -> Memory | None:
        memory = new.get(name)
        if memory is None and (now := self._get(name)) is not None:
            memory = self.as_given(now)
        return memory


Get = Callable[[str], Memory | None]


def as_told(memory: Memory, get: Get) -> Memory:
    """How a record reads for the sake of those whose words it has. `get`: others, as they are by themselves."""
    level = _level(memory, get) if has_words_of_others(memory) else 0
    return memory if level <= memory.sensitivity else with_changes(memory, sensitivity=level)


def all_as_told(
    memories: Mapping[str, Memory], fetch: Callable[[Sequence[str]], Mapping[str, Memory]]
) -> dict[str, Memory]:
    """The same of records that lie apart: `fetch` brings by ids what they have words of, a few times at most."""
    known, wanted = dict(memories), _behind(memories.values())
    met = set(known)
    while wanted := wanted - met:
        met |= wanted
        found = fetch(sorted(wanted))
        known.update(found)
        wanted = _behind(found.values())
    return {name: as_told(one, known.get) for name, one in memories.items()}


def _behind(memories: Iterable[Memory]) -> set[str]:
    return {name for one in memories if has_words_of_others(one) for name in (*_pieces(one), *_merges(one))}


def _pieces(memory: Memory) -> tuple[str, ...]:
    """Ids of what it has words of: what it summarises or joins, and turns of which a summary tells."""
    turns = memory.source_turns if is_summary(memory) else ()
    return tuple(dict.fromkeys((*memory.summarises, *memory.merged_from, *turns)))


def _merges(memory: Memory) -> tuple[str, ...]:
    """Ids of what has its words since it was merged, also where they came apart again."""
    return memory.unmerged_from if memory.merged_into is None else (memory.merged_into, *memory.unmerged_from)


def _level(account: Memory, get: Get) -> int:
    """How sensitive its words are for the sake of all that it is made of, however far behind."""
    level, met, waiting = _level_of_merges(account, get), {account.id}, [account]
    while waiting and level < SECRET:
        one = waiting.pop()
        for name in _pieces(one):
            piece = None if name in met else get(name)
            if piece is None:
                continue
            met.add(name)
            if not _judged_since(one, piece):
                level = max(level, _hides(one, piece, deleted=account.deleted_at is not None))
                waiting.append(piece)
    return level


def _level_of_merges(account: Memory, get: Get) -> int:
    """What a person said of what it was merged into."""
    level, met, waiting = 0, {account.id}, [account]
    while waiting and level < SECRET:
        one = waiting.pop()
        for name in _merges(one):
            into = None if name in met else get(name)
            if into is None:
                continue
            met.add(name)
            if into.sensitivity_set_at is not None and not _judged_since(account, into):
                level = max(level, into.sensitivity)
            waiting.append(into)
    return level


def _hides(account: Memory, piece: Memory, *, deleted: bool) -> int:
    """The level of the words that an account has of a piece.

    Of a turn an episode has left out what rules find, so only what a person said of it later counts. Where all is `deleted` that
    is told of it, it reads as any deleted memory does until it is purged.
    """
    if piece.id in account.summarises or piece.id in account.merged_from:
        gone = _is_gone(piece) and not (deleted and piece.purged_at is None and piece.rejected_seq is None)
        return SECRET if gone else piece.sensitivity
    return SECRET if piece.purged_at is not None else piece.sensitivity if piece.sensitivity_set_at is not None else 0


def _is_gone(memory: Memory) -> bool:
    """Whether somebody had it taken away; what fades by itself leaves its account behind."""
    deleted = memory.deleted_at is not None and memory.deletion == "user_delete"
    return deleted or memory.purged_at is not None or memory.rejected_seq is not None


def _judged_since(account: Memory, piece: Memory) -> bool:
    """Whether a person said how sensitive the account's words are, later than of the piece's, which still stands."""
    if account.sensitivity_set_at is None or _is_gone(piece):
        return False
    return (piece.sensitivity_set_at or 0) <= account.sensitivity_set_at


def _state(memory: Memory) -> tuple[int, int | None, bool, bool]:
    return memory.sensitivity, memory.sensitivity_set_at, _is_gone(memory), memory.purged_at is not None
