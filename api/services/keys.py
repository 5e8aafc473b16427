"""Who may do what, and who looked: the book of access, keys and grants, and what was read or refused with them.

The book is followed in the log itself, whether or not a worker folds it: whoever asks gets one that holds all that was said before
he asked. Looks are shared. Where the log cannot be read for a second, or an alarm says that it was changed, nobody with a key is
admitted. Keys and grants are events of `:access`. Who looked at what, and who was refused, is an event of `:reads` each, without
contents: what is shown is recorded first, and where that fails nothing is shown. What is refused again and again is told once in a
while, with how often: nobody fills the log by asking.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from secrets import token_bytes
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from engramlog_server.api.checks import (
    asked_by,
    caller_in_hand,
    check_limit,
    masked,
    parse_instant,
    parse_place,
)
from engramlog_server.api.choices import MOST_KEY_DAYS
from engramlog_server.api.services.events import Events
from engramlog_server.api.services.writing import Writer, refusal_of
from engramlog_server.events.catalogue import (
    PRINCIPAL_RULE,
    GrantsSet,
    KeyIssued,
    KeyRevoked,
    Looked,
    Principal,
    ReadRecorded,
)
from engramlog_server.events.envelope import LOCAL, decode, from_micros, micros, utc_text
from engramlog_server.events.errors import (
    AccessDenied,
    ConcurrencyError,
    DamagedState,
    EngramlogError,
    StoreError,
    StoreUnavailable,
    UndecodableEvent,
    UnderReplicated,
    refused,
)
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import ACCESS, READS, access_id, parse_position, partition_of, position_text
from engramlog_server.events.standing import Speaker
from engramlog_server.events.text import many
from engramlog_server.events.validation import make_event, ready
from engramlog_server.events.vocabulary import is_id
from engramlog_server.projections.access.caller import AT_THE_FOLDER, MOST_LIVE, AccessBook, Caller, Key, told
from engramlog_server.projections.access.keys import MadeKey, grants_of, make_key
from engramlog_server.projections.access.provider import OF_PROVIDER
from engramlog_server.projections.shapes import (
    AccessTold,
    GrantsTold,
    KeyKnown,
    KeyMade,
    KeyRevokedTold,
    LoggedEvent,
    ReadsTold,
    ReadTold,
    WhoAsks,
)
from engramlog_server.projections.views.query import moment

logger = logging.getLogger(__name__)

AT_ONCE = 256
"""Numbers that are asked for in one go."""
MOST_STALE = 1.0
"""Seconds without an answer of the log after which nobody with a key is admitted."""
Clock = Callable[[], float]


class AccessEvent(NamedTuple):
    """One event of access."""

    data: Any
    at: int
    """When it was recorded, microseconds since 1970."""
    position: str
    principal: str | None
    actor: str


class _RolledBack(Exception):
    """The log does not hold what was read of it."""


class AccessFollower:
    """Follows what is said of access. Safe for threads."""

    def __init__(self, log: EventLog, clock: Clock = monotonic) -> None:
        """`clock`: seconds, never backwards."""
        self._log = log
        self._clock = clock
        self._partition = partition_of(ACCESS, log.partitions)
        self._said: list[AccessEvent] = []
        self._book = AccessBook()
        self._seen_at: float | None = None
        self._lock, self._looking = Lock(), Lock()
        self._next: Future[AccessBook] | None = None
        """The look that has not begun, with all who asked for it."""

    def book(self) -> AccessBook:
        """The book with all that was said before this was asked. Raises StoreUnavailable where it cannot be known."""
        with self._lock:
            mine = self._next
            if mine is not None:
                begins = False
            else:
                mine = self._next = Future()
                begins = True
        if begins:
            with self._looking:  # a look in hand may have begun before the last event
                with self._lock:
                    self._next = None
                try:
                    mine.set_result(self._look())
                except BaseException as error:
                    mine.set_exception(error)
                    raise
        return mine.result()

    def admitting(self) -> AccessBook:
        """The book by which somebody who shows a key is admitted. Raises as `book`, and StoreUnavailable while an alarm says that
        the log of access is not the one that was written: it may lack that a key was revoked."""
        found = self.book()
        try:
            alarm = self._log.alarm_of(self._partition)
        except StoreError:
            return found  # `book` had an answer just now; where there is none for a second, it has none either
        if alarm is not None:
            raise StoreUnavailable(
                f"access: nobody with a key is admitted while the alarm {alarm} of partition {self._partition} stands",
                retry_after=30,
            )
        return found

    def _look(self) -> AccessBook:
        began = self._clock()
        try:
            try:
                found = self._new()
            except _RolledBack:  # of what it knew nothing holds: it begins anew
                with self._lock:
                    self._said, self._book, self._seen_at = [], AccessBook(), None
                found = self._new()
        except (StoreError, DamagedState) as error:
            if self._seen_at is not None and self._clock() - self._seen_at < MOST_STALE:
                return self._book
            why = f" ({error.message})" if isinstance(error, DamagedState) else ""
            raise StoreUnavailable(
                f"access: the log does not tell who may do what; nobody with a key is admitted until it does{why}",
                retry_after=1,
            ) from None
        book = self._book.after_all((one.data, one.at) for one in found) if found else self._book
        with self._lock:
            self._said += found
            self._book, self._seen_at = book, began
        return book

    def said(self) -> list[AccessEvent]:
        """All that was said, in order. Raises as `book`."""
        self.book()
        with self._lock:
            return list(self._said)

    def _new(self) -> list[AccessEvent]:
        """What was said since the last look, by its numbers."""
        found, number = list[AccessEvent](), self._book.number
        last = self._said[-1] if self._said else None
        size = 1 if self._seen_at is not None else AT_ONCE
        while True:
            ids = [access_id(one) for one in range(number + 1, number + 1 + size)]
            beside = [] if last is None else [access_id(last.data.number)]
            seqs = self._log.seqs_of(ACCESS, [*beside, *ids])
            if last is not None and self._place(seqs.get(beside[0], 0)) != last.position:
                raise _RolledBack
            last = None
            known = [seqs[one] for one in ids if one in seqs]
            entries = self._log.read_at(self._partition, known)
            if len(entries) < len(known):
                raise StoreUnavailable(f"access: entries of partition {self._partition} are gone from the log")
            for stored in entries:
                try:
                    event = decode(stored.kind, stored.body)
                except UndecodableEvent as error:  # of a release to come: what it says of keys is not known here
                    raise StoreUnavailable(f"access: {error.message}") from None
                at = stored.recorded or micros(event.occurred_at)
                found.append(AccessEvent(event.data, at, self._place(stored.seq), stored.principal, event.actor))
            number += len(known)
            if len(known) < size:
                return found
            size = AT_ONCE

    def _place(self, seq: int) -> str:
        return position_text(self._partition, seq)


_PRINCIPAL: TypeAdapter[str] = TypeAdapter(Principal)
DAY = 86_400_000_000
"""Microseconds."""
TRIES = 16
"""How often something is said anew because somebody else was first."""


class AccessKeys:
    """Keys and grants of one store. Safe for threads."""

    def __init__(
        self,
        log: EventLog,
        writer: Writer,
        follower: AccessFollower,
        chance: Callable[[int], bytes] = token_bytes,
    ) -> None:
        """`chance`: gives so many random bytes."""
        self._log = log
        self._writer = writer
        self._follower = follower
        self._chance = chance
        self._saying = Lock()

    def me(self) -> WhoAsks:
        """Who asks, and what he may do."""
        return caller_in_hand().as_dict()

    def access(self, *, as_of: str | None = None, principal: str | None = None) -> AccessTold:
        """Everybody who has, or had, a key or a grant, with both; `as_of`: as it was then, an instant, at the
        end of a day (UTC), or at a position of `:access`. Holds no key.

        `events` are what was said of them, oldest first, with who said it.
        """
        said = self._follower.said()
        now = self._until(as_of, said)
        said = [one for one in said if one.at <= now]
        book = AccessBook().after_all((one.data, one.at) for one in said)
        names = [one for one in book.principals if principal is None or one == principal]
        keys = list(book.keys.values())
        return {
            "at": utc_text(from_micros(now)),
            "principals": [
                {
                    "principal": name,
                    "keys": [_key_answer(one, now) for one in keys if one.principal == name],
                    "grants": [told(one) for one in book.grants.get(name, ())],
                }
                for name in names
            ],
            "events": [
                {
                    "position": one.position,
                    "recorded_at": utc_text(from_micros(one.at)),
                    "event": type(one.data).__name__,
                    "principal": _about(one.data, book),
                    "key": getattr(one.data, "key_id", None),
                    "by": one.principal,
                    "reason": masked(one.data.reason),
                }
                for one in said
                if principal is None or _about(one.data, book) == principal
            ],
        }

    def issue(
        self,
        principal: str,
        *,
        grants: Sequence[Mapping[str, Any]] | None = None,
        expires_at: str | None = None,
        days: int | None = None,
        reason: str = "",
        actor: str = "user",
    ) -> KeyMade:
        """Make a key for a principal, and with `grants` set what he may do. The key is told here and never again.

        It ends at `expires_at`, or after so many `days`; told neither, by no date.
        Of a principal two keys live at once at the most: the old one, and the one that takes its place. Raises InputError.
        """
        self._check_himself()
        _check_principal(principal, self._own())
        if principal.startswith(OF_PROVIDER):
            raise refused(
                "principal", principal, f"a name without {OF_PROVIDER}: such are the identity provider's, not keys'"
            )
        read = None if grants is None else grants_of(grants)
        now = self._log.now()
        ends = _end(expires_at, days, now)
        made: list[MadeKey] = []

        def said(book: AccessBook) -> list[Any]:
            if len(book.live(principal, now)) >= MOST_LIVE:
                living = ", ".join(one.key_id for one in book.live(principal, now))
                raise refused(
                    "principal", principal, f"one with fewer than {MOST_LIVE} live keys; revoke one first: {living}"
                )
            key = make_key(self._chance)
            while key.key_id in book.keys:
                key = make_key(self._chance)
            made[:] = [key]
            number = book.number + 1
            at = None if ends is None else from_micros(ends)
            issued = KeyIssued(
                number=number, key_id=key.key_id, principal=principal, public=key.public, digest=key.digest,
                expires_at=at, reason=reason,
            )  # fmt: skip
            if read is None:
                return [issued]
            return [issued, GrantsSet(number=number + 1, principal=principal, grants=read, reason=reason)]

        try:
            book, position = self._say(said, actor)
        except UnderReplicated as error:
            raise self._revoked_at_once(made[0].key_id, error) from error
        assert position is not None  # there is always a key to say
        key = made[0]
        return {
            "key": key.text,
            "key_id": key.key_id,
            "principal": principal,
            "expires_at": moment(ends),
            "grants": [told(one) for one in book.grants.get(principal, ())],
            "position": position,
        }

    def _revoked_at_once(self, key_id: str, error: UnderReplicated) -> UnderReplicated:
        """The refusal of a key that is made and is not proved: nobody is shown it, so it is revoked."""
        done = "and is revoked: ask again for another"
        try:
            self.revoke(key_id, reason="not proved when it was made, and shown to nobody")
        except UnderReplicated:
            """That is written, as the key is."""
        except EngramlogError:
            done = f"and could not be revoked: `engramlog key revoke {key_id}`"
        told = f"{error.message} The key {key_id} was shown to nobody, {done}"
        return UnderReplicated(told, error.context["receipts"])

    def revoke(self, key_id: str, *, reason: str = "", actor: str = "user") -> KeyRevokedTold:
        """From here on a key, and every token made of it, opens nothing. Raises InputError for a key that is none."""
        self._check_himself()
        found: list[Key] = []

        def said(book: AccessBook) -> list[Any]:
            key = book.keys.get(key_id)
            if key is None:
                raise refused("key_id", key_id[:80], "the id of a key of this store; see `engramlog access --keys`")
            found[:] = [key]
            if key.revoked_at is not None:
                return []
            return [KeyRevoked(number=book.number + 1, key_id=key_id, reason=reason)]

        _, position = self._say(said, actor)
        return {
            "key_id": key_id,
            "principal": found[0].principal,
            "revoked": position is not None,
            "position": position,
        }

    def grant(
        self, principal: str, *, grants: Sequence[Mapping[str, Any]], reason: str = "", actor: str = "user"
    ) -> GrantsTold:
        """From here on these are all of a principal's grants; none: he may do nothing. Raises InputError."""
        self._check_himself()
        _check_principal(principal, self._own())
        read = grants_of(grants)

        def said(book: AccessBook) -> list[Any]:
            if book.grants.get(principal, ()) == read:
                return []
            return [GrantsSet(number=book.number + 1, principal=principal, grants=read, reason=reason)]

        _, position = self._say(said, actor)
        return {"principal": principal, "grants": [told(one) for one in read], "position": position}

    def _until(self, as_of: str | None, said: Sequence[AccessEvent]) -> int:
        """The instant that is asked about; the present is never before what was said last, whatever this machine's clock says."""
        if as_of is None:
            return max([self._log.now(), *(one.at for one in said[-1:])])
        place = parse_place(as_of, "as_of", partition_of(ACCESS, self._log.partitions), ACCESS).by_the_clocks_of("UTC")
        if place.instant is not None:
            return place.instant
        return max((one.at for one in said if parse_position(one.position)[1] <= (place.seq or 0)), default=0)

    def _say(self, said: Callable[[AccessBook], list[Any]], actor: str) -> tuple[AccessBook, str | None]:
        """Say what follows from the book; the book after it, and where it stands. None: there was nothing to say."""
        with self._saying:  # whom another process was before tries again; in this one they wait
            return self._say_now(said, actor)

    def _say_now(self, said: Callable[[AccessBook], list[Any]], actor: str) -> tuple[AccessBook, str | None]:
        for _ in range(TRIES):
            told_now = said(self._follower.book())
            if not told_now:
                return self._follower.book(), None
            now = self._log.now()
            events = [
                self._writer.event(data, ACCESS, now, actor, event_id=access_id(data.number)) for data in told_now
            ]
            receipts = self._log.append(self._writer.ready(events))
            if all(one.written for one in receipts):
                return self._follower.book(), receipts[0].position
            if not any(one.status == "conflict" for one in receipts):
                raise next(refusal_of(one) for one in receipts if not one.written)
        raise ConcurrencyError("access: others said something at the same time, again and again; try again")

    def _own(self) -> str:
        """What the store's own side is called, whoever asks."""
        with asked_by(AT_THE_FOLDER):
            return self._log.principal

    def _check_himself(self) -> None:
        """Raises AccessDenied for a token made of a key: what it made would outlive it."""
        caller = caller_in_hand()
        if caller.layers is not None and len(caller.layers) > 1:
            raise AccessDenied(
                "access: got a token that is narrowed; allowed: the key itself, for what a token makes would outlive it",
                principal=caller.name,
            )


