"""A view: one owner's memories as columns and a text index, with what is needed to bring it forward.

Records are also read next to each other: twins of what was negated or rejected, what is set aside, and words of others that may
not be told.

Keywords of a memory, those it was given and then those its own text has, are derived when read, never folded: a better word
list or segmenter reaches old memories without a rebuild.

A moment of an owner's past (`Moment`) shares with the present what serves for both: most memories that there were then say the
same words today, so their terms, their place in the talk and, where nothing touched them since, their records and columns are
those of today. Only the others are read. Nothing is shared that a view changes when it goes on, so the moment outlives the
present that it was made of.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from sys import getsizeof
from typing import NamedTuple, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from engramlog_server.events.envelope import Naming, Stored
from engramlog_server.events.trust import ASSERTED, IMPORTED, TRUSTS
from engramlog_server.projections.checks import UNBOUNDED, Bounds, Check, counted, unchecked
from engramlog_server.projections.embedding.choosing import VectorsCompared
from engramlog_server.projections.embedding.meaning import KnownVectors
from engramlog_server.projections.fold.changelog import Entry
from engramlog_server.projections.fold.owner import OwnerHistory, OwnerState, fold_on, parameters_of
from engramlog_server.projections.index.associations import AssociationIndex
from engramlog_server.projections.index.conversation_index import NONE, ConversationIndex, KeptConversation, talk_then
from engramlog_server.projections.index.correction_index import CorrectionIndex
from engramlog_server.projections.index.meaning_index import MeaningIndex
from engramlog_server.projections.index.search_index import (
    Bm25Index,
    TermSequence,
    has_text,
    indexed_terms,
    indexed_text,
)
from engramlog_server.projections.language.keywords import (
    LEAST_WEIGHT,
    MOST_KEYWORDS,
    Keyword,
    Source,
    extracted,
    folded,
)
from engramlog_server.projections.language.kin import Somebody, people_in
from engramlog_server.projections.language.synonyms import Pair
from engramlog_server.projections.laws import LAWS, Law
from engramlog_server.projections.memory.columns import Columns, Flags, Graph, Rows, conflict_of, state_of, triples_of
from engramlog_server.projections.memory.record import SECRET, Memory, decode_memory, encode_memory, words_of
from engramlog_server.projections.memory.rejection import TURN_BYTES, Twins, is_decisive
from engramlog_server.projections.memory.tags import TAGS, Context, context_of
from engramlog_server.projections.past.moments import KeptMemories
from engramlog_server.projections.views.quoting import (
    Quoting,
    SearchedTexts,
    SetAside,
    Unsaid,
    as_hidden_today,
    hidden_in,
    hides_today,
    purged_ids,
)

_PAGE = 1_000
_READ_FOR_A_FOLDED = 3
"""Records that are decoded and read into columns in the time in which an event is folded."""


class Present(NamedTuple):
    """What a view of today tells of itself; by its rows."""

    columns: Columns
    read_otherwise: Collection[str]
    """Ids of records that read otherwise than they were folded."""
    texts: Bm25Index
    talk: KeptConversation | None
    """A copy; None where the talk was never asked for."""
    bearing: Sequence[int] | None
    """Rows that decide what is corrected; None where that was never asked."""


class Moment:
    """The records of a moment, by row in their order, and what stands of them as today. Asked before the present moves on."""

    def __init__(
        self, memories: Mapping[str, Memory], present: Present, bounds: Bounds, *, secrets: bool = False
    ) -> None:
        """`secrets`: what became secret since has its words."""
        self.ids = list(memories)
        now = self._now = present
        self._rows: Rows = now.columns.rows(self.ids)
        """By row: that of today, or NONE."""
        self._hidden: Flags = np.append(hides_today(now.columns), False)[self._rows]
        """By row: whether today hides the content."""
        differing = self._differing(memories, bounds.check)
        bounds.weigh(len(differing) // _READ_FOR_A_FOLDED)
        passed = counted(differing, bounds.check, len(differing))
        self._others = {row: _record(memories, self.ids[row]) for row in passed}
        """The records of rows that do not stand as today."""
        today = now.columns.memories
        self.records = [
            self._others[row] if row in self._others else today[at] for row, at in enumerate(self._rows.tolist())
        ]
        for row in np.flatnonzero(self._hidden).tolist():
            known = today[self._rows[row]]
            if not secrets or known.purged_at is not None:
                self.records[row] = self._others[row] = as_hidden_today(self._others[row], known)

    def _differing(self, then: Mapping[str, Memory], check: Check) -> list[int]:
        """Rows whose record is another than today's, is hidden today, or reads otherwise today than it was folded."""
        columns = self._now.columns
        apart = np.zeros(len(columns) + 1, dtype=bool)
        apart[columns.rows(self._now.read_otherwise)] = apart[NONE] = True
        beside = apart[self._rows] | self._hidden
        told, found = zip(self.ids, self._rows.tolist(), beside.tolist(), strict=True), list[int]()
        for row, (memory_id, at, other) in enumerate(told):
            if row % _PAGE == 0:
                check(row, len(self.ids))
            if other or not _is(then, memory_id, columns.memories[at]):
                found.append(row)
        return found

    def columns(self) -> Columns:
        """Columns of the records as they were folded."""
        found = Columns.of_others(self.ids, self.records, self._now.columns, self._rows)
        found.fill_rows(self._others)
        return found

    def read(self, columns: Columns, memories: Iterable[Memory]) -> None:
        """How some of the records read beside others then."""
        read = dict[int, Memory]()
        for memory in memories:
            row = columns.row(memory.id)
            if row is not None and memory != self.records[row]:
                read[row] = self.records[row] = memory
        columns.fill_rows(read)
        self._others |= read

    def worded(self) -> Rows:
        """Those of the other rows that say the same words as today."""
        memories, others = self._now.columns.memories, list(self._others)
        may = (~self._hidden & (self._rows != NONE))[others].tolist()
        told = zip(others, self._others.values(), may, self._rows[others].tolist(), strict=True)
        found = [
            row for row, then, may, at in told if may and has_text(then) and words_of(then) == words_of(memories[at])
        ]
        return np.array(found, dtype=np.int64)

    def texts(self, worded: Rows) -> tuple[Bm25Index, Unsaid]:
        """The index, and what is to be put into it before it is asked: other texts than today's."""
        unsaid = np.setdiff1d(np.array(list(self._others), dtype=np.int64), worded)
        rows, records = self._rows.copy(), self.records
        rows[unsaid] = NONE
        return self._now.texts.among(self.ids, rows), lambda: _said(records, unsaid.tolist())

    def talk(self, worded: Rows) -> KeptConversation | None:
        """The shape of the talk; None where that of today was never asked for."""
        now = self._now.talk
        return None if now is None else talk_then(now, self._rows, self._others, worded)

    def bearing(self) -> dict[int, Memory] | None:
        """Records that may decide what is corrected, by row; None where those of today are not known."""
        if self._now.bearing is None:
            return None
        bears = np.zeros(len(self._now.columns) + 1, dtype=bool)
        bears[list(self._now.bearing)] = True
        return {row: self.records[row] for row in np.flatnonzero(bears[self._rows]).tolist()} | self._others


