"""What setting a source aside makes of an owner's records: what it said is withheld, what it did to others is undone. Pure.

Records stay as they were folded: here is how they read while a source is set aside. What was drawn from its turns
counts as of it, unless the user says it elsewhere too. Negations, revisions and merges by it count for nothing meanwhile;
a deletion stays one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from engramlog_server.projections.fold.links import negation_state
from engramlog_server.projections.memory.kind import is_turn
from engramlog_server.projections.memory.record import (
    Aside,
    Asides,
    Author,
    CorrectionEntry,
    Memory,
    UserMention,
    aside_of,
    with_changes,
)

_NOT_NEGATED: dict[str, Any] = {"negated_at": None, "resolution": None, "superseded_by": None}


class SetAside:
    """How an owner's records read while sources are set aside. Without any it costs nothing."""

    def __init__(self) -> None:
        self._asides: Asides = ()
        self._folded: dict[str, Memory] = {}
        """Every record as it was folded, since something was first set aside."""
        self._read: dict[str, Memory] = {}
        """Those that read otherwise than they were folded."""
        self._near: dict[str, set[str]] = {}
        """A memory, or a turn -> ids of what is read by it."""
        self._known: dict[str, Aside | None] = {}
        self._authors: dict[Author, Aside | None] = {}

    def follow(self, asides: Asides, changed: Sequence[Memory], others: Iterable[Memory]) -> list[Memory]:
        """How these changed records read, in their order, and then those of `others`, all the rest, that read otherwise now."""
        if not asides and not self._asides:
            return list(changed)
        if not self._asides:
            for memory in others:
                self._put(memory)
        for memory in changed:
            self._put(memory)
        if asides == self._asides:
            affected = self._reached(memory.id for memory in changed)
            for one in affected:
                self._known.pop(one, None)
        else:
            self._asides, affected = asides, self._concerned(asides) | self._read.keys()
            self._known.clear()
            self._authors.clear()
        before = {one: self._read.get(one, self._folded[one]) for one in affected if one in self._folded}
        mine = {memory.id for memory in changed}
        now = {one: self._reading(self._folded[one]) for one in before}
        return [now.get(memory.id, memory) for memory in changed] + [
            now[one] for one in before if one not in mine and now[one] is not before[one] and now[one] != before[one]
        ]

    @property
    def read_otherwise(self) -> Collection[str]:
        """Ids of what reads otherwise than it was folded."""
        return self._read.keys()

    @property
    def sets_aside(self) -> bool:
        """Whether anything ever was set aside."""
        return bool(self._asides)

    def as_folded(self, memory: Memory) -> Memory:
        """The record as it was folded."""
        return self._folded.get(memory.id, memory) if memory.id in self._read else memory

    def aside(self, memory_id: str) -> Aside | None:
        """The setting aside by which a memory is withheld; None where it is not, or there is none of that id.

        What it is made of is looked at first, one after the other: however often merges were merged again, no call is deep.
        """
        waiting, met = [memory_id], set[str]()
        while waiting:
            one = waiting[-1]
            memory = self._folded.get(one)
            if memory is None or one in self._known:
                waiting.pop()
                continue
            needed = [] if one in met else [other for other in _decided_by(memory) if other not in met]
            met.add(one)
            if needed:
                waiting += needed
            else:
                self._known[one] = self._found(memory)
                waiting.pop()
        return self._known.get(memory_id)

    def counts_not(self, author: Author, turn_id: str | None = None) -> bool:
        """Whether what this author did, perhaps for what a turn says, counts for nothing now."""
        return self._by(author) is not None or (turn_id is not None and self.aside(turn_id) is not None)

    def _by(self, author: Author) -> Aside | None:
        if author not in self._authors:
            self._authors[author] = aside_of(self._asides, author)
        return self._authors[author]

    def _put(self, memory: Memory) -> None:
        self._folded[memory.id] = memory
        for one in _read_by(memory):
            if one != memory.id:
                self._near.setdefault(one, set()).add(memory.id)

    def _concerned(self, asides: Asides) -> set[str]:
        """Ids of all that may read otherwise under these: what their sources wrote any of, and what is read by that."""
        wrote: dict[Author, bool] = {}
        found = set[str]()
        for memory in self._folded.values():
            for author in _authors_of_all(memory):
                known = wrote.get(author)
                if known is None:
                    known = wrote[author] = any(one.source.wrote(author) for one in asides)
                if known:
                    found.add(memory.id)
                    break
        found |= {one.id for one in self._folded.values() if not found.isdisjoint(one.source_turns)}
        return self._reached(found)

    def _reached(self, ids: Iterable[str]) -> set[str]:
        """These and all that is read by them."""
        found = set(ids)
        waiting = list(found)
        while waiting:
            new = self._near.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    def _found(self, memory: Memory) -> Aside | None:
        """Needs to know of all that decides it."""
        found = [self._by(one) for one in _authors_of_words(memory)]
        own = found[0] if all(found) else None
        made = [self._known.get(one) for one in _made_of(memory)]
        if own is None and made and memory.revised_by is None and (all(made) or _tells_all(memory)):
            own = next((one for one in made if one is not None), None)
        if own is None or (not _tells_all(memory) and self._user_says(memory)):
            return None
        return own

    def _user_says(self, memory: Memory) -> bool:
        """Whether the user said it again, elsewhere than it was said, and that counts."""
        return any(
            self._by(one.author or memory.author) is None and self._known.get(one.turn_id or "") is None
            for one in memory.user_mentions
            if one.turn_id not in memory.source_turns
        )

    def _counts(self, one: UserMention | CorrectionEntry, memory: Memory) -> bool:
        return not self.counts_not(one.author or memory.author, one.turn_id)

    def _reading(self, memory: Memory) -> Memory:
        found = self.aside(memory.id)
        fields: dict[str, Any] = {"aside_seq": found.seq} if found is not None else self._undone(memory)
        returned = [one.brought_at for one in self._asides if not one.stands and self._is_of(memory, one)]
        if returned:
            fields["restored_at"] = max(one for one in (memory.restored_at, *returned) if one is not None)
        read = with_changes(memory, **fields) if fields else memory
        if read is memory:
            self._read.pop(memory.id, None)
        else:
            self._read[memory.id] = read
        return read

    def _is_of(self, memory: Memory, one: Aside) -> bool:
        turns = (self._folded.get(turn) for turn in memory.source_turns)
        authors = (memory.author, *(turn.author for turn in turns if turn is not None))
        return any(map(one.source.wrote, authors))

    def _undone(self, memory: Memory) -> dict[str, Any]:
        """The fields of a memory as if what is set aside had done nothing to it."""
        fields: dict[str, Any] = {}
        said = tuple(one for one in memory.user_mentions if self._counts(one, memory))
        negations = tuple(one for one in memory.negations if self._counts(one, memory))
        if len(said) < len(memory.user_mentions):
            fields["user_mentions"] = said
        if len(negations) < len(memory.negations) or ("user_mentions" in fields and negations):
            fields |= {"negations": negations, **(negation_state(negations, said) if negations else _NOT_NEGATED)}
        facts = tuple(one for one in memory.facts if one.author is None or not self.counts_not(one.author))
        if len(facts) < len(memory.facts):
            fields["facts"] = facts
        if memory.merged_into is not None and self.aside(memory.merged_into) is not None:
            fields |= {"merged_into": None, "merged_at": None}
        if memory.versions and self._by(memory.revised_by or memory.author) is not None:
            fields |= self._former(memory)
        return fields

    def _former(self, memory: Memory) -> dict[str, Any]:
        """The newest words of a memory whose author is not set aside; nothing where there are none."""
        kept = (one for one in reversed(memory.versions) if self._by(one.author or memory.author) is None)
        last = next(kept, None)
        if last is None:  # all are set aside, and the user says it all the same
            return {}
        return {
            "content": last.content,
            "summary": last.summary,
            "stated": last.stated,
            "compressed": None,
            "keywords": (),
            "tags": (),
            "revised_by": last.author,
        }


