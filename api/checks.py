"""What callers ask for, checked: owners, modes, limits, positions, and times. Every refusal names field, got and allowed.

Happened (`as_of`) and recorded (`known`) are two lines; `at` is when weights are computed.

Whoever admits a call says who asks and by which path; `events.standing` says for whom one may speak by it. Who asks in this
process without being admitted by HTTP or MCP is a command at the store, or a program that has it open: it may do everything.

Queries, reasons, labels and refusals have no sensitivity of their own, so they are searched for secrets where they are shown.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar, cast, get_args

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from engramlog_server.events.envelope import AnyEvent, Stored, from_micros, micros, utc_text
from engramlog_server.events.errors import EngramlogError, InputError, refused
from engramlog_server.events.log import Behalf, EventLog
from engramlog_server.events.partitions import parse_position, partition_of
from engramlog_server.events.standing import Objection, Path, Speaker
from engramlog_server.events.trust import ASSERTED
from engramlog_server.events.vocabulary import EARLIEST, ID_RULE, Actor, Trust, check_id, is_text
from engramlog_server.projections.access.caller import AT_THE_FOLDER, Caller, ToldUpTo
from engramlog_server.projections.choices import MAX_RESULTS
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.shapes import LinesTold, TimesTold

if TYPE_CHECKING:
    from engramlog_server.projections.laws.modes import Mode
    from engramlog_server.projections.past.folding import Lines

Text = TypeVar("Text", str, str | None)
HIDDEN = "[withheld: it looks like a secret]"
"""Stands for a text beside content that may not be told."""
_JOINED = re.compile(r"[_\-]+")
_PLACES = ("data.parameters.", "data.")
"""Where a field stands, which is told also where its name is not."""
QUERY_HIDDEN = (
    "the query looks like a secret: it was looked for by words only, and neither given to an embedder nor recorded"
)
QUERY_RULE = "a query without a secret, an address, a telephone number or the like: leave it out, the rest is recorded"


@lru_cache(maxsize=4096)
def _level(text: str) -> int:
    from engramlog_server.projections.language.sensitivity.level import detect_sensitivity

    return detect_sensitivity(text)


def is_secret(text: str) -> bool:
    """Whether a text holds a password, a key or the like, as far as rules can tell."""
    return _level(text) >= SECRET


def is_sensitive(text: str) -> bool:
    """Whether a text holds a secret, or an address, a telephone number or the like: no query with one is recorded."""
    from engramlog_server.projections.language.sensitivity.level import SENSITIVE

    return _level(text) >= SENSITIVE


def masked(text: Text) -> Text:
    """A text as it may be told: itself, or that it is withheld."""
    return HIDDEN if text and is_secret(text) else text


def masked_all(told: Any) -> Any:
    """The same of every text in JSON-ready lists and dicts, names too."""
    if isinstance(told, str):
        return masked(told)
    if isinstance(told, Mapping):
        return {masked_all(name): masked_all(one) for name, one in told.items()}
    return [masked_all(one) for one in told] if isinstance(told, list | tuple) else told


def label_objection(event: AnyEvent) -> Objection | None:
    """Why an event is refused whose labels hold a secret, without repeating it: labels stand in lists, filters and logs.

    What a memory says is taken in, and withheld by its sensitivity.
    """
    for field, label in _labels(event.type, event.data):
        if is_secret(label):
            allowed = (
                "a label without a password, a key or the like: labels are shown in lists; a memory's text is withheld"
            )
            return Objection(f"data.{field}", HIDDEN, allowed)
    if event.type == "MemoriesAccessed":
        for number, access in enumerate(event.data.accesses):
            if access.query and is_sensitive(access.query):
                return Objection(f"data.accesses[{number}].query", HIDDEN, QUERY_RULE)
    return None


def _labels(event_type: str, data: Any) -> Iterator[tuple[str, str]]:
    for field in _LABELS.get(event_type, ()):
        told = getattr(data, field)
        if isinstance(told, str):
            yield field, told
        else:
            yield from ((f"{field}[{number}]", one) for number, one in enumerate(told or ()))


_LABELS: Mapping[str, tuple[str, ...]] = {
    "MemoryCreated": ("project", "task", "tags"),
    "MemoryRevised": ("tags",),
    "SynonymDefined": ("keyword", "synonym"),
    "MemoriesAccessed": ("query",),
    "ToolResultRecorded": ("tool",),
    "KeyIssued": ("principal",),
    "GrantsSet": ("principal",),
}


def safe_refusal(error: EngramlogError) -> dict[str, Any]:
    """`EngramlogError.as_dict` of a refusal that does not repeat a secret it was given."""
    told = error.as_dict()
    problems = told.get("problems")
    if isinstance(problems, list) and any(map(_repeats, problems)):
        told["problems"] = [_unrepeated(one) for one in problems]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        told["message"] = f"{told['problems'][0]['message']}{more}"
    return _unrepeated(told)


def _repeats(told: Mapping[str, Any]) -> bool:
    got, field = told.get("got"), told.get("field")
    if isinstance(field, str) and masked_name(field) != field:
        return True
    return isinstance(got, str) and (is_secret(got) or is_secret(f"{field}: {got}"))


def masked_name(field: str) -> str:
    """The name of a field as it may be told: whoever sends it chose it, and may have joined its words."""
    if not is_secret(field) and not is_secret(_JOINED.sub(" ", field)):
        return field
    place = next((one for one in _PLACES if field.startswith(one)), "")
    return f"{place}{HIDDEN}"


def _unrepeated(told: Mapping[str, Any]) -> dict[str, Any]:
    if not _repeats(told):
        return dict(told)
    field = told.get("field")
    if isinstance(field, str):
        told = {**told, "field": masked_name(field)}
    message = f"{told.get('field')}: got {HIDDEN}; allowed: {told.get('allowed')}"
    return {**told, "got": HIDDEN, "message": message}


_PATH: ContextVar[Path] = ContextVar("path", default="terminal")
_CALLER: ContextVar[Caller] = ContextVar("caller", default=AT_THE_FOLDER)
_TELLING: ContextVar[ToldUpTo | None] = ContextVar("telling", default=None)


def come_in_by(path: Path, call: Callable[..., Any], *args: Any, **given: Any) -> Any:
    """What the call gives; within it everything is said by this path."""
    token = _PATH.set(path)
    try:
        return call(*args, **given)
    finally:
        _PATH.reset(token)


@contextmanager
def asked_by(caller: Caller, telling: ToldUpTo | None = None) -> Iterator[None]:
    """Everything within is asked, and said, by this caller. `telling`: up to what snapshots tell him; None: all."""
    token = _CALLER.set(caller)
    try:
        with told_up_to(telling):
            yield
    finally:
        _CALLER.reset(token)


@contextmanager
def told_up_to(telling: ToldUpTo | None) -> Iterator[None]:
    """Within it snapshots tell up to this."""
    token = _TELLING.set(telling)
    try:
        yield
    finally:
        _TELLING.reset(token)


def telling_in_hand() -> ToldUpTo | None:
    """Up to what the call in hand is told of the owner that it is about; None: all, and whenever something is said or done."""
    return _TELLING.get()


def caller_in_hand() -> Caller:
    """Who asks what is in hand."""
    return _CALLER.get()


def behalf_in_hand() -> Behalf | None:
    """On whose behalf events are brought; None where it is the log's own side."""
    caller = _CALLER.get()
    return None if caller.is_unlimited and caller.key_id is None else Behalf(caller.name, caller.highest)