def _end(expires_at: str | None, days: int | None, now: int) -> int | None:
    """When a key ends, microseconds since 1970; None: by no date."""
    if days is not None:
        if expires_at is not None:
            raise refused("days", f"{days} together with an instant", "one end: after days, or at an instant")
        return now + check_limit(days, MOST_KEY_DAYS, "days") * DAY
    if expires_at is None:
        return None
    ends = parse_instant(expires_at, "expires_at")
    if ends <= now:
        raise refused("expires_at", expires_at, "an instant in the future")
    return ends


def _check_principal(name: str, own: str) -> None:
    """Raises InputError for what no principal is called, and for the names of the store's own side."""
    try:
        _PRINCIPAL.validate_python(name)
    except ValidationError:
        raise refused("principal", name[:80], PRINCIPAL_RULE) from None
    if name in (LOCAL, own):
        raise refused("principal", name, f"another name than {name}, which is the store's own side")


def _about(data: Any, book: AccessBook) -> str | None:
    if isinstance(data, KeyRevoked):
        found = book.keys.get(data.key_id)
        return None if found is None else found.principal
    return str(data.principal)


def _key_answer(key: Key, now: int) -> KeyKnown:
    return {
        "key_id": key.key_id,
        "state": key.state(now),
        "issued_at": utc_text(from_micros(key.issued_at)),
        "expires_at": moment(key.expires_at),
        "revoked_at": moment(key.revoked_at),
        "digest": key.digest,
    }


