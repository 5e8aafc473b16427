"""The envelope of an event, the entry that stores it (format 2), and how it is read back. Pure.

Stored bytes are canonical JSON (sorted keys) of the event as its producer sent it, without filled defaults; only `event_id`
(lower case) and `occurred_at` (UTC) are normalised. pydantic validates (`events.validation`), msgspec decodes behind it, both
from the one struct in `events.catalogue`.

An event of an older schema version is read as if it had been written today: its upcaster changes the data, never the log.

Marks of an event (how sensitive its words are, what it states) are decided once, when it is appended. The log knows neither the
rules of sensitivity nor what two texts have in common: its opener passes a `Marker`.

An event whose words were erased keeps its skeleton: ids, times, ranks, levels, weights and digests, so that the owner folds as
before and every other memory stays as it was. Everything that somebody said, or wrote about what was said, goes.

What an entry derives from an owner's secret and an event's words takes secrets, salts and clocks as arguments. Ids can be made of
an owner's words: the same words give the same id, and without the owner's secret nobody confirms a guess. What a statement's
bytes are, and by which rules they were made, is decided by whoever calls. Whoever lacks the secret learns from an entry how many
statements there are, and nothing else; equal statements of one owner have equal digests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial
from hashlib import blake2b, sha256
from math import isfinite
from operator import attrgetter, ne
from types import NoneType
from typing import Annotated, Any, Final, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin
from uuid import UUID, uuid5

import msgspec
import orjson
from pydantic import Field
from uuid_utils import compat

from engramlog_server.events.catalogue import EVENT_TYPES, LATEST_VERSION, SIDE_EVENTS, EventData
from engramlog_server.events.cipher import BODY_MARK, SECRET_BYTES
from engramlog_server.events.errors import BadSetting, StoreMismatch, UndecodableEvent
from engramlog_server.events.text import INVISIBLE, UNREADABLE
from engramlog_server.events.trust import PROPOSED, parted, with_trust
from engramlog_server.events.vocabulary import FUTURE_TOLERANCE, MOST_STATEMENTS, Actor, EventId, Id, Shape, Time, Trust

Document = dict[str, Any]
Upcaster = Callable[[Document], Document]


def unchanged(document: Document) -> Document:
    """The step of a version that only brought fields which may be left out: what was written before it stays as it is."""
    return document


UPCASTERS: Mapping[tuple[str, int], Upcaster] = {("MemoriesAccessed", 1): unchanged}
"""(event type, version) -> what makes its envelope one of version + 1.

Version 2 of `MemoriesAccessed` holds each access by itself. Of the sums of version 1 (`hits`) nobody can say which answers
they came from, so they stay sums: nothing is invented.
"""


def upcast(
    event_type: str,
    version: int,
    document: Document,
    upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS,
    latest: Mapping[str, int] = LATEST_VERSION,
) -> Document:
    """The envelope at the latest version of its type; raises KeyError where a step is missing."""
    for step in range(version, latest[event_type]):
        document = upcasters[event_type, step](document)
        document["schema_version"] = step + 1
    return document


def reads_as_it_is(event_type: str, version: int) -> bool:
    """Whether stored bytes of this version are read by the latest shape just as they are, but for the version they tell."""
    return all(UPCASTERS.get((event_type, step)) is unchanged for step in range(version, LATEST_VERSION[event_type]))


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
NAMESPACE = UUID("6e7a6d1c-2f35-5c4e-9b1e-0d4c0f6a7e11")
"""Namespace of every derived (version 5) id."""

D = TypeVar("D")


class Event(Shape, Generic[D], frozen=True, kw_only=True):
    """An immutable fact about one owner, named in the past tense."""

    event_id: EventId
    type: str
    schema_version: Annotated[int, Field(ge=1)] = msgspec.field(default_factory=lambda: 1)
    """1 if absent; made by a factory because msgspec leaves out what equals a plain default, and this is always told."""
    owner: Id
    occurred_at: Time
    actor: Actor
    data: D
    session_id: Id | None = None
    causation_id: EventId | None = None
    correlation_id: Id | None = None
    trust: Trust | None = None
    """The most that is claimed for what it says; None: what the path and the actor may reach."""


AnyEvent = Event[Any]


class Word(NamedTuple):
    """How far what somebody says goes."""

    trust: Trust | None = None
    """None: `asserted`."""
    doubted: bool = False
    """Whether it is a proposal where its words are such as a person should look at."""


OWN_WORD = Word()


class Prepared(NamedTuple):
    """An event ready to append: validated and encoded."""

    event_id: str
    raw_id: bytes
    """16 bytes of the UUID: the idempotency key."""
    owner: str
    kind: str
    """`Type.version`, the stream field by which a decoder is chosen."""
    body: bytes
    moves_head: bool
    is_access: bool
    marks: Marks | None = None
    """What was found in its words; None where nobody looked yet."""
    model: str | None = None
    """The language model that decided it, as its endpoint calls it; it stands in the principal. None: nobody's."""
    trust: Trust | None = None
    """The most that it reaches by its path and actor; None: `asserted`."""
    doubted: bool = False
    """Whether it is a proposal where its words are such as a person should look at."""


