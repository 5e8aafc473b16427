"""Keys and grants: made, revoked, set, and told, now or as of any instant. Each is an event of `:access`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from secrets import token_bytes
from threading import Lock
from typing import Any

from pydantic import TypeAdapter, ValidationError

from engramlog_server.api.choices import MOST_KEY_DAYS
from engramlog_server.api.requests.checks import (
    asked_by,
    caller_in_hand,
    check_limit,
    masked,
    parse_instant,
    parse_place,
)
from engramlog_server.api.services.access.following import AccessEvent, AccessFollower
from engramlog_server.api.services.carrier import refusal_of
from engramlog_server.api.services.writing import Writer
from engramlog_server.api.shapes import AccessTold, GrantsTold, KeyKnown, KeyMade, KeyRevokedTold, WhoAsks
from engramlog_server.events.catalogue import GrantsSet, KeyIssued, KeyRevoked
from engramlog_server.events.catalogue.access import PRINCIPAL_RULE, Principal
from engramlog_server.events.door.of_the_store import ACCESS, access_id
from engramlog_server.events.entry import LOCAL
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.events.errors import AccessDenied, ConcurrencyError, EngramlogError, UnderReplicated, refused
from engramlog_server.events.log import EventLog
from engramlog_server.events.partitions import parse_position, partition_of
from engramlog_server.projections.access.book import MOST_LIVE, AccessBook, Key
from engramlog_server.projections.access.caller import AT_THE_FOLDER
from engramlog_server.projections.access.grants import told
from engramlog_server.projections.access.keys import MadeKey, grants_of, make_key
from engramlog_server.projections.access.provider import OF_PROVIDER

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
                    "keys": [_key_told(one, now) for one in keys if one.principal == name],
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
            raise self._taken_back(made[0].key_id, error) from error
        assert position is not None  # there is always a key to say
        key = made[0]
        return {
            "key": key.text,
            "key_id": key.key_id,
            "principal": principal,
            "expires_at": _instant(ends),
            "grants": [told(one) for one in book.grants.get(principal, ())],
            "position": position,
        }

    def _taken_back(self, key_id: str, error: UnderReplicated) -> UnderReplicated:
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
                raise refused(
                    "key_id", key_id[:80], "the id of a key of this store: `engramlog access --keys` tells them"
                )
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
            raise refused("days", f"{days} beside an instant", "one end: after days, or at an instant")
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


def _key_told(key: Key, now: int) -> KeyKnown:
    return {
        "key_id": key.key_id,
        "state": key.state(now),
        "issued_at": utc_text(from_micros(key.issued_at)),
        "expires_at": _instant(key.expires_at),
        "revoked_at": _instant(key.revoked_at),
        "digest": key.digest,
    }


def _instant(at: int | None) -> str | None:
    return None if at is None else utc_text(from_micros(at))
