"""What has words of others, and how it reads where these may not be told any more. Pure.

A pattern, a suggestion, a question that is asked again, an episode and a merge have words of what they are made of. Records stay as
they were folded: here is how they read. What became secret takes the words of it along, at once and wherever they are told, and
so does what somebody deleted, rejected or had purged; what was made sensitive makes them as sensitive. A person who judges the
words of the account himself, after that, has the last word on them. What he says of a merge holds of what was merged into it.

The sensitivity of such accounts is found from what hides its words, upwards: each such memory reaches the accounts of it, and
accounts of these, until somebody judged one later. Whatever is reached is looked at once for each level, so a chain costs its
length.

While a source is set aside, what it said is withheld and what it did to others is undone. What was drawn from its turns counts as
of it, unless the user says it elsewhere too. Negations, revisions and merges by it count for nothing; a deletion stays one.

Of any past is hidden what is purged or secret today. The index by which the rows of a view are found stands here too
(`SearchedTexts`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from engramlog_server.projections.fold.links import negation_state
from engramlog_server.projections.index.search_index import Bm25Index, Scores, TermSequence
from engramlog_server.projections.laws.law import Floats
from engramlog_server.projections.memory.columns import Columns, Flags, Rows
from engramlog_server.projections.memory.kind import has_words_of_others, is_summary, is_turn
from engramlog_server.projections.memory.record import (
    SECRET,
    Aside,
    Asides,
    Author,
    CorrectionEntry,
    Memory,
    UserMention,
    aside_of,
    with_changes,
    without_content,
)
from engramlog_server.projections.memory.rejection import Rejections, Twins


def hidden_in(memories: Iterable[Memory]) -> dict[str, Memory]:
    """Those of these records of which no past may show the content either: purged ones and secrets."""
    return {memory.id: memory for memory in memories if memory.purged_at is not None or memory.sensitivity >= SECRET}


def hides_today(columns: Columns) -> Flags:
    """By row: whether no past may show the content."""
    hides: Flags = (columns.sensitivity >= SECRET) | (columns.state == Columns.PURGED)
    return hides


def hidden_ids(columns: Columns) -> list[str]:
    """Ids of these, in the order of rows; of a view, without reading the other records."""
    return _ids(columns, hides_today(columns))


def purged_ids(columns: Columns) -> list[str]:
    """The same of those that are purged."""
    return _ids(columns, columns.state == Columns.PURGED)


def _ids(columns: Columns, which: Flags) -> list[str]:
    rows: Rows = np.flatnonzero(which)
    return [columns.memories[row].id for row in rows.tolist()]


def as_hidden_today(memory: Memory, today: Memory) -> Memory:
    """A record of the past, of which today's record hides the content: a secret, or a tombstone where it was purged."""
    if today.purged_at is None:
        return with_changes(memory, sensitivity=SECRET)
    gone = {"deleted_at": today.deleted_at, "purged_at": today.purged_at}
    return with_changes(memory, **without_content(memory), **gone)


Unsaid = Callable[[], Iterable[tuple[str, TermSequence]]]


class Weighing(NamedTuple):
    """The parameters of BM25."""

    k1: float = 1.2
    b: float = 0.75


PLAIN_WEIGHING = Weighing()