class Stored(NamedTuple):
    """One entry of a partition's stream."""

    seq: int
    kind: str
    raw_id: bytes
    owner: str
    """Told beside the body, so that an event that cannot be read still stops nobody but its owner."""
    body: bytes
    beside: tuple[bytes, ...]
    """Recorded time, principal, level, digests, commitment, and, if a clock was behind, what that clock said
    (docs/stream-format.md)."""
    salt: bytes = b""
    """16 random bytes that open the commitment; they lie and go with the body."""

    @property
    def recorded(self) -> int:
        """When it was appended, microseconds since 1970 by Redis's clock."""
        return int(self.beside[0])

    @property
    def principal(self) -> str:
        """Who brought it."""
        return self.beside[1].decode()

    @property
    def level(self) -> int | None:
        """How sensitive its words are, 0 to 3; None where nobody looked when it was appended."""
        return level_in(self.beside[2])

    @property
    def trust(self) -> Trust | None:
        """How far its word goes, as the door found; None where it is `asserted`, or the entry is from before that was told."""
        return trust_in(self.beside[2])


@lru_cache(maxsize=256)
def level_in(told: bytes) -> int | None:
    """The level in an entry's `rules:level`; None where no rules looked, or no append wrote this: then the words are judged."""
    rules, _, level = told.partition(b":")
    level = level.partition(b":")[0]
    return int(level) if rules.isdigit() and int(rules) and level in _LEVELS else None


@lru_cache(maxsize=256)
def trust_in(told: bytes) -> Trust | None:
    """The trust in an entry's `rules:level:trust`; `proposed` where no append wrote this."""
    try:
        return parted(told)[1]
    except ValueError:
        return PROPOSED


_LEVELS = frozenset({b"0", b"1", b"2", b"3"})


def micros(moment: datetime) -> int:
    """Microseconds since 1970 UTC of an aware date-time."""
    return (moment - EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """The aware UTC date-time of microseconds since 1970, held within years 1 to 9999."""
    try:
        return EPOCH + timedelta(microseconds=value)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC) if value > 0 else datetime.min.replace(tzinfo=UTC)


def utc_text(moment: datetime) -> str:
    """RFC 3339 in UTC with `Z`, decimals only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def in_utc(moment: datetime) -> datetime:
    """The same instant in UTC, as orjson writes it canonically; a naive one stays naive, and validation refuses it."""
    return moment if moment.tzinfo is UTC or moment.tzinfo is None else moment.astimezone(UTC)


def new_event_id() -> str:
    """A fresh time-ordered UUID, version 7. Call at the edge: it reads the clock and chance."""
    return str(compat.uuid7())


def derived_id(*parts: str) -> str:
    """The same version 5 UUID for the same parts, always."""
    return str(uuid5(NAMESPACE, "\x1f".join(parts)))


_CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_UTC_Z


def canonical(document: object) -> bytes:
    """JSON with sorted keys and no space: the same bytes for the same content."""
    return orjson.dumps(document, option=_CANONICAL)


def prepare_body(
    event_id: str, event_type: str, version: int, owner: str, body: bytes, word: Word = OWN_WORD
) -> Prepared:
    """A `Prepared` of canonical bytes that were validated."""
    kind, moves_head, is_access = _kind(event_type, version)
    raw_id = bytes.fromhex(event_id.replace("-", ""))
    # As Prepared(...), in half the time: all of its fields.
    return _PREPARED(Prepared, (event_id, raw_id, owner, kind, body, moves_head, is_access, None, None, *word))


_PREPARED = tuple.__new__


@lru_cache(maxsize=1_024)
def _kind(event_type: str, version: int) -> tuple[str, bool, bool]:
    """How a type of a version is called, whether it moves its owner's head, whether it tells only of accesses."""
    return f"{event_type}.{version}", event_type not in SIDE_EVENTS, event_type == "MemoriesAccessed"