def speaker(log: EventLog) -> Speaker:
    """Who says what the verb in hand says, on the log's side."""
    path = _PATH.get()
    return Speaker(path, log.principal, highest=log.highest if path == "http" else _highest_in_hand())


def importer(log: EventLog) -> Speaker:
    """Who brings what is imported."""
    return Speaker("import", log.principal, highest=_highest_in_hand())


def _highest_in_hand() -> Trust:
    """The most that the word of whoever asks reaches, by his grants."""
    behalf = behalf_in_hand()
    return ASSERTED if behalf is None else behalf.highest


ACTORS: tuple[str, ...] = get_args(Actor)
MAX_QUERY = 10_000
"""Longest query, in characters."""


class AsOf(NamedTuple):
    """A place in time: an instant, a day, or a position; none of them where nothing was asked."""

    instant: int | None = None
    """Microseconds since 1970."""
    seq: int | None = None
    day: str | None = None
    """YYYY-MM-DD: the end of that day by the owner's clocks."""

    def by_the_clocks_of(self, zone: str) -> AsOf:
        """The same with a day as the instant at which it ends in the zone."""
        if self.day is None:
            return self
        from engramlog_server.projections.ranking.search_request import parse_range

        return AsOf(instant=parse_range(self.day, 0, zone).end - 1)