def _record(memories: Mapping[str, Memory], memory_id: str) -> Memory:
    """A record of then; of one that was kept, whether or not its content is kept too."""
    raw = memories.raw(memory_id) if isinstance(memories, KeptMemories) else None
    return memories[memory_id] if raw is None else decode_memory(raw)


def _is(memories: Mapping[str, Memory], memory_id: str, today: Memory) -> bool:
    """Whether the record of then is that of today; one that nobody read is not decoded for it."""
    raw = memories.raw(memory_id) if isinstance(memories, KeptMemories) else None
    return memories[memory_id] == today if raw is None else encode_memory(today) == raw


def _said(records: Sequence[Memory], rows: Iterable[int]) -> Iterator[tuple[str, TermSequence]]:
    """What search reads of some records."""
    for row in rows:
        memory = records[row]
        yield memory.id, indexed_terms(memory, indexed_text(memory))


LEAST_LINKING = 3
"""Keywords that a text must have by itself to be joined by them."""
_STEP = 0.05
"""What each given keyword weighs less than the one before it."""


def keywords_of(memory: Memory) -> tuple[Keyword, ...]:
    """At most five: the given ones in their order, then tags, then the best of its text. None of a secret or purged memory."""
    if memory.sensitivity >= SECRET or memory.purged_at is not None:
        return ()
    found = _given(memory) if memory.keywords or memory.tags else []
    if len(found) < MOST_KEYWORDS:
        text = memory.content if memory.summary is None else f"{memory.summary}\n{memory.content}"
        own = extracted(text)
        if found:
            known = {one.word for one in found}
            own = [one for one in own if one.word not in known][: MOST_KEYWORDS - len(found)]
        found += own
    return tuple(found)