def encode(event: AnyEvent) -> bytes:
    """Canonical JSON of an event, fields that equal their defaults left out (but for `schema_version`)."""
    return canonical(_sparse(event))


def prepare(event: AnyEvent, word: Word = OWN_WORD) -> Prepared:
    """An event built by `events.validation.make_event` (so validated) made ready to append; `word`: how far it goes."""
    return prepare_body(event.event_id, event.type, event.schema_version, event.owner, _encode_valid(event), word)


def _encode_valid(event: AnyEvent) -> bytes:
    """The bytes of `encode` for a valid event, written by msgspec if it writes the same."""
    return write(event) if event.occurred_at.tzinfo is UTC and writes_itself(event.data) else encode(event)


write = msgspec.json.Encoder(order="sorted").encode
"""Eight times as fast as `encode`, and the same bytes where `occurred_at` is in UTC and `writes_itself` holds of the data."""


def writes_itself(data: Any) -> bool:
    """Whether msgspec writes what `encode` does: it leaves out what *is* a default, not what equals one, and neither
    moves an instant to UTC nor knows orjson's spelling of large floats in a dict."""
    cls: type = type(data)
    return fields_pass(_watched(cls), data)


Passes = Callable[[Any], bool]
"""Whether a value is plainly right, so that a slower look is not needed."""
Watched = tuple[tuple[Callable[[Any], Any], Any, Passes], ...]
"""The fields of a shape that are looked at: how to get each, its default, whether another value passes."""


def fields_pass(watched: Watched, shape: object) -> bool:
    """Whether each of these fields is its default or passes."""
    for value_of, default, passes in watched:
        item = value_of(shape)
        if item is not default and not passes(item):
            return False
    return True


@cache
def _watched(cls: type) -> Watched:
    """The fields that may stop a shape from writing itself."""
    found: list[tuple[Callable[[Any], Any], Any, Passes]] = []
    for field in msgspec.structs.fields(cls):
        passes = _passes(field.type)
        if passes is not None:
            found.append((attrgetter(field.name), field.default, passes))
        elif isinstance(field.default, str | float):
            found.append((attrgetter(field.name), field.default, partial(ne, field.default)))
    return tuple(found)


def _passes(kind: Any) -> Passes | None:
    """How it is seen that msgspec writes a value of a type as `encode` does; None: it always does."""
    if isinstance(kind, type) and issubclass(kind, datetime | Shape):
        return _is_utc if issubclass(kind, datetime) else writes_itself
    if kind is dict or get_origin(kind) is dict:
        return _never
    inner = [passes for passes in map(_passes, get_args(kind)) if passes is not None]
    if not inner:
        return None
    if get_origin(kind) is tuple:
        return partial(every, inner[0])
    return partial(or_none, inner[0]) if len(inner) == 1 else _never


def _is_utc(moment: datetime) -> bool:
    return moment.tzinfo is UTC


def _never(_item: object) -> bool:
    return False


def every(passes: Passes, items: tuple[Any, ...]) -> bool:
    """Whether all of the items pass."""
    return all(map(passes, items))


def or_none(passes: Passes, item: Any) -> bool:
    """Whether an item that may be missing passes."""
    return item is None or passes(item)


_SCALARS = frozenset({str, int, bool, NoneType})


@cache
def _plan(cls: type) -> tuple[tuple[str, Any], ...]:
    """How a shape is written: each field's name in JSON with its default."""
    return tuple((field.encode_name, field.default) for field in msgspec.structs.fields(cls))


def _sparse(value: Any) -> dict[str, Any]:
    cls: type = type(value)
    return {
        name: item if type(item) in _SCALARS else _plain(item)
        for (name, default), item in zip(_plan(cls), msgspec.structs.astuple(value), strict=True)
        if item is not default and item != default
    }