DENIED_SECONDS = 60.0
"""A refusal like another is told after so long at the soonest."""
MOST_DENIED = 1_000
"""Kinds of refusals that are held; of more the oldest is told and forgotten."""
EACH_WINDOW = 20
"""Of one principal so many refusals are told one by one in a window, of whatever kind; the rest together."""


class _Kind(NamedTuple):
    """A refusal, as others like it."""

    principal: str
    key_id: str | None
    token: str | None
    call: str
    whose: str | None


class Reads:
    """Records who looked at what in one store, and tells it. Safe for threads."""

    def __init__(self, log: EventLog, writer: Writer, events: Events, clock: Callable[[], float] = monotonic) -> None:
        """`clock`: seconds, never backwards."""
        self._log = log
        self._writer = writer
        self._events = events
        self._clock = clock
        self._lock = Lock()
        self._held: OrderedDict[_Kind, list[float]] = OrderedDict()
        """When a kind was told last, and how often it came since."""
        self._over = set[str]()
        """Dead keys whose use was recorded: once each while the process lives."""
        self._window: dict[str, list[float]] = {}
        """By principal: when its window began, and how many kinds were told in it."""

    def record(self, caller: Caller, what: Looked, call: str, owner: str | None) -> None:
        """Record that somebody looks, or was refused. Raises StoreError where a look could not be recorded."""
        whose = owner if owner is not None and is_id(owner) else None
        kind = _Kind(caller.name, caller.key_id, caller.token, call, whose)
        if what == "denied":
            self._append_denied(self._due(kind))
            return
        self._append(kind, what, 1)

    def record_over(self, caller: Caller, call: str) -> None:
        """Record, once, that somebody shows a key that is over: who has one does not grow the log."""
        key = caller.key_id or caller.name
        with self._lock:
            if key in self._over:
                return
            self._over.add(key)
        self._append_denied([(_Kind(caller.name, caller.key_id, None, call, None), 1)])

    def reads(
        self, *, limit: int = 100, cursor: str | None = None, order: str = "newest", **spans: str | None
    ) -> ReadsTold:
        """Who looked at what, page by page, newest first."""
        page = self._events.events(READS, limit=limit, cursor=cursor, order=order, **spans)  # type: ignore[arg-type]
        reads = [_read_answer(one) for one in page["events"] if one["type"] == ReadRecorded.__name__]
        return {"reads": reads, "next": page["next"], "position": page["head"]}

    def flush(self) -> None:
        """Tell what was refused since it was told last."""
        with self._lock:
            due = [(kind, int(held[1])) for kind, held in self._held.items() if held[1]]
            self._held.clear()
        self._append_denied(due)

    def _append_denied(self, due: Iterable[tuple[_Kind, int]]) -> None:
        """Record these refusals. One that the store does not take is logged and counted again later: refused it is all the same."""
        for kind, times in due:
            try:
                self._append(kind, "denied", times)
            except EngramlogError as error:
                logger.warning("%s not recorded yet: %s", many(times, "refused read"), error.message)
                with self._lock:
                    self._held.setdefault(kind, [self._clock(), 0])[1] += times

    def _due(self, kind: _Kind) -> list[tuple[_Kind, int]]:
        now, due = self._clock(), list[tuple[_Kind, int]]()
        with self._lock:
            window = self._window.get(kind.principal)
            if window is None or now - window[0] >= DENIED_SECONDS:
                if len(self._window) >= MOST_DENIED:
                    self._window.clear()
                window = self._window[kind.principal] = [now, 0]
            if window[1] >= EACH_WINDOW and self._is_due(kind, now):
                kind = kind._replace(token=None, call="any", whose=None)
            held = self._held.get(kind)
            if not self._is_due(kind, now) and held is not None:
                held[1] += 1
                return due
            due.append((kind, 1 + int(held[1] if held else 0)))
            self._held[kind] = [now, 0]
            while len(self._held) > MOST_DENIED:
                oldest, (_, times) = self._held.popitem(last=False)
                if times:
                    due.append((oldest, int(times)))
            window[1] += len(due)
        return due

    def _is_due(self, kind: _Kind, now: float) -> bool:
        held = self._held.get(kind)
        return held is None or now - held[0] >= DENIED_SECONDS

    def _append(self, kind: _Kind, what: Looked, times: int) -> None:
        now = self._log.now()
        data = ReadRecorded(
            principal=kind.principal, key_id=kind.key_id, token=kind.token, what=what, call=kind.call, whose=kind.whose,
            times=times,
        )  # fmt: skip
        by = Speaker("job", kind.principal)
        event = make_event(data, owner=READS, occurred_at=from_micros(now), actor="system", now=now, by=by)
        self._writer.append_all([ready(event, by)])


def _read_answer(one: LoggedEvent) -> ReadTold:
    data = one["data"] or {}
    return {
        "position": one["position"],
        "recorded_at": one["recorded_at"],
        "principal": data.get("principal"),
        "key_id": data.get("key_id"),
        "token": data.get("token"),
        "what": data.get("what"),
        "call": data.get("call"),
        "whose": data.get("whose"),
        "times": data.get("times", 1),
    }