class SearchedTexts:
    """The texts of rows of columns. Not for two threads at once."""

    columns: Columns

    def __init__(self) -> None:
        self._texts = Bm25Index()
        self._unsaid: Unsaid | None = None
        """What of a past is to be put into the index yet."""

    @property
    def _index(self) -> Bm25Index:
        """The index; what is not in it yet is read when it is first asked."""
        if self._unsaid is not None:
            unsaid, self._unsaid = self._unsaid, None
            self._texts.put_said(unsaid())
        return self._texts

    def coverage(self, query: str, rows: Rows) -> Floats:
        """Share in [0, 1] of the query's different terms that each of these rows holds, shape (len(rows),)."""
        return self._index.coverage(query, [self.columns.memories[int(row)].id for row in rows])

    def matches(self, query: str) -> Scores:
        """Rows that share a term with the query, with their BM25 scores."""
        self._index.weigh(*PLAIN_WEIGHING)
        return self._index.scores(query)

    def explain(self, query: str, memory_ids: Sequence[str]) -> list[dict[str, float]]:
        """What each term of the query brought to each memory's BM25 score; the values add up to it."""
        self._index.weigh(*PLAIN_WEIGHING)
        return self._index.explain_all(query, memory_ids)

    def matches_of(self, terms: Mapping[str, float], weighing: Weighing) -> Scores:
        """`matches` of a query that has each term so many times, under parameters of its own."""
        self._index.weigh(*weighing)
        return self._index.scores_of(terms)

    def explain_of(
        self, terms: Mapping[str, float], memory_ids: Sequence[str], weighing: Weighing
    ) -> list[dict[str, float]]:
        """`explain` of such a query."""
        self._index.weigh(*weighing)
        return self._index.explain_of(terms, memory_ids)

    def terms_beginning(self, prefix: str, most: int) -> list[str]:
        """Terms of what search reads that begin so, at most so many."""
        return self._index.terms_beginning(prefix, most)

    def idf(self, term: str) -> float:
        """How rare a term is in what search reads, above 0."""
        return self._index.idf(term)

    @property
    def mean_length(self) -> float:
        """Mean length, in tokens, of what search reads."""
        return self._index.mean_length


_UNJUDGED = -1


class _Part(NamedTuple):
    """What of a record decides, where it is an account or hides its words."""

    level: int
    set_at: int | None
    purged: bool
    rejected: bool
    deleted: bool
    """By whomever."""
    taken: bool
    """Deleted by somebody; what fades by itself leaves its account behind."""
    account: bool
    pieces: tuple[str, ...]
    turns: tuple[str, ...]
    merges: tuple[str, ...]
    turn: str | None
    """The turn that it is."""

    @property
    def since(self) -> float:
        """A judgement of before this leaves its words hidden."""
        gone = self.purged or self.rejected or self.taken
        return inf if gone else _UNJUDGED if self.set_at is None else self.set_at


class _Source(NamedTuple):
    """A memory that hides its words, and how."""

    level: int
    lasting: bool
    """Whether also of an account that is deleted itself: that reads as any deleted memory, until its piece is purged."""
    since: float
    name: str
    as_turn: bool
    """Whether episodes of it hide it too: they leave out what rules find."""