def _plain(item: Any) -> Any:
    """What orjson writes canonically."""
    kind = type(item)
    if kind in _SCALARS:
        return item
    if kind is float:
        if not isfinite(item):
            raise ValueError(f"{item} is no finite number")  # orjson would write null
        return item
    if kind is tuple:
        return [_plain(part) for part in item]
    if isinstance(item, datetime):
        return in_utc(item)
    if kind is dict:
        return {name: _plain(part) for name, part in item.items()}
    return _sparse(item) if isinstance(item, Shape) else item


def event_class(event_type: str) -> Any:
    """`Event` of one type of data: what pydantic and msgspec read."""
    generic: Any = Event
    return generic[EVENT_TYPES[event_type]]


@lru_cache(maxsize=1024)
def _decoder(kind: str) -> Callable[[bytes], Event[EventData]]:
    """What reads stored bytes of a kind; bounded, for damaged logs may hold any."""
    event_type, latest = _AS_THEY_ARE.get(kind, (None, True))
    if event_type is None:
        return partial(_decode_slowly, kind)
    decoder: msgspec.json.Decoder[Event[EventData]] = msgspec.json.Decoder(event_class(event_type))
    return decoder.decode if latest else partial(_decode_older, decoder.decode, LATEST_VERSION[event_type])


_AS_THEY_ARE = {
    f"{name}.{version}": (name, version == latest)
    for name, latest in LATEST_VERSION.items()
    for version in range(1, latest + 1)
    if reads_as_it_is(name, version)
}
"""Kinds whose bytes the latest shape reads, and whether they are of the latest version."""


def _decode_older(read: Callable[[bytes], Event[EventData]], latest: int, body: bytes) -> Event[EventData]:
    event: Event[EventData] = msgspec.structs.replace(read(body), schema_version=latest)
    return event


def decode(kind: str, body: bytes) -> Event[EventData]:
    """The event in stored bytes, upcast to the latest version.

    Raises UndecodableEvent where the type or version is unknown or the bytes are damaged.
    """
    if body[:1] == BODY_MARK:
        raise UndecodableEvent(
            f"stored event of kind {kind!r} does not open: it or its salt was changed, or it lies open in a sealed store",
            kind=kind,
        )
    try:
        return _decoder(kind)(body)
    except (*UNREADABLE, KeyError, TypeError, ValueError) as error:
        raise UndecodableEvent(f"stored event of kind {kind!r} cannot be read: {error}", kind=kind) from error


def _decode_slowly(kind: str, body: bytes) -> Event[EventData]:
    event_type, _, version = kind.rpartition(".")
    if event_type not in EVENT_TYPES or not version.isdigit() or not 1 <= int(version) <= LATEST_VERSION[event_type]:
        raise UndecodableEvent(
            f"stored event of kind {kind!r} is of no type or version that this release knows", kind=kind
        )
    document = upcast(event_type, int(version), orjson.loads(body))
    event: Event[EventData] = msgspec.convert(document, event_class(event_type))
    return event


TOLERATED = FUTURE_TOLERANCE // timedelta(microseconds=1)
"""Microseconds by which an event may be recorded after it happened and is not late."""
_SECOND = 1_000_000


def lateness(occurred: int, recorded: int) -> float | None:
    """Seconds from an event to its recording, both in microseconds since 1970; None up to five minutes."""
    if recorded - occurred <= TOLERATED:
        return None
    return (recorded - occurred) / _SECOND


class Marks(NamedTuple):
    """What a marker found in one event."""

    level: int
    """0 to 3."""
    statements: tuple[bytes, ...]
    """What the event states, each as the bytes of its normalised text; the log keeps keyed digests of them."""
    values: tuple[bytes, ...] = ()
    """Digests that the event names itself, as they are: those of a value that is rejected outlive the event's words."""
    doubtful: bool = False
    """Whether a person should look at its words before they count; of a person's own word nobody asks."""

    def by(self, marker: Marker) -> Marks:
        """What of it a log with this marker writes: only what its rules have a version for, else no entry could say by which."""
        told = (self.statements, self.values) if marker.statement_rules else ((), ())
        return Marks(self.level if marker.level_rules else 0, *told, self.doubtful)


class Marker(NamedTuple):
    """Who marks, and by which versions of its rules (from 1; 0: nobody looks, and a fold decides for itself)."""

    level_rules: int
    statement_rules: int
    of: Callable[[AnyEvent], Marks]
    wordless: frozenset[str] = frozenset()
    """Kinds (`Type.version`) that hold no words: of such an event nothing is found, and nobody has to read it."""
    doubts: Callable[[AnyEvent], bool] = lambda _event: False
    """Whether a person should look at what an event says; asked of a word that is not his own (`Prepared.doubted`)."""