PRESENT = AsOf()


def check_owner(owner: str) -> str:
    """The owner, or InputError."""
    return check_id_of("owner", owner)


def check_memory_id(memory_id: str) -> str:
    """The memory id, or InputError."""
    return check_id_of("memory_id", memory_id)


def check_id_of(field: str, value: str) -> str:
    """An id of a turn, a session or whatever a field names, or InputError."""
    try:
        return check_id(value)
    except PydanticCustomError:
        raise refused(field, value, ID_RULE) from None


def check_mode(mode: str) -> Mode:
    """The mode, or InputError."""
    from engramlog_server.projections.laws.modes import MODES

    return cast("Mode", check_one_of("mode", mode, MODES))


def check_limit(limit: int, most: int = MAX_RESULTS, field: str = "limit") -> int:
    """A number of results, or InputError."""
    if not 1 <= limit <= most:
        raise refused(field, limit, f"a whole number from 1 to {most}")
    return limit


def check_query(query: str, field: str = "query") -> str:
    """A query, or InputError that names the field."""
    if not is_text(query, MAX_QUERY):
        shown = query if len(query) <= 60 else f"{query[:60]}… ({len(query):,} characters)"
        raise refused(field, shown, f"some text in UTF-8 of at most {MAX_QUERY:,} characters")
    return query


def check_one_of(field: str, got: str, allowed: Collection[str]) -> str:
    """One of these names, or InputError."""
    if got not in allowed:
        raise refused(field, got, " or ".join(allowed) if len(allowed) == 2 else ", ".join(allowed))
    return got


def check_actor(actor: str, field: str = "actor") -> str:
    """An actor, or InputError."""
    return check_one_of(field, actor, ACTORS)


CURSOR_RULE = "what `next` said on the page before, with nothing else changed in the question"


def cursor_of(*parts: str | int) -> str:
    """A cursor as callers hold it: URL-safe, opaque."""
    return urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def cursor_parts(cursor: str, kinds: Sequence[type], rule: str = CURSOR_RULE) -> list[Any]:
    """What a cursor was made of, of these kinds one by one, or InputError, which tells the rule."""
    try:
        parts = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError):
        parts = None
    if not isinstance(parts, list) or [type(one) for one in parts] != list(kinds):
        raise refused("cursor", cursor[:80], rule)
    return parts


def question_name(*asked: Any) -> str:
    """A short name of what was asked: a cursor of one question is refused for another."""
    return blake2b(orjson.dumps(asked, option=orjson.OPT_SORT_KEYS), digest_size=9).hexdigest()


_DATETIME = TypeAdapter(datetime)
_INSTANT_RULE = "an RFC 3339 date-time with a time zone, e.g. 2023-10-22T12:00:00Z"
_AS_OF_RULE = f"{_INSTANT_RULE}, a day, e.g. 2023-10-22, or a position, e.g. 3:128"