class WordLevels:
    """The accounts among some records, and what hides words of theirs."""

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = {}
        self._accounts = 0
        self._of: dict[str, set[str]] = {}
        """A memory -> ids of what summarises or joins it."""
        self._of_turn: dict[str, set[str]] = {}
        """A turn -> ids of summaries that tell it."""
        self._merged: dict[str, set[str]] = {}
        """A merge -> ids of what was merged into it, also where they came apart."""

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._parts

    @property
    def accounts(self) -> int:
        """How many there are."""
        return self._accounts

    def put(self, memory: Memory) -> bool:
        """Take in a record; whether levels may be others now."""
        before, now = self._parts.get(memory.id), _part_of(memory)
        if before == now:
            return False
        if before is not None:
            self._link(memory.id, before, there=False)
            del self._parts[memory.id]
        if now is not None:
            self._parts[memory.id] = now
            self._link(memory.id, now, there=True)
        return any(one is not None and (one.account or self._counts(memory.id, one)) for one in (before, now))

    def levels(self) -> dict[str, int]:
        """Account -> how sensitive its words are for the sake of others, above 0."""
        found: dict[str, int] = {}
        if not self._accounts:
            return found
        sources: dict[tuple[int, bool], list[_Source]] = defaultdict(list)
        for source in self._sources(found):
            sources[source.level, source.lasting].append(source)
        for some in sources.values():
            self._climb(sorted(some, key=lambda one: -one.since), found)
        return found

    def _link(self, name: str, part: _Part, *, there: bool) -> None:
        self._accounts += part.account * (1 if there else -1)
        for links, ends in ((self._of, part.pieces), (self._of_turn, part.turns), (self._merged, part.merges)):
            for end in ends:
                if there:
                    links.setdefault(end, set()).add(name)
                elif end in links:
                    links[end].discard(name)

    def _counts(self, name: str, part: _Part) -> bool:
        return name in self._of or name in self._of_turn or part.turn in self._of_turn or name in self._merged

    def _sources(self, found: dict[str, int]) -> Iterator[_Source]:
        """All that hides words of its own, and what was merged into what a person made sensitive, which is put in `found`."""
        judged = []
        for name, part in self._parts.items():
            if not self._counts(name, part):
                continue
            if part.level:
                by_hand = part.set_at is not None
                yield _Source(part.level, True, part.since, name, by_hand)
                if by_hand:
                    judged.append(_Source(part.level, True, part.since, name, True))
            if part.purged or part.rejected:
                yield _Source(SECRET, True, inf, name, part.purged)
            elif part.taken:
                yield _Source(SECRET, False, inf, name, True)
        yield from self._descend(sorted(judged, key=lambda one: -one.since), found)

    def _descend(self, judged: Iterable[_Source], found: dict[str, int]) -> Iterator[_Source]:
        """What was merged into these, however deep, and not judged alone since."""
        met = set[tuple[int, str]]()
        for source in judged:
            waiting = [source.name]
            while waiting:
                for name in self._merged.get(waiting.pop(), ()):
                    if (source.level, name) in met:
                        continue
                    met.add((source.level, name))
                    waiting.append(name)
                    if not self._judged(name, source.since):
                        found[name] = max(found.get(name, 0), source.level)
                        yield source._replace(name=name)

    def _climb(self, sources: Iterable[_Source], found: dict[str, int]) -> None:
        """What has words of these, however far above. All have one level; those of the latest judgement come first."""
        met = set[str]()
        for source in sources:
            waiting = [(source.name, source.as_turn)]
            while waiting:
                for name in self._above(*waiting.pop()):
                    if name in met or self._judged(name, source.since):
                        continue
                    met.add(name)
                    waiting.append((name, True))
                    if source.lasting or not self._parts[name].deleted:
                        found[name] = max(found.get(name, 0), source.level)

    def _above(self, name: str, as_turn: bool) -> Iterator[str]:
        yield from self._of.get(name, ())
        if as_turn:
            yield from self._of_turn.get(name, ())
            turn = self._parts[name].turn
            if turn is not None and turn != name:
                yield from self._of_turn.get(turn, ())

    def _judged(self, name: str, since: float) -> bool:
        """Whether a person said how sensitive its words are, later than that. Of two at one time the stricter counts."""
        set_at = self._parts[name].set_at
        return set_at is not None and set_at > since


def named_by(memory: Memory) -> tuple[str, ...]:
    """Ids of what a record has words of, and of what has its words since they were merged."""
    return (*words_named(memory), *turns_told(memory))


def words_named(memory: Memory) -> tuple[str, ...]:
    """The same without the turns of which it tells."""
    return (*_pieces(memory), *_merges(memory))


def turns_told(memory: Memory) -> tuple[str, ...]:
    """Turns of which a record tells as a summary."""
    return memory.source_turns if is_summary(memory) else ()


def _part_of(memory: Memory) -> _Part | None:
    account = has_words_of_others(memory)
    purged, rejected = memory.purged_at is not None, memory.rejected_seq is not None
    deleted = memory.deleted_at is not None
    taken = deleted and memory.deletion == "user_delete"
    if not (account or memory.sensitivity or purged or rejected or taken):
        return None
    return _Part(
        memory.sensitivity,
        memory.sensitivity_set_at,
        purged,
        rejected,
        deleted,
        taken,
        account,
        _pieces(memory),
        turns_told(memory),
        _merges(memory),
        memory.source_turns[0] if is_turn(memory) else None,
    )


def _pieces(memory: Memory) -> tuple[str, ...]:
    """Ids of what it summarises or joins."""
    return (*memory.summarises, *memory.merged_from)


def _merges(memory: Memory) -> tuple[str, ...]:
    """Ids of what has its words since it was merged, also where they came apart again."""
    return memory.unmerged_from if memory.merged_into is None else (memory.merged_into, *memory.unmerged_from)


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