def linking_words(memory: Memory) -> tuple[str, ...]:
    """The keywords by which a memory is joined with others: the given ones; else those of its text, if there are enough.

    Of 52 links on real talk between texts of one keyword and more two thirds were useful, from three keywords on 43 (.83).
    """
    if memory.keywords:
        return memory.keywords
    found = tuple(one.word for one in keywords_of(memory) if one.source == "system")
    return found if len(found) >= LEAST_LINKING else ()


def _given(memory: Memory) -> list[Keyword]:
    by_user = memory.source == "user" and TRUSTS[memory.trust] in (
        ASSERTED,
        IMPORTED,
    )  # not by a tool or a model for them
    given: Source = "user_tag" if by_user else "llm"
    told = dict.fromkeys(_folded_all((*memory.keywords, *(tag for tag in memory.tags if tag not in TAGS))), given)
    return [
        Keyword(word, max(LEAST_WEIGHT, round(1.0 - _STEP * place, 2)), source)
        for place, (word, source) in enumerate(list(told.items())[:MOST_KEYWORDS])
    ]


def _folded_all(words: Iterable[str]) -> list[str]:
    return [word for word in map(folded, words) if word]


class ReadBeside:
    """Records stay as they were folded; what is held of an owner is how they read."""

    def __init__(self, columns: Callable[[], Columns]) -> None:
        """`columns`: those in which the owner's records stand now, as they read."""
        self._columns = columns
        self._set_aside = SetAside()
        self._twins = Twins(self._get)
        self._quoting = Quoting(self._read_now, self._hiding)

    def read(self, state: OwnerState, changed: Sequence[Memory], *, talk: bool) -> Sequence[Memory]:
        """How changed records, and others for their sake, read at this state. `talk`: as `Twins.follow` takes it."""
        folded = (self._twins.as_folded(self._quoting.as_given(one)) for one in self._columns())
        changed = self._set_aside.follow(state.asides, changed, folded)
        return self._quoting.follow(self._twins.follow(state.rejections, changed, self._watchable, talk=talk))

    def decisive(self, state: OwnerState) -> list[Memory]:
        """The records that decide how others read, or are decided by them, where none was read yet and all columns are there."""
        columns = self._columns()
        wanted = (columns.conflict >= Columns.KEEP) | (columns.quotes > 0)
        if columns.quotes.any():
            wanted |= _hiding(columns)
        if state.rejections:
            said = (is_decisive(one, state.rejections) for one in columns)
            wanted |= np.fromiter(said, dtype=np.bool_, count=len(wanted))
        return [columns.memories[row] for row in np.flatnonzero(wanted).tolist()]

    def as_folded(self, memory: Memory) -> Memory:
        """A record as it was folded."""
        return self._set_aside.as_folded(self._twins.as_folded(self._quoting.as_given(memory)))

    @property
    def said_again(self) -> Collection[str]:
        """As `Twins.said_again`."""
        return self._twins.said_again

    @property
    def read_otherwise(self) -> set[str]:
        """Ids of what reads otherwise than it was folded."""
        return {*self._twins.read_otherwise, *self._set_aside.read_otherwise, *self._quoting.read_otherwise}

    @property
    def counts(self) -> bool:
        """Whether anything is looked at beside others."""
        return self._twins.watches or self._set_aside.sets_aside or self._quoting.quotes

    def _watchable(self, keys: set[bytes]) -> Iterable[Memory]:
        """All records that may be watched under these keys."""
        columns = self._columns()
        every = any(len(one) == TURN_BYTES for one in keys)
        found = columns if every else (columns.memories[row] for row in columns.saying(keys).tolist())
        return map(self._quoting.as_given, found)

    def _hiding(self) -> Iterable[Memory]:
        columns = self._columns()
        return (columns.memories[row] for row in np.flatnonzero(_hiding(columns)).tolist())

    def _get(self, memory_id: str) -> Memory | None:
        memory = self._read_now(memory_id)
        return None if memory is None else self._quoting.as_given(memory)

    def _read_now(self, memory_id: str) -> Memory | None:
        columns = self._columns()
        row = columns.row(memory_id)
        return None if row is None else columns.memories[row]


