"""What has words of others, and how it reads where these may not be told any more. Pure.

A pattern, a suggestion, a question that is asked again, an episode and a merge have words of what they are made of. Records stay as
they were folded: here is how they read. What became secret takes the words of it along, at once and wherever they are told, and
so does what somebody deleted, rejected or had purged; what was made sensitive makes them as sensitive. A person who judges the
words of the account himself, after that, has the last word on them. What he says of a merge holds of what was merged into it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from engramlog_server.projections.memory.kind import has_words_of_others
from engramlog_server.projections.memory.record import Memory, with_changes
from engramlog_server.projections.memory.rejection import Rejections
from engramlog_server.projections.memory.twins import Twins
from engramlog_server.projections.views.word_levels import WordLevels, named_by


class Quoting:
    """How an owner's accounts of other memories read. Where there are none, or nothing hides its words, it costs little."""

    def __init__(self, get: Callable[[str], Memory | None], hiding: Callable[[], Iterable[Memory]]) -> None:
        """`get`: a memory as it reads now, before what changes is put; `hiding`: all whose words may be hidden, likewise."""
        self._get, self._hiding = get, hiding
        self._words = WordLevels()
        self._levels: dict[str, int] = {}
        self._read: dict[str, Memory] = {}
        """Records that read otherwise than they were given, as they were given."""
        self._quotes = False

    def follow(self, changed: Sequence[Memory]) -> list[Memory]:
        """How these changed records read, in their order, and then all others that read otherwise now, by id."""
        new = {memory.id: memory for memory in changed}
        moved = [self._put(memory, new) for memory in changed]
        before = self._levels
        if any(moved):
            self._levels = self._words.levels()
        if not before and not self._levels:
            return list(changed)
        differ = {name for name, _ in before.items() ^ self._levels.items()} - new.keys()
        others = [(now, self.as_given(now)) for name in sorted(differ) if (now := self._get(name)) is not None]
        read = [self._reading(memory) for memory in changed]
        return read + [told for now, given in others if (told := self._reading(given)) != now]

    @property
    def read_otherwise(self) -> Collection[str]:
        """Ids of what reads otherwise than it was given."""
        return self._read.keys()

    @property
    def quotes(self) -> bool:
        """Whether there is, or was, an account of others."""
        return self._quotes

    def as_given(self, memory: Memory) -> Memory:
        """The record without what this makes of it."""
        return self._read.get(memory.id, memory)

    def _put(self, memory: Memory, new: Mapping[str, Memory]) -> bool:
        """Take in a record, and what it names where that is not known: a view may have been kept without it."""
        moved = self._words.put(memory)
        if moved and (named := named_by(memory)):
            pieces = list(filter(None, map(self._get, named)))
            if not self._quotes:  # a turn whose memory has another id is found by no name
                self._quotes = True
                pieces += self._hiding()
            for piece in pieces:
                if piece.id not in new and piece.id not in self._words:
                    self._words.put(self.as_given(piece))
        return moved

    def _reading(self, given: Memory) -> Memory:
        read = at_least(given, self._levels.get(given.id, 0))
        if read is given:
            self._read.pop(given.id, None)
        else:
            self._read[given.id] = given
        return read


def all_as_told(
    memories: Mapping[str, Memory],
    fetch: Callable[[Sequence[str]], Mapping[str, Memory]],
    rejections: Callable[[], Rejections] = tuple,
) -> dict[str, Memory]:
    """How records read that lie apart, for the sake of those whose words they have.

    `fetch` brings these by ids, a few times at most; `rejections` are the owner's, asked for where there is an account at all.
    A turn whose memory has another id is known only where it is among `memories`.
    """
    known, wanted = dict(memories), _behind(memories.values())
    if not wanted:
        return known
    met = set(known)
    while wanted := wanted - met:
        met |= wanted
        found = fetch(sorted(wanted))
        known.update(found)
        wanted = _behind(found.values())
    words = WordLevels()
    for one in Twins(known.get).follow(rejections(), list(known.values()), lambda _keys: ()):
        words.put(one)
    levels = words.levels()
    return {name: at_least(one, levels.get(name, 0)) for name, one in memories.items()}


def _behind(memories: Iterable[Memory]) -> set[str]:
    return {name for one in memories if has_words_of_others(one) for name in named_by(one)}


def at_least(memory: Memory, level: int) -> Memory:
    """The record, no less sensitive than that."""
    return memory if level <= memory.sensitivity else with_changes(memory, sensitivity=level)