def parse_instant(text: str, field: str = "at", rule: str = _INSTANT_RULE) -> int:
    """Microseconds since 1970 of an RFC 3339 date-time with a zone, or InputError, which tells the rule."""
    try:
        moment = _DATETIME.validate_python(text)
    except ValidationError:
        raise refused(field, text, rule) from None
    if moment.tzinfo is None or text[4:5] != "-" or moment < EARLIEST:
        raise refused(field, text, f"{rule}, not before 1900")
    return micros(moment)


def parse_as_of(text: str | None, owner: str, partitions: int, field: str = "as_of") -> AsOf:
    """An instant, a day, or a position `p:seq` of the owner's partition; the present where nothing is given."""
    return parse_place(text, field, partition_of(owner, partitions), f"owner {owner}, whose partition is")


def parse_line(text: str | None, field: str) -> AsOf:
    """An instant or a day, of many owners: a position is one owner's."""
    if text is not None and text.count(":") == 1 and text.replace(":", "").isdigit():
        raise refused(field, text, "an instant, or a day: a position is one owner's")
    return parse_place(text, field, 0, "", f"{_INSTANT_RULE}, or a day, e.g. 2023-10-22")


def parse_place(text: str | None, field: str, partition: int, whose: str, rule: str | None = None) -> AsOf:
    """The same of a partition; `whose`: what a refusal calls it; `rule`: what it tells to be allowed."""
    if text is None:
        return PRESENT
    if text.replace(":", "").isdigit() and text.count(":") == 1:
        return AsOf(seq=_position_in(text, partition, field, whose))
    if _DAY.fullmatch(text):
        _check_day(field, text)
        return AsOf(day=text)
    return AsOf(instant=parse_instant(text, field, rule or _AS_OF_RULE))


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _check_day(field: str, text: str) -> None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise refused(field, text, f"a day of the calendar, or {_INSTANT_RULE}") from None
    if day < EARLIEST.date():
        raise refused(field, text, "a day not before 1900")


def position_of(text: str, owner: str, partitions: int, field: str = "after") -> int:
    """The seq of a position, which must lie in the owner's partition."""
    return _position_in(text, partition_of(owner, partitions), field, f"owner {owner}, whose partition is")


def _position_in(text: str, mine: int, field: str, whose: str) -> int:
    try:
        partition, seq = parse_position(text)
    except ValueError:
        raise refused(field, text, f"a position partition:seq, e.g. {mine}:128") from None
    if partition != mine:
        raise refused(field, text, f"a position of {whose} {mine}: {mine}:seq")
    return seq


Progress = Callable[[int, int], None]


class LineTerms(TypedDict, total=False):
    """Which past a question is about, and what it waits for."""

    as_of: str | None
    """What had happened by an instant or a day, or stands at a position."""
    known: str | None
    """What was recorded by an instant or a day, or stands at a position: the answer as it was given then."""
    after: str | None
    """Wait until this position is folded."""
    on_progress: Progress | None


class TimesAsked(LineTerms, total=False):
    """The same, and the instant at which weights are computed."""

    at: str | None


class RequestedTimes(NamedTuple):
    """What was asked of time, checked."""

    as_of: AsOf
    known: AsOf
    at: int | None
    waits: int
    """Seq of the owner's partition that must be folded first; 0 for none."""

    @property
    def of_the_past(self) -> bool:
        """Whether the question is about less than all that is folded."""
        return self.as_of != PRESENT or self.known != PRESENT

    @property
    def seqs(self) -> list[int]:
        """Positions beyond which nothing counts."""
        return [place.seq for place in (self.as_of, self.known) if place.seq is not None]