def _hiding(columns: Columns) -> npt.NDArray[np.bool_]:
    """Rows of what hides its words: it decides about those that have them."""
    hiding: npt.NDArray[np.bool_] = (columns.sensitivity > 0) | (columns.state >= Columns.REJECTED)
    return hiding


# Measured with tracemalloc: what an empty view takes, and a record and its columns beside its text.
_BYTES_A_VIEW = 25_000
_BYTES_A_MEMORY = 1_500
_BYTES_OF_TALK = 480
WITHHELD = "[withheld: sensitivity 3; see get --reveal]"


class RowIndex(Protocol):
    """An index over a view's rows that a job brings along."""

    def put(self, row: int, memory: Memory) -> None:
        """Take in a row that is new or has changed."""

    def bytes_used(self) -> int:
        """About how much it takes."""


Index = TypeVar("Index", bound=RowIndex)


class OwnerView(SearchedTexts):
    """One owner, ready to be asked. Columns and text index share their rows. Guard it with a lock between threads."""

    def __init__(
        self,
        owner: str,
        state: OwnerState,
        memories: Iterable[Memory] = (),
        check: Check = unchecked,
    ) -> None:
        super().__init__()
        self.owner = owner
        self.deletions_seen: Mapping[str, int] | None = None
        """Memory id -> since when its deletion is known, microseconds; None: the dates that were told are believed."""
        self.judged_today: Mapping[str, int] | None = None
        """Memory id -> its level by the rules of today, read off the log again; None: nobody did."""
        self.vectors_today: KnownVectors | None = None
        """Vectors of the rows, while somebody compares them; else, and where there are none, None."""
        self.compared_today: VectorsCompared | None = None
        """What whoever compared them looked at, and what not."""
        self.purged_since: Collection[str] = ()
        """Of a past, ids of what is purged today: what they corrected is not told, though they came later."""
        self.naming = Naming(owner, b"")
        """By what ids are made of the owner's words; without a secret until somebody who has the log tells it."""
        self._text_bytes = 0
        self.columns = Columns()
        self._talk: KeptConversation | None = None
        """The shape of a past's talk, until it is asked for."""
        self._associations: AssociationIndex | None = None
        self._contexts: dict[int, Context] = {}
        self._keywords: dict[int, tuple[Keyword, ...]] = {}
        self._people: dict[int, tuple[Somebody, ...]] = {}
        self._introduced = 0
        """How many people stand there."""
        self._zone = ""
        self._graph: Graph | None = None
        self._conversation: ConversationIndex | None = None
        self._meanings: dict[str, MeaningIndex] = {}
        self._indexes: dict[object, RowIndex] = {}
        self._beside = ReadBeside(lambda: self.columns)
        self._reckoned_at: tuple[int, ...] = ()
        self._reckoned = 0
        self._take(state, list(memories), check)

    @classmethod
    def of_history(
        cls,
        owner: str,
        history: OwnerHistory,
        today: Iterable[Memory] = (),
        bounds: Bounds = UNBOUNDED,
        present: OwnerView | None = None,
        *,
        secrets: bool = False,
    ) -> OwnerView:
        """The view of a folded history, in which what is purged or secret in the records of `today` stays so.

        `present`: the owner's view today; the same is made out of it, where most texts are read already, and hides what it hides;
        with `secrets` only what is purged.
        """
        if present is not None and len(present):
            moment = Moment(history.memories, present._told(), bounds, secrets=secrets)
            found = cls._of_moment(owner, history.owner, moment)
            found.purged_since = frozenset(purged_ids(present.columns))
            return found
        hidden = hidden_in(today)
        memories = (
            as_hidden_today(memory, hidden[memory.id]) if memory.id in hidden else memory
            for memory in history.memories.values()
        )
        found = cls(owner, history.owner, memories, bounds.check)
        found.purged_since = frozenset(one.id for one in hidden.values() if one.purged_at is not None)
        return found

    @classmethod
    def _of_moment(cls, owner: str, state: OwnerState, moment: Moment) -> OwnerView:
        found = cls(owner, OwnerState())
        found.columns = moment.columns()
        moment.read(found.columns, found._read(state, found._beside.decisive(state)))
        worded = moment.worded()
        found._texts, found._unsaid = moment.texts(worded)
        found._talk, bearing = moment.talk(worded), moment.bearing()
        if bearing is not None:
            found._indexes[CorrectionIndex] = corrections = CorrectionIndex()
            for row, memory in bearing.items():
                corrections.put(row, memory)
        return found

    def _told(self) -> Present:
        """What of this view serves for a moment of the past."""
        talk = None if self._conversation is None else self._conversation.taken(len(self.columns))
        corrections = cast("CorrectionIndex | None", self._indexes.get(CorrectionIndex))
        bearing = None if corrections is None else corrections.bearing_rows
        return Present(self.columns, self._beside.read_otherwise, self._index, talk, bearing)

    def holding(self, memories: Sequence[Memory], gone: Collection[str]) -> OwnerView:
        """A view at the same state of these memories alone, as they read here; of the others, `gone`, no word is told."""
        found = OwnerView(self.owner, OwnerState())
        found.state, found.parameters, found._beside = self.state, self.parameters, self._beside
        found.naming, found.deletions_seen, found.judged_today = self.naming, self.deletions_seen, self.judged_today
        found.purged_since = frozenset((*self.purged_since, *gone))
        found._put(memories, unchecked)
        return found

    def follow(self, state: OwnerState, memories: Iterable[Memory]) -> None:
        """Take in changed memories; the text index is touched only where a text changed. Never stopped halfway."""
        self._take(state, list(memories), unchecked)

    def _take(self, state: OwnerState, changed: Sequence[Memory], check: Check) -> None:
        self._put(self._read(state, changed), check)

    def _read(self, state: OwnerState, changed: Sequence[Memory]) -> Sequence[Memory]:
        """How changed records, and others for their sake, read at this state."""
        self.state = state
        self.parameters = parameters_of(state.settings)
        return self._beside.read(state, changed, talk=self.parameters.talk_reaffirms)

    def _put(self, changed: Sequence[Memory], check: Check) -> None:
        self._index.put_said(self._newly_said(counted(changed, check, len(changed))))
        self.columns.put_all(changed)
        for memory in changed:
            row = self.columns.row(memory.id)
            assert row is not None
            self._contexts.pop(row, None)
            self._keywords.pop(row, None)
            self._introduced -= len(self._people.pop(row, ()))
            if self._associations is not None:
                self._associations.put(row, memory)
            if self._conversation is not None:
                self._converse(self._conversation, row, memory)
            for meaning in self._meanings.values():
                meaning.put(row, memory)
            for index in self._indexes.values():
                index.put(row, memory)

    def _newly_said(self, changed: Iterable[Memory]) -> Iterator[tuple[str, TermSequence]]:
        """What search reads of new and changed texts, one by one: the terms of a large owner are not held twice."""
        for memory in changed:
            row = self.columns.row(memory.id)
            text = indexed_text(memory)
            old = None if row is None else self.columns.memories[row]
            self._text_bytes += getsizeof(memory.content) - (0 if old is None else getsizeof(old.content))
            if old is None or old.content != memory.content or indexed_text(old) != text:
                yield memory.id, indexed_terms(memory, text)
            if _told_by(old) != _told_by(memory):
                self._graph = None

    @property
    def law(self) -> Law:
        """The law of the owner's profile."""
        return LAWS[self.state.profile]

    @property
    def associations(self) -> AssociationIndex:
        """The owner's associations; made at first use, then kept level."""
        return self.associated(unchecked)

    def associated(self, check: Check) -> AssociationIndex:
        """The same, for whoever may be stopped while they are made: then there are none yet."""
        if self._associations is None:
            made = AssociationIndex(words=linking_words)
            for row, memory in enumerate(counted(self.columns, check, len(self.columns))):
                made.put(row, memory)
            self._associations = made
        return self._associations

    @property
    def conversation(self) -> ConversationIndex:
        """Who said what after what; made at first use, then kept level."""
        if self._conversation is None and self._talk is not None:
            self._conversation = ConversationIndex.of_kept(self._index, self.columns, self._talk)
            self._talk = None
        if self._conversation is None:
            self._conversation = ConversationIndex(self._index)
            texts = [has_text(memory) for memory in self.columns]
            self._conversation.fill(self.columns.memories, texts)
        self._conversation.settle()
        return self._conversation

    def _converse(self, conversation: ConversationIndex, row: int, memory: Memory) -> None:
        conversation.put(row, memory, has_text(memory))

    def known_meaning(self, model: str) -> MeaningIndex | None:
        """What `meaning` made last under a model; None before."""
        return self._meanings.get(model)

    def meaning(self, model: str, secret: bytes) -> MeaningIndex:
        """Which rows have which vectors under a model; made at first use, then kept level with the rows.

        `secret`: the owner's, by which vectors are named; made anew where it is another than it was.
        """
        found = self._meanings.get(model)
        if found is None or found.secret != secret:
            found = self._meanings[model] = MeaningIndex(model, secret)
            for row, memory in enumerate(self.columns):
                found.put(row, memory)
        return found

    def index(self, kind: Callable[[], Index], check: Check = unchecked) -> Index:
        """The owner's index of a kind; made at first use, unless `check` stops that, then kept level with the rows."""
        found = self._indexes.get(kind)
        if found is None:
            found = kind()
            for row, memory in enumerate(counted(self.columns.memories, check, len(self.columns))):
                found.put(row, memory)
            self._indexes[kind] = found
        return cast("Index", found)

    def has_index(self, kind: Callable[[], Index]) -> bool:
        """Whether an index was made: then it costs nothing to ask for it."""
        return kind in self._indexes

    @property
    def graph(self) -> Graph:
        """The owner's triples; made at first use after a change."""
        if self._graph is None:
            self._graph = Graph(triples_of(self.columns))
        return self._graph

    def context(self, row: int) -> Context:
        """Tags and emotion of a row, in the owner's time zone; derived once."""
        if self._zone != self.parameters.time_zone:
            self._zone = self.parameters.time_zone
            self._contexts.clear()
        found = self._contexts.get(row)
        if found is None:
            found = self._contexts[row] = context_of(self.columns.memories[row], self.parameters)
        return found

    def keywords(self, row: int) -> tuple[Keyword, ...]:
        """Keywords of a row, given and extracted; derived once. None of what is secret or purged."""
        found = self._keywords.get(row)
        if found is None:
            found = self._keywords[row] = keywords_of(self.columns.memories[row])
        return found

    def people(self, row: int) -> tuple[Somebody, ...]:
        """Whom a row introduces; read once. Nobody where it is secret."""
        found = self._people.get(row)
        if found is None:
            memory = self.columns.memories[row]
            found = self._people[row] = tuple(people_in(memory.content)) if memory.sensitivity < SECRET else ()
            self._introduced += len(found)
        return found

    @property
    def synonyms(self) -> tuple[Pair, ...]:
        """The owner's own synonyms, and pairs that are none here (similarity 0), ascending."""
        return self.state.synonyms

    def get(self, memory_id: str) -> Memory | None:
        """A memory by id."""
        row = self.columns.row(memory_id)
        return None if row is None else self.columns.memories[row]

    def hides(self, _memory_id: str) -> bool:
        """Whether a memory is kept from whoever asks; see `narrowed`."""
        return False

    def hidden(self) -> frozenset[str]:
        """Ids of all that is kept from whoever asks."""
        return frozenset()

    def told(self, rows: Flags) -> Flags:
        """Those of these rows that are told to whoever asks."""
        return rows

    @property
    def is_narrowed(self) -> bool:
        """Whether something may be kept from whoever asks."""
        return False

    @property
    def said_again(self) -> Collection[str]:
        """Ids of what somebody says the user said since he negated it; it is withheld as negated, and waits for him."""
        return self._beside.said_again

    def as_folded(self, memory: Memory) -> Memory:
        """A memory as its own events made it; the view's own reads it beside others that say the same, and what is set aside."""
        return self._beside.as_folded(memory)

    @property
    def read_otherwise(self) -> Collection[str]:
        """Ids of what reads otherwise than it was folded."""
        return self._beside.read_otherwise

    def bytes_used(self) -> int:
        """About how much memory this view takes, told at once whatever its size; reckoned anew where something came or was made."""
        made = self._associations is None, self._conversation is None, len(self._indexes), self._introduced
        meanings = (meaning.bytes_used() for meaning in self._meanings.values())
        grown = self.state.seq, self._text_bytes, *made, len(self._keywords), len(self._people), *meanings
        if grown != self._reckoned_at:
            self._reckoned_at, self._reckoned = grown, self._reckon()
        return self._reckoned

    def _reckon(self) -> int:
        edges = self._associations.bytes_used() if self._associations is not None else 0
        edges += self._conversation.bytes_used() if self._conversation is not None else 0
        edges += 700 * len(self._keywords)  # five keywords with their words
        edges += 135 * len(self._people) + 250 * self._introduced
        edges += sum(meaning.bytes_used() for meaning in self._meanings.values())
        edges += sum(index.bytes_used() for index in self._indexes.values())
        return self._bytes_of_rows() + edges

    def bytes_of_memories(self) -> int:
        """The same of what it takes once it was asked anything: the records, their columns, the terms of their texts, the talk."""
        talk = self._conversation.bytes_used() if self._conversation is not None else _BYTES_OF_TALK * len(self.columns)
        return self._bytes_of_rows() + talk

    def _bytes_of_rows(self) -> int:
        rows = self._text_bytes + _BYTES_A_MEMORY * len(self.columns)
        return _BYTES_A_VIEW + rows + self._texts.bytes_used()

    def __len__(self) -> int:
        return len(self.columns)