NOTHING = Marks(0, ())
UNMARKED = Marker(0, 0, lambda _event: NOTHING)
"""Of a log that nobody handed a marker."""


_ABOUT: Final[Mapping[str, Any]] = {"because": "", "grounds": (), "metadata": None}
_TRIPLE: Final[Mapping[str, Any]] = {"subject": "", "predicate": "", "object": "", "condition": None}
_REASON: Final[Mapping[str, Any]] = {"reason": ""}
WORDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "TurnRecorded": {"text": "", "speaker": None},
    "ToolResultRecorded": {"text": ""},
    "MemoryCreated": {
        "content": "",
        "summary": None,
        "speaker": None,
        "keywords": (),
        "tags": (),
        "project": None,
        "task": None,
        **_ABOUT,
    },
    "MemoryRevised": {"content": "", "summary": None, "keywords": None, "tags": None, **_ABOUT},
    "MemoryNegated": {"correction": None, **_REASON},
    "MemoryMerged": {"summary": "", **_REASON},
    "MemoryUnmerged": _REASON,
    "MemoryCompressed": {"content": None},
    "MemoryPromoted": _REASON,
    "MemoryKept": _REASON,
    "MemoryDeleted": _REASON,
    "MemoryRestored": _REASON,
    "MemoriesAccessed": {"query": None},
    "FactAsserted": _TRIPLE,
    "FactRetracted": _TRIPLE,
    "SensitivitySet": _REASON,
    "MemoriesRevealed": _REASON,
    "GroundChanged": {"uri": "", "digest": ""},
    "ValueRejected": _REASON,
    "ValueReadmitted": _REASON,
    "ReviewSettled": _REASON,
}
"""By type of event: the fields that hold words, and what stands in their place. Other types hold none about a memory."""


def without_words(event: AnyEvent) -> AnyEvent:
    """The event with its words taken out; one that has none is itself."""
    fields = WORDS.get(event.type)
    if fields is None:
        return event
    data: EventData = msgspec.structs.replace(event.data, **fields)
    if event.type == "MemoriesAccessed":
        data = msgspec.structs.replace(
            data, accesses=tuple(msgspec.structs.replace(one, query=None) for one in event.data.accesses)
        )
    return msgspec.structs.replace(event, data=data)


def skeleton_of(kind: str, body: bytes) -> bytes:
    """The body of an event without its words; of one that has none, or that this release cannot read, the body itself."""
    if kind.partition(".")[0] not in WORDS:
        return body
    try:
        event = decode(kind, body)
    except UndecodableEvent:
        return body
    left = without_words(event)
    return body if left is event or left == event else _encode_valid(left)


def is_left(one: Stored) -> bool:
    """Whether an entry of a sealed store that was opened is what is left of one: the salt of its commitment is not known."""
    return bool(one.beside) and not one.salt and one.body[:1] == b"{"


def is_wordless(event: AnyEvent) -> bool:
    """Whether nothing of its words is left."""
    return without_words(event) == event


DIGEST_BYTES = 16
LEAST_SECRET = 16
MOST_SECRET = 64
_PERSON = b"statement"


class Stated(NamedTuple):
    """What a field tells: by which version of the rules (1 to 255; 0: it states nothing), and a digest a statement."""

    version: int
    digests: tuple[bytes, ...]


NOTHING_STATED = Stated(0, ())


def digest(secret: bytes, statement: bytes) -> bytes:
    """16 bytes that tell this statement of the secret's owner from others: blake2b, keyed, and for statements alone.

    Raises ValueError where the secret has not 16 to 64 bytes: a digest without one would confirm any guess.
    """
    if not LEAST_SECRET <= len(secret) <= MOST_SECRET:
        raise ValueError(f"a secret of {len(secret)} bytes: {LEAST_SECRET} to {MOST_SECRET} are allowed")
    return blake2b(statement, digest_size=DIGEST_BYTES, key=secret, person=_PERSON).digest()