def _authors_of_words(memory: Memory) -> Iterator[Author]:
    """Who wrote what a memory says now, and what it said before."""
    yield memory.revised_by or memory.author
    for one in memory.versions:
        yield one.author or memory.author


def _authors_of_all(memory: Memory) -> Iterator[Author]:
    """Who wrote, said, negated or asserted any of it."""
    yield memory.author
    if memory.revised_by is not None:
        yield memory.revised_by
    for each in (memory.versions, memory.user_mentions, memory.negations, memory.facts):
        for one in each:
            if one.author is not None:
                yield one.author


def _decided_by(memory: Memory) -> Iterator[str]:
    """Ids of what decides whether it is withheld."""
    yield from _made_of(memory)
    yield from (one.turn_id for one in memory.user_mentions if one.turn_id is not None)


def _made_of(memory: Memory) -> tuple[str, ...]:
    """Ids of the memories, turns among them, that a memory is made of."""
    turns = () if is_turn(memory) else memory.source_turns
    return (*turns, *memory.merged_from, *memory.summarises)


def _tells_all(memory: Memory) -> bool:
    """Whether its text has words of all that it is made of: where one of them is set aside, so is it."""
    return bool(memory.merged_from or memory.summarises) or memory.tier == "episode"


def _read_by(memory: Memory) -> Iterator[str]:
    """Ids of all that decides how it reads."""
    yield from _decided_by(memory)
    yield from (one.turn_id for one in memory.negations if one.turn_id is not None)
    if memory.merged_into is not None:
        yield memory.merged_into