def times_of(asked: TimesAsked, owner: str, partitions: int) -> RequestedTimes:
    """The times of a question about an owner. Raises InputError, which names the field."""
    at, after = asked.get("at"), asked.get("after")
    as_of = parse_as_of(asked.get("as_of"), owner, partitions)
    known = parse_as_of(asked.get("known"), owner, partitions, "known")
    instant = None if at is None else parse_instant(at)
    waits = position_of(after, owner, partitions) if after is not None else 0
    return RequestedTimes(as_of, known, instant, max([waits, *filter(None, (as_of.seq, known.seq))]))


def times_answer(asked: TimesAsked) -> TimesTold:
    """What an answer says of the times that it was asked about."""
    return {**lines_answer(asked), "at": asked.get("at")}


def lines_answer(asked: LineTerms) -> LinesTold:
    """The same of an answer that computes no weights."""
    return {"as_of": asked.get("as_of"), "known": asked.get("known")}


class Counted(NamedTuple):
    """Which of an owner's events an answer is made of, and when its weights are computed."""

    lines: Lines
    seqs: list[int] | None
    """Those that can be: what is not among them need not be read. None: any that is applied."""
    now: int | None
    """None: the newest `occurred_at` among the events that count."""


class Owned(NamedTuple):
    """What an owner's log tells about it."""

    seqs: Callable[[], list[int]]
    """The owner's applied events, ascending: asked for where a question ends at one of them."""
    zone: str
    read: Callable[[int], Stored]


def lines_of(times: RequestedTimes, zone: str) -> Lines:
    """Up to where on either line events count."""
    from engramlog_server.projections.past.folding import Lines

    as_of, known = times.as_of.by_the_clocks_of(zone), times.known.by_the_clocks_of(zone)
    return Lines(as_of.instant, min(times.seqs, default=None), known.instant)


def counted_of(times: RequestedTimes, owned: Owned) -> Counted:
    """What a question is answered from."""
    lines = lines_of(times, owned.zone)
    now, last = lines.happened, lines.seq
    if times.as_of == PRESENT:
        now = lines.recorded if times.known.seq is None else _recorded(owned, times.known.seq)
    if last is None and lines.recorded is None:
        return Counted(lines, None, now)
    seqs = [seq for seq in owned.seqs() if last is None or seq <= last]
    if lines.recorded is not None:
        from engramlog_server.projections.past.folding import recorded_by

        seqs = list(recorded_by(seqs, lines.recorded, lambda seq: owned.read(seq).recorded))
    return Counted(lines, seqs, now)


def _recorded(owned: Owned, seq: int) -> int | None:
    """When the entry at a position was recorded; None at position 0."""
    return owned.read(seq).recorded if seq else None


_DAYS = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?")
_RULE = "an RFC 3339 date-time with a time zone, e.g. 2023-10-22T12:00:00Z, or a day, a month or a year: 2023-10-22, 2023-10, 2023"


class TimeSpan(NamedTuple):
    """From one instant to another, microseconds since 1970; None: without an end there."""

    since: int | None = None
    until: int | None = None

    def holds(self, instant: int) -> bool:
        """Whether an instant lies in it."""
        return (self.since is None or instant >= self.since) and (self.until is None or instant <= self.until)


WHOLE = TimeSpan()


def span_of(since: str | None, until: str | None, zone: str, line: str = "") -> TimeSpan:
    """A span as it was asked for; `line`: what its names begin with. Raises InputError, also where it ends before it begins."""
    names = f"{line}since", f"{line}until"
    span = TimeSpan(_end(names[0], since, zone, last=False), _end(names[1], until, zone, last=True))
    if span.since is not None and span.until is not None and span.since > span.until:
        raise refused(names[1], until, f"a time not before {names[0]}, which is {since}")
    return span


def _end(field: str, text: str | None, zone: str, *, last: bool) -> int | None:
    if text is None:
        return None
    if not _DAYS.fullmatch(text):
        return parse_instant(text, field, _RULE)
    parse_instant(f"{text}{'-01-01'[len(text) - 4 :]}T00:00:00Z", field, _RULE)  # that there is such a day
    from engramlog_server.projections.ranking.search_request import parse_range

    try:
        days = parse_range(text, 0, zone)
    except ValueError:
        raise refused(field, text, _RULE) from None
    return days.end - 1 if last else days.start