def written(version: int, digests: Sequence[bytes]) -> bytes:
    """The field's bytes: the version, then each digest in its order; empty for no digests.

    Raises ValueError for a version outside 1 to 255, a digest that has not 16 bytes, or more than `MOST_STATEMENTS`.
    """
    if not digests:
        return b""
    if not 1 <= version <= 255:
        raise ValueError(f"version {version} of the statement rules: 1 to 255 are allowed")
    if len(digests) > MOST_STATEMENTS:
        raise ValueError(f"{len(digests)} statements of one event: at most {MOST_STATEMENTS} are allowed")
    for one in digests:
        if len(one) != DIGEST_BYTES:
            raise ValueError(f"a statement's digest of {len(one)} bytes: {DIGEST_BYTES} are allowed")
    return b"".join((bytes((version,)), *digests))


def read(field: bytes) -> Stated:
    """What a field tells. Raises ValueError for bytes that `written` makes of nothing."""
    if not field:
        return NOTHING_STATED
    count, rest = divmod(len(field) - 1, DIGEST_BYTES)
    if rest or not 1 <= count <= MOST_STATEMENTS:
        raise ValueError(
            f"statement digests of {len(field)} bytes: 1 and {DIGEST_BYTES} for each of 1 to {MOST_STATEMENTS} are allowed"
        )
    if not field[0]:
        raise ValueError("statement digests by version 0 of the rules: 1 to 255 are allowed")
    return Stated(field[0], tuple(field[at : at + DIGEST_BYTES] for at in range(1, len(field), DIGEST_BYTES)))


FINGERPRINT_BYTES = 8
MOST_PRINCIPAL = 200
MOST_MODEL = 100
"""Characters of a language model's name in a principal."""
LOCAL = "local"
"""The principal of whoever uses the store's own socket, or shows the folder's token."""
JOB = "job:"
"""What the principal of a job of this store begins with; no name in the settings can."""
_DECIDED_BY = " model:"
Bringer = Literal["side", "job", "model"]
"""What a principal is: a side that people and programs stand on (`local`, or a name), a job, a model that decided for either."""


def checked_principal(name: str) -> str:
    """The name of who brings an event, as it may stand in an entry. Raises BadSetting where it is empty, long, not printable, or
    says what stands in a principal for a model that decided."""
    if not 1 <= len(name) <= MOST_PRINCIPAL or not name.isprintable() or _DECIDED_BY in name:
        allowed = f"1 to {MOST_PRINCIPAL} printable characters, without {_DECIDED_BY!r}"
        raise BadSetting(f"principal: got {name[:MOST_PRINCIPAL]!r}; allowed: {allowed}", setting="principal")
    return name


@lru_cache(maxsize=64)
def principal_of(name: str, model: str | None) -> str:
    """The principal of what `name` brings and a language model decided: `job:extract model:qwen3:8b`; of others the name.

    A model is called what its endpoint calls it, which may be anything: characters that show nothing are told as U+FFFD, a long
    name is cut. The first ` model:` parts the two, for no name holds one.
    """
    if model is None:
        return name
    shown = "".join(
        one if one.isprintable() and not INVISIBLE.match(one) else "\ufffd" for one in model[: MOST_MODEL + 1]
    )
    if len(shown) > MOST_MODEL:
        shown = shown[: MOST_MODEL - 1] + "\u2026"
    return f"{name}{_DECIDED_BY}{shown.strip() or 'unnamed'}"


def model_of(principal: str) -> str | None:
    """The language model that a principal names, as its endpoint calls it; None where none decided."""
    return principal.partition(_DECIDED_BY)[2] or None


def bringer(principal: str) -> Bringer:
    """What a principal is."""
    if _DECIDED_BY in principal:
        return "model"
    return "job" if principal.startswith(JOB) else "side"


def dedupe_field(owner: str, raw_id: bytes) -> bytes:
    """16 bytes by which an owner's event is known again; the same id of another owner is another event."""
    told = _begun(owner).copy()
    told.update(raw_id)
    return told.digest()


@lru_cache(maxsize=4_096)
def _begun(owner: str) -> blake2b:
    """The hash of an owner's name, to be gone on with: an owner's events come together."""
    return blake2b(owner.encode() + b"\0", digest_size=16)


def fingerprint(secret: bytes, body: bytes) -> bytes:
    """8 bytes that tell a redelivery from a reused id, and nothing to whoever lacks the owner's secret."""
    return blake2b(body, digest_size=FINGERPRINT_BYTES, key=secret).digest()