def _told_by(memory: Memory | None) -> tuple[object, ...]:
    """What triples depend on; nothing of it changes when a memory is only shown."""
    if memory is None or not (memory.facts or memory.merged_from or memory.merged_into):
        return ()
    return memory.facts, state_of(memory), memory.merged_into, conflict_of(memory), memory.sensitivity


class _Folded(Mapping[str, Memory]):
    """The records of a view as their own events made them, each read when it is asked for."""

    def __init__(self, view: OwnerView) -> None:
        self._view = view

    def __getitem__(self, memory_id: str) -> Memory:
        found = self._view.get(memory_id)
        if found is None:
            raise KeyError(memory_id)
        return self._view.as_folded(found)

    def __iter__(self) -> Iterator[str]:
        return (memory.id for memory in self._view.columns)

    def __len__(self) -> int:
        return len(self._view)


def would_change(view: OwnerView, stored: Iterable[Stored], secret: bytes = b"") -> list[Entry]:
    """The change-log entries that the fold would write of these events, in order, if they came next.

    `secret`: the owner's, which keys the hashes of contents.
    """
    memories = ChainMap[str, Memory]({}, _Folded(view))  # type: ignore[arg-type]
    steps = fold_on(view.state, memories, stored, lambda _stored, _event: True, secret=secret)
    return [entry for _, step in steps for entry in step.entries]