def recorded_positions(span: TimeSpan, head: int, read: Callable[[int], Stored]) -> range:
    """Seqs of a partition, from 1 to its head, that were recorded within a span; `read` is asked of as many as bisections take."""

    def first(instant: int) -> int:
        """The first seq that was recorded then or later."""
        low, high = 1, head + 1
        while low < high:
            middle = (low + high) // 2
            if (read(middle).recorded or 0) >= instant:
                high = middle
            else:
                low = middle + 1
        return low

    if span == WHOLE:
        return range(1, head + 1)
    since = 1 if span.since is None else max(span.since, 1)
    return range(first(since), head + 1 if span.until is None else first(span.until + 1))


KNOWN, HAPPENED = "known", "happened"
LINE_NAMES = (KNOWN, HAPPENED)


def other_line(line: str) -> str:
    """The one that two moments do not stand on."""
    return HAPPENED if line == KNOWN else KNOWN


class SideAsked(NamedTuple):
    """One of the two: the times that it is read at, and which of them is its moment."""

    times: TimesAsked
    moves: str
    """`known` or `as_of`: the field that the moment stands in."""
    name: str
    """`from` or `to`: how it was asked."""

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """A refusal of the moment within is told by the name that it was asked under."""
        try:
            yield
        except InputError as error:
            if error.context.get("field") != self.moves:
                raise
            got, allowed = self.times.get("known" if self.moves == "known" else "as_of"), error.context.get("allowed")
            raise refused(self.name, got, str(allowed)) from None


class TwoMoments(NamedTuple):
    """What is asked about: from one moment to another, along one line, with the other line held where it is told."""

    line: str
    first: SideAsked
    second: SideAsked
    since: str
    until: str | None
    """None: now."""

    def check_order(self, owner: str, partitions: int, zone: str, now: int) -> None:
        """Raises InputError where it ends before it begins, as far as its words tell: of two positions, or two times."""
        begins = parse_as_of(self.since, owner, partitions, "since").by_the_clocks_of(zone)
        ends = AsOf(instant=now)
        if self.until is not None:
            ends = parse_as_of(self.until, owner, partitions, "until").by_the_clocks_of(zone)
        later = begins.instant is not None and ends.instant is not None and begins.instant > ends.instant
        if later or (begins.seq is not None and ends.seq is not None and begins.seq > ends.seq):
            raise self.reversed()

    def reversed(self) -> InputError:
        """That it ends before it begins."""
        ends = f"`until`, {self.until}" if self.until is not None else "`until`, which is now by default"
        return refused("since", self.since, f"a moment that is not after {ends}; a day is its end")


def moments_of(
    line: str, since: str, until: str | None, as_of: str | None, known: str | None, now: Callable[[], int]
) -> TwoMoments:
    """The two sides of a question. Raises InputError for an unknown line, and for a time that the line moves itself.

    `now`: microseconds since 1970, asked where the span ends now and what was known is held: then what had happened by now counts.
    """
    check_one_of("line", line, LINE_NAMES)
    moved, told = ("known", known) if line == KNOWN else ("as_of", as_of)
    if told is not None:
        other = "as_of" if line == KNOWN else "known"
        raise refused(
            moved, told, f"nothing on the line `{line}`, which `since` and `until` move along; {other} holds the other"
        )
    if line == KNOWN:
        sides = TimesAsked(as_of=as_of, known=since), TimesAsked(as_of=as_of, known=until)
    else:
        ends = until
        if until is None and known is not None:
            ends = utc_text(from_micros(now()))
        sides = TimesAsked(as_of=since, known=known), TimesAsked(as_of=ends, known=known)
    return TwoMoments(line, SideAsked(sides[0], moved, "since"), SideAsked(sides[1], moved, "until"), since, until)