def keyed(secret: bytes, purpose: bytes, words: bytes, size: int) -> bytes:
    """So many bytes (1 to 64) that tell an owner's words from others, and nothing to whoever lacks its secret.

    `purpose`: what they are for, 1 to 16 bytes; the same words give other bytes for another purpose. Raises ValueError for a secret
    that has not 32 bytes: what is derived without one would confirm any guess.
    """
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a secret of {len(secret)} bytes: {SECRET_BYTES} are allowed")
    return blake2b(words, digest_size=size, key=secret, person=purpose).digest()


def commitment(salt: bytes, body: bytes) -> bytes:
    """What the chain holds of a body; nobody can confirm a guess of it without the salt."""
    return sha256(salt + body).digest()


@lru_cache(maxsize=256)
def level_text(rules: int, level: int, trust: Trust | None = None) -> bytes:
    """`rules:level`, as an entry tells it, and its trust where that is less than `asserted`."""
    return with_trust(b"%d:%d" % (rules, level), trust)


def link_told(one: Stored) -> bytes:
    """What the chain covers of an entry of format 2: each clear field with its length; begins with three zero bytes.

    A body whose salt is there must be the one that was committed to: another is told as another commitment.
    """
    _, kind, raw_id, owner, body, beside, salt = one
    recorded, principal, level, keyed, committed = beside[:_BESIDE]
    if salt:
        committed = sha256(salt + body).digest()
    lengths = _LENGTHS
    told = (
        _told_text(kind), lengths[len(raw_id)], raw_id, _told_text(owner), lengths[len(recorded)], recorded,
        _told(principal), _told(level), lengths[len(keyed)], keyed, lengths[len(committed)], committed,
    )  # fmt: skip
    return b"".join(told if len(beside) == _BESIDE else (*told, *map(_told, beside[_BESIDE:])))


_BESIDE = 5
"""Clear fields beside a body that every entry of format 2 has; behind them stands where a clock was behind."""


class _Lengths(dict[int, bytes]):
    """Lengths as a chain tells them."""

    def __missing__(self, length: int) -> bytes:
        return length.to_bytes(4, "big")


_LENGTHS = _Lengths({length: length.to_bytes(4, "big") for length in range(256)})


@lru_cache(maxsize=4_096)
def _told(field: bytes) -> bytes:
    """With its length; of what is the same in many entries."""
    return _LENGTHS[len(field)] + field


@lru_cache(maxsize=4_096)
def _told_text(field: str) -> bytes:
    return _told(field.encode())


def told_beside(secret: bytes, marker: Marker, marks: Marks | None, trust: Trust | None) -> tuple[bytes, bytes]:
    """The level and the digests of an event of an owner with this secret; `marks` is None where nobody could look."""
    rules = marker if marks is not None else UNMARKED
    level, statements, values, doubtful = marks or NOTHING
    told = b""
    if statements or values:
        told = written(rules.statement_rules, [*(digest(secret, one) for one in statements), *values])
    return level_text(rules.level_rules, level, PROPOSED if doubtful else trust), told


_PURPOSE = b"id of words"
_VERSION_8 = 0x8000 << 64 | 0x8 << 60
_PLACES_8 = ~(0xF000 << 64 | 0xC << 60)


class Naming(NamedTuple):
    """By what ids are made of one owner's words."""

    owner: str
    secret: bytes
    """Empty where the owner has none: an owner without events."""

    def __repr__(self) -> str:
        """Without the secret: what is told of an error or a test goes further than the store."""
        return f"Naming(owner={self.owner!r})"

    def made(self, use: str, *parts: str) -> str:
        """A version 8 UUID of these words for one use; other owners, uses and words have others.

        Raises StoreMismatch where the owner has no secret, or one that nothing made.
        """
        if len(self.secret) != SECRET_BYTES:
            raise StoreMismatch(
                f"the secret of owner {self.owner!r} has {len(self.secret)} bytes, {SECRET_BYTES} are allowed: no id is made of its"
                " words; bring back the backup that has the right one, and see `engramlog verify`"
            )
        words = b"".join(len(one).to_bytes(8, "big") + one for one in map(str.encode, (use, *parts)))
        number = int.from_bytes(keyed(self.secret, _PURPOSE, words, 16), "big")
        return str(UUID(int=number & _PLACES_8 | _VERSION_8))
