"""The memory record: what the events about one `memory_id` fold into, and who wrote them in which session.

Times are integer microseconds since 1970 UTC; state is made with + - * / and comparisons only, so a replay gives the
same bytes on any machine. Every list is bounded, and its comment says by what. Laws read the record; they own no state.

A handle is six letters and digits of a digest of an id, the same for ever. Two of 10,000 ids share one with a probability of about
5 %; who names a shared handle gets an error that lists both ids.

A person may set a source (an author, a session) aside. Kept of a source is the newest setting aside and the newest bringing back by
`occurred_at`; ties go to the setting aside. So the order in which they arrive decides nothing. Nothing is ever let go: what does
not fit is refused, and told.
"""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import msgspec

from engramlog_server.events.errors import refused
from engramlog_server.events.trust import ORDER, TRUSTS

MOST_SOURCES = 256
"""Sources of one owner that were ever set aside."""
_NEVER = -(1 << 62)


class Author(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Who brought an event, and in which session."""

    by: str
    """Its actor and its principal, with a space between; the actor alone where no principal was kept."""
    session: str | None = None

    @property
    def actor(self) -> str:
        """In whose name: user, assistant, judge, system, operator."""
        return self.by.partition(" ")[0]

    @property
    def principal(self) -> str:
        """Who called: a side, a job, a model; empty where it is not known."""
        return self.by.partition(" ")[2]


def by_of(stored: Stored, actor: str) -> str:
    """Who brought an event, as `Author.by`."""
    return by_text(actor, stored.beside[1])


@lru_cache(maxsize=1024)
def by_text(actor: str, principal: bytes) -> str:
    """`Author.by` of an actor and the principal beside its entry; empty where none was kept."""
    return f"{actor} {principal.decode()}" if principal else actor


class NamedSource(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A session, a principal, an actor, or what is several of these at once."""

    session: str | None = None
    principal: str | None = None
    actor: str | None = None

    def wrote(self, author: Author) -> bool:
        """Whether this is where it came from."""
        return (
            (self.session is None or self.session == author.session)
            and (self.principal is None or self.principal == author.principal)
            and (self.actor is None or self.actor == author.actor)
        )


NOBODY = NamedSource()
"""No source: it would be everybody's words."""


class Aside(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of one source. Times are microseconds since 1970."""

    source: NamedSource
    at: int
    """When it was last set aside."""
    seq: int
    """Position of the event that did."""
    brought_at: int | None = None
    """When it was last brought back."""

    @property
    def stands(self) -> bool:
        """Whether it is set aside, and was not brought back since."""
        return self.at > _NEVER and (self.brought_at is None or self.brought_at <= self.at)


Asides = tuple[Aside, ...]
"""Of one owner, in the order in which they first came."""


def set_aside(asides: Asides, source: NamedSource, at: int, seq: int) -> Asides:
    """With this source set aside. Raises ValueError where there is no room for one more."""
    one = known(asides, source)
    if one is not None and at <= one.at:
        return asides
    return _with(asides, Aside(source, at, seq, None if one is None else one.brought_at))


def brought_back(asides: Asides, source: NamedSource, at: int, seq: int) -> Asides:
    """With this source brought back; kept also where it was not set aside yet: that may come late. Raises as `set_aside`."""
    one = known(asides, source) or Aside(source, _NEVER, seq)
    if one.brought_at is not None and at <= one.brought_at:
        return asides
    return _with(asides, msgspec.structs.replace(one, brought_at=at))


def known(asides: Asides, source: NamedSource) -> Aside | None:
    """What is kept of a source; None for nothing."""
    return next((one for one in asides if one.source == source), None)


def aside_of(asides: Asides, author: Author) -> Aside | None:
    """The first that stands of those by which an author's words are withheld; None where none does."""
    return next((one for one in asides if one.stands and one.source.wrote(author)), None)


def _with(asides: Asides, new: Aside) -> Asides:
    if any(one.source == new.source for one in asides):
        return tuple(new if one.source == new.source else one for one in asides)
    if len(asides) >= MOST_SOURCES:
        raise ValueError(f"{MOST_SOURCES} sources were set aside or brought back already, the most of one owner")
    return (*asides, new)


if TYPE_CHECKING:
    from engramlog_server.events.envelope import Stored

LEVELS = ("full", "summary", "tag", "trace", "archive")
FULL, SUMMARY, TAG, TRACE, ARCHIVE = range(5)
CATEGORIES = ("identity", "stable_preference", "short_term_preference", "fact", "skill", "temporary")
SECRET = 3
"""Sensitivity from which a content is withheld from every output."""
UNCOMPRESSED = 2
"""Sensitivity from which a memory is never compressed."""

MAX_MENTIONS = 64
MAX_USER_MENTIONS = 8
MAX_NEGATIONS = 32
MAX_VERSIONS = 16
MAX_EDGES = 32
MAX_CONFLICTS = 16
MAX_TURNS = 100
MAX_WORDS = 50
MAX_BOOSTS = 16
MAX_FACTS = 64
MAX_UNMERGED = 16
MAX_WAITING = 8
DAY = 86_400_000_000
"""Microseconds in a day."""
HOUR = 3_600_000_000


class UserMention(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A mention by the user: what may undo a negation."""

    at: int
    turn_id: str | None
    author: Author | None = None
    """Whose mention it is; None: of the memory's own author."""
    own: bool = True
    """Whether it is the user's own word, and not what a lower source says of him."""


class CorrectionEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One entry of the correction history."""

    at: int
    resolution: str
    reason: str
    new_preference: str | None
    replaced_by: str | None
    turn_id: str | None
    position: int
    author: Author | None = None
    """Whose negation it is; None: of the memory's own author."""
    own: bool = True
    """Whether it is a person's own word: no lower source takes it back."""


class Version(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A content that was revised, and when it stopped holding."""

    number: int
    content: str
    summary: str | None
    until: int
    author: Author | None = None
    """Whose words these were; None: the memory's own author's."""
    stated: bytes = b""
    """Digest of what it said, as of a memory."""


class Edge(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One half of an association; weight = min(1, base + boost). How halves are read: `projections.index.associations`."""

    to: str
    base: float
    boost: float
    link: str


class Boost(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One counted boost of the importance, and how much it added."""

    at: int
    amount: float


class Upkeep(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the tiered law keeps of uses and reviews (seed 003); absent until the first of them."""

    boosts: tuple[Boost, ...] = ()
    """Those of the last day, the newest 16, ascending."""
    set_at: int | None = None
    """When the importance was last set, by a boost or a reviewer's keeping: it decays from there."""
    promotion_at: int | None = None
    """When it last rose to the promotion threshold, until a reviewer has answered."""
    kept: bool = False
    """A reviewer kept it since it last stood above the review threshold: asked again only further down."""
    earned: float = 0.0
    """What all counted boosts of this text added together: enough of it, and a reviewer may make it core."""
    witnessed: float = 0.0
    """What those of them added that an operator recorded: enough of it, and a reviewer's promotion is a ground. Uses that
    anybody else tells, or that a job finds in turns that anybody else told, are dated and made by those whom they would lift."""


class ReviewSchedule(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Spaced repetition since the first grade: SM-2 and FSRS side by side, so that either can be read. Intervals in days."""

    graded_at: int
    grade: int
    ease: float
    interval: float
    repetitions: int
    """Grades of 3 and more in a row."""
    stability: float
    """FSRS stability in days: R = 0.9 after that long (unlike seed 004's, where R = 1/e)."""
    difficulty: float
    fsrs_interval: float


class MemoryTriple(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A triple that this memory backs."""

    subject: str
    predicate: str
    object: str
    negation: bool
    degree: float | None
    condition: str | None
    at: int
    stated: bytes = b""
    """Digest of the triple, 16 bytes keyed with the owner's secret; empty where it is not known."""
    author: Author | None = None
    """Who asserted it; None: the memory's own author, or the job that made the memory."""


class Rests(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Something outside that the memory rests on, as it was when that was told."""

    uri: str
    digest: str


class Report(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What digest it had later, and when that was so."""

    uri: str
    digest: str
    at: int


class Basis(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Why a memory is kept and what it rests on; absent where nothing of it was told."""

    because: str | None = None
    grounds: tuple[Rests, ...] = ()
    """At most 16, as in validation; each uri once."""
    given_at: int | None = None
    """When the grounds were told."""
    reports: tuple[Report, ...] = ()
    """The newest of each uri among the grounds that was reported since."""
    metadata: tuple[tuple[str, str | int | float | bool], ...] = ()
    """By name; at most 32 and 4 KiB as JSON, as in validation."""

    @property
    def changed(self) -> tuple[str, ...]:
        """Uris that were last reported with another digest than the memory rests on."""
        if not self.reports:
            return ()
        last = {one.uri: one.digest for one in self.reports}
        return tuple(one.uri for one in self.grounds if last.get(one.uri, one.digest) != one.digest)


class Memory(msgspec.Struct, frozen=True, array_like=True, kw_only=True, gc=False):
    """One memory of one owner. New fields go to the end, with a default, and raise the projection's version."""

    id: str
    content: str
    category: str
    kind: str
    tier: str
    source: str
    created_at: int
    """`occurred_at` of its creation: how old it is. Never moves."""
    updated_at: int
    """Newest of creation and revisions."""
    last_activated_at: int
    """Newest of creation and mentions: what w_time decays from."""
    stamp: int
    """Newest `occurred_at` of any event folded into it."""
    created_seq: int
    summary: str | None = None
    confidence: float = 0.6
    importance: float = 1.0
    speaker: str | None = None
    keywords: tuple[str, ...] = ()
    """Lower-cased, at most 50, as in validation; those of the first sources where memories merged."""
    tags: tuple[str, ...] = ()
    """At most 50, as keywords."""
    emotion: float | None = None
    project: str | None = None
    task: str | None = None
    modalities: tuple[str, ...] = ("text",)
    sensitivity: int = 0
    verified: bool = False
    source_turns: tuple[str, ...] = ()
    """At most 100."""
    corrects: str | None = None
    summarises: tuple[str, ...] = ()
    """At most 100, as in validation."""
    version: int = 1
    versions: tuple[Version, ...] = ()
    """The last 16 replaced contents, oldest first."""
    mention_count: int = 1
    """Statements behind it: the one that made it and every mention, summed when memories merge."""
    mentions: tuple[int, ...] = ()
    """Times of the newest 64 mentions by `occurred_at`, ascending."""
    mention_boost: float = 0.0
    """s of the newest mention, as decided when it was folded."""
    user_mentions: tuple[UserMention, ...] = ()
    """The newest mention by the user of each turn, the newest 8 of these, ascending."""
    access_count: int = 0
    last_accessed_at: int | None = None
    level: int = FULL
    """Recorded level; the effective one at an instant is in `projections.laws.modes`."""
    compressed: str | None = None
    """The shortened text that a sweep recorded with the level."""
    negations: tuple[CorrectionEntry, ...] = ()
    """The newest 32 negations by `occurred_at`, ascending: the correction history."""
    negated_at: int | None = None
    """Time of the newest negation while the memory is negated, else None."""
    resolution: str | None = None
    superseded_by: str | None = None
    conflicts: tuple[str, ...] = ()
    """Memories it may contradict, at most the 16 newest."""
    merged_into: str | None = None
    merged_at: int | None = None
    merged_from: tuple[str, ...] = ()
    """At most 100, as in validation."""
    retired_at: int | None = None
    deleted_at: int | None = None
    deletion: str | None = None
    purged_at: int | None = None
    edges: tuple[Edge, ...] = ()
    """The strongest 32 of those told or hit together; edges by keyword, task and time are derived when read."""
    reinforce_count: int = 0
    imported: bool = False
    session: str | None = None
    """The session in which it was created."""
    stability: float = 24.0
    """S of the Ebbinghaus law, hours."""
    last_reinforced_at: int = 0
    """When the Ebbinghaus clock last began: creation, or the newest reinforcement but a failure."""
    decay_rate: float | None = None
    """As an older record brought it; None: computed from confidence, reinforcements and kind."""
    restored_at: int | None = None
    """Newest undoing of a deletion: what fell due before it deletes no more."""
    changed_seq: int = 0
    """Seq of the last event that changed this record: the deciding position of whatever falls due next."""
    upkeep: Upkeep | None = None
    schedule: ReviewSchedule | None = None
    facts: tuple[MemoryTriple, ...] = ()
    """Triples it backs, the newest 64."""
    level_due_at: int | None = None
    """When the recorded level fell due, where a sweep recorded it: levels that follow from time are read from time."""
    unmerged_from: tuple[str, ...] = ()
    """Merges that it came back from, the newest 16: no job merges it with the same memories again."""
    ground: str | None = None
    """Why it may stand in every prompt (`projections.memory.kind`): `operator`, `review`, or None, whatever its tier."""
    sensitivity_set_at: int | None = None
    """When somebody last set the sensitivity by hand: rules do not raise that of the same text again."""
    basis: Basis | None = None
    """Why it is kept and what it rests on."""
    stated: bytes = b""
    """Digest of what it says now, 16 bytes keyed with the owner's secret; empty where it is not known. A purge leaves it."""
    rejected_seq: int | None = None
    """Where what it says was rejected, while it is. Never folded into a record: views say it, for it changes with others."""
    used_at: int | None = None
    """Newest use that went well: what w_time and levels go by too, where the owner's parameters say so."""
    by: str = ""
    """Who wrote it, as `Author.by`; with `session` its own author."""
    revised_by: Author | None = None
    """Whose words it has now, where it was revised; None: its own author's."""
    deleted_by: Author | None = None
    """Who deleted it, while it is; None: its own author, or nobody did."""
    aside_seq: int | None = None
    """Where its source was set aside, while it is. Never folded into a record: views say it."""
    trust: int = 3
    """How far it can be trusted, by who said it: 0 proposed, 1 imported, 2 inferred, 3 asserted (`events.trust.TRUSTS`)."""
    waiting: tuple[bytes, ...] = ()
    """Ids, 16 bytes each, of the events of lower sources that would change it and wait for a person, at most 8, oldest first."""

    @property
    def author(self) -> Author:
        """Who made it, and in which session."""
        return Author(self.by, self.session)

    @property
    def last_mentioned_at(self) -> int | None:
        """Time of the newest mention, or None before any."""
        return self.mentions[-1] if self.mentions else None

    @property
    def worded_at(self) -> int:
        """When its words were said: at the newest revision, or when it was made."""
        return self.versions[-1].until if self.versions else self.created_at

    @property
    def is_negated(self) -> bool:
        """Whether the newest of its negations and of the user's mentions is a negation."""
        return self.negated_at is not None

    @property
    def is_superseded(self) -> bool:
        """Negated for good by something newer (`latest_wins`): out of normal mode at once."""
        return self.negated_at is not None and self.resolution == "latest_wins"

    @property
    def grounds_changed(self) -> tuple[str, ...]:
        """Uris of what it rests on that changed since: while there are any, normal mode withholds it."""
        return () if self.basis is None else self.basis.changed

    @property
    def valid_to(self) -> int | None:
        """When it stopped being what the owner says: its negation or merge; None while it holds."""
        return self.negated_at if self.negated_at is not None else self.merged_at


_DECODE = msgspec.msgpack.Decoder(Memory)


encode_memory: Callable[[Memory], bytes] = msgspec.msgpack.Encoder().encode
"""Canonical bytes of a record: MessagePack, floats as their eight IEEE bytes."""


def decode_memory(raw: bytes | memoryview) -> Memory:
    """The record in its canonical bytes."""
    return _DECODE.decode(raw)


_LAST_WORDS = "keywords"
"""The last field of a record that has words which search reads."""


def _up_to_words() -> type[msgspec.Struct]:
    """A record that ends with its last words: the fields behind them are passed over."""
    fields = msgspec.structs.fields(Memory)
    known = fields[: 1 + [one.name for one in fields].index(_LAST_WORDS)]
    told = [(one.name, one.type) if one.required else (one.name, one.type, one.default) for one in known]
    return msgspec.defstruct("Words", told, frozen=True, array_like=True, gc=False)


Words = tuple[str | None, str, str | None, tuple[str, ...]]
_DECODE_WORDS: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(_up_to_words())


def words_of(record: Memory | bytes | memoryview) -> Words:
    """Speaker, content, summary and keywords: all that search reads of a record. Of bytes no more is decoded."""
    found = record if isinstance(record, Memory) else _DECODE_WORDS.decode(record)
    return found.speaker, found.content, found.summary, found.keywords


with_changes: Callable[..., Memory] = msgspec.structs.replace
"""The record with some fields replaced, given by name."""


def without_words(negation: CorrectionEntry) -> CorrectionEntry:
    """A negation that does not tell what holds instead, nor why."""
    return msgspec.structs.replace(negation, reason="", new_preference=None)


def without_content(memory: Memory) -> dict[str, Any]:
    """The fields of a record of which nothing is left to read: what a purge leaves are its id, dates and lineage."""
    return {
        "content": "",
        "summary": None,
        "compressed": None,
        "keywords": (),
        "tags": (),
        "speaker": None,
        "project": None,
        "task": None,
        "session": None,
        "versions": (),
        "edges": (),
        "facts": (),
        "negations": tuple(msgspec.structs.replace(without_words(one), author=None) for one in memory.negations),
        "user_mentions": tuple(msgspec.structs.replace(one, author=None) for one in memory.user_mentions),
        "revised_by": None,
        "deleted_by": None,
        "basis": None,
    }


DISPUTED: Final = "disputed"
REJECTED: Final = "rejected"
LEAST = TRUSTS[1:]
"""What may be demanded at least."""


def trust_told(memory: Memory) -> str:
    """Its state: rejected, proposed, disputed, else how far whoever said it is trusted.

    Disputed: a lower source would change it, and a person has not answered; or it was negated, and nobody knows for sure.
    """
    if memory.rejected_seq is not None:
        return REJECTED
    doubted = memory.negated_at is not None and memory.resolution == "weight_balance"
    return DISPUTED if memory.trust and (memory.waiting or doubted) else TRUSTS[memory.trust]


def check_trust(told: str | None) -> int:
    """The least that is demanded, as records have it; 0 for nothing. Raises InputError."""
    if told is None:
        return 0
    if told not in LEAST:
        raise refused("trust", told, ", ".join(LEAST))
    return ORDER[told]


LENGTH = 6
_SHAPE = re.compile(r"[a-z2-7]{6}")


@lru_cache(maxsize=1 << 16)
def handle_of(memory_id: str) -> str:
    """The handle of an id: six characters of a to z and 2 to 7. An id that is as short as a handle is its own."""
    if len(memory_id) <= LENGTH:
        return memory_id
    digest = blake2b(memory_id.encode("utf-8", "surrogatepass"), digest_size=5).digest()
    return b32encode(digest)[:LENGTH].decode().lower()


def is_handle(text: str) -> bool:
    """Whether a text has the shape of a handle."""
    return _SHAPE.fullmatch(text) is not None
