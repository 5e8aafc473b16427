"""What one process seals and opens with in one store: the master key that it has, and owners' secrets as they were opened.

The line of an owner in `{tag}:keys` is its secret, 32 bytes, in a store that lies open, and in a sealed one the secret wrapped
under the master key. Whoever lacks that key has no secret, and so neither words nor what is derived from them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from secrets import token_bytes
from threading import Lock
from time import monotonic
from typing import NamedTuple, Protocol

from engramlog_server.events.entry import SECRET_BYTES
from engramlog_server.events.errors import BadSetting, KeyUnavailable, OwnerErased, StoreMismatch
from engramlog_server.events.sealing.cipher import ValueCipher

MOST_KEPT = 50_000
"""Owners whose secrets one process keeps opened at most, of those asked for last: about 20 MB."""
_LIES_OPEN = "the secret of owner {!r} lies open in a sealed store: no append made it; bring back the backup that has the right one"
CHECK_OWNER = ":check"
"""Under whose name a store keeps 32 bytes that its master key wrapped: who cannot open them has another key."""


ASKED_SECONDS = 15.0
"""How long an answer to whether the master key can be had is good for, where nobody looks by itself."""
SEALED_FIELD = "sealed"
"""The field of the store in which its check line stands."""
ERASED = b"\0erased\0"
"""What the line of an owner begins with whose key was destroyed; what follows tells by what. No master key makes such a line, and
none is as long as a secret."""


def tombstone(told: bytes) -> bytes:
    """The line of an owner whose key was destroyed. `told`: what that is known by, 1 to 200 bytes; never of as many as would make
    the line as long as a secret, which is padded then."""
    line = ERASED + told
    return line + b"\0" if len(line) == SECRET_BYTES else line


def is_tombstone(line: bytes) -> bool:
    """Whether a line says that its owner's key was destroyed."""
    return len(line) != SECRET_BYTES and line.startswith(ERASED)


def erasure_of(line: bytes) -> str:
    """By what a tombstone says that its owner was erased."""
    return line.removeprefix(ERASED).rstrip(b"\0").decode("utf-8", "replace")


def erased(owner: str) -> OwnerErased:
    """What is told to whoever asks for an owner whose key was destroyed."""
    return OwnerErased(
        f"owner {owner!r} was erased: its key was destroyed, and nothing is said under its name", owner=owner
    )


class SealingStanding(NamedTuple):
    """Whether and under what a store is sealed, as one process finds it."""

    is_on: bool
    key: str | None
    """The master key that is set, for people; None where none is."""
    reachable: bool | None
    """Whether what it wrapped can be opened now; None in a store that lies open."""
    reason: str
    """Why not."""


class Wrapped(NamedTuple):
    """A secret under a master key, and what it is bound to: store and owner."""

    about: bytes
    line: bytes


class MasterKey(Protocol):
    """What wraps owners' secrets, wherever it is kept. May be slow and may fail; many are asked for at once."""

    @property
    def name(self) -> str:
        """Which key wraps now, for people: never anything of the key itself. Raises BadSetting where it can never be used as it is
        set."""
        ...

    def wrap(self, secrets: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """Lines of (about, secret). Raises KeyUnavailable where nothing can be wrapped now."""
        ...

    def unwrap(self, lines: Sequence[Wrapped]) -> list[bytes | KeyUnavailable]:
        """The secret of each line, or why it cannot be had; raises nothing."""
        ...

    def wrapped_by(self, line: bytes) -> str | None:
        """Which key a line is wrapped under: its id, or its version as `v3`; None of a line that this kind of key did not make."""
        ...

    def is_current(self, line: bytes) -> bool:
        """Whether a line is wrapped under the key that wraps now. Raises KeyUnavailable where that cannot be told."""
        ...


class Seals:
    """Opens and seals for one client of Redis. Safe for threads."""

    def __init__(self, master: MasterKey | None = None, clock: Callable[[], float] = monotonic) -> None:
        self.master = master
        self.store = b""
        self.is_on = False
        """Whether the store is sealed: what is written of owners' words is sealed then."""
        self._check: bytes | None = None
        self._clock = clock
        self._asked: tuple[float, KeyUnavailable | None] | None = None
        self._looking = Lock()
        self.read_check: Callable[[], bytes | None] = lambda: None
        """Reads the check line as it stands in the store now, which a rewrap replaces; None where that is not known."""
        self._trusted = set[str]()
        """Keys that were seen to be this store's own: by others nothing new is wrapped."""
        self._kept: OrderedDict[tuple[str, bytes], ValueCipher] = OrderedDict()
        self._lock = Lock()

    def begin(self, store_id: str, check: bytes | None) -> None:
        """Take over which store it is, and its check line, which a sealed one has. Raises StoreMismatch where the store is sealed
        and the master key is missing or another one, BadSetting where its file cannot be used. A key service that cannot be reached
        now is no error here: it may come back."""
        self.store, self._check = store_id.encode(), check
        if check is None:
            self.is_on = False
            return
        self.is_on = True
        if self.master is None:
            raise StoreMismatch(
                "this store is sealed, and no master key was given: set ENGRAMLOG_SEALED_BY to the file, or the key service,"
                " that it was sealed under, or put the file master-key back into its data folder; nothing was read or written",
                setting="ENGRAMLOG_SEALED_BY",
            )
        self.check_master(check)

    def new_check(self, store_id: str) -> bytes:
        """The check line of a store that is made now. Raises KeyUnavailable."""
        assert self.master is not None
        self.store = store_id.encode()
        return self.master.wrap([(self.about(CHECK_OWNER), token_bytes(SECRET_BYTES))])[0]

    def check_master(self, check: bytes) -> None:
        """Raise StoreMismatch where the master key cannot be the one that this store is sealed under."""
        assert self.master is not None
        name = self.master.name
        found = self._opened(check)
        if found is None or found.passes:
            return
        if "setting" in found.context:
            raise StoreMismatch(
                f"the master key {name} of this store (ENGRAMLOG_SEALED_BY) cannot be had: {found.message}; nothing was read or"
                " written",
                setting=found.context["setting"],
            ) from found
        raise StoreMismatch(
            f"this store is sealed under another master key than {name}: {found.message}; set"
            " ENGRAMLOG_SEALED_BY to the right one; nothing was read or written",
            setting="ENGRAMLOG_SEALED_BY",
        ) from found

    def standing(self) -> SealingStanding:
        """Whether the store is sealed, and whether its master key can be had, as it was found within the last 15 seconds."""
        with self._lock:
            asked = self._asked
        if asked is None or self._clock() - asked[0] >= ASKED_SECONDS:
            return self.look()
        return self._told(asked[1])

    def look(self) -> SealingStanding:
        """The same, asked for anew now. Where another thread asks, what was found last."""
        if self._check is None or self.master is None or not self._looking.acquire(blocking=self._asked is None):
            return self._told(None if self._asked is None else self._asked[1])
        try:
            found = self._opened(self._check)
            with self._lock:
                self._asked = self._clock(), found
        finally:
            self._looking.release()
        return self._told(found)

    def _told(self, found: KeyUnavailable | None) -> SealingStanding:
        if not self.is_on:
            return SealingStanding(False, self._name(), None, "")
        return SealingStanding(True, self._name(), found is None, "" if found is None else found.message)

    def _name(self) -> str | None:
        try:
            return None if self.master is None else self.master.name
        except (BadSetting, KeyUnavailable):
            return "unusable"

    def _opened(self, check: bytes) -> KeyUnavailable | None:
        """Why the check line does not open now, as it was read or as it stands now; None where it does."""
        assert self.master is not None
        (found,) = self.master.unwrap([Wrapped(self.about(CHECK_OWNER), check)])
        if isinstance(found, KeyUnavailable) and not found.passes:
            now = self.read_check()
            if now is not None and now != check:
                self._check = now
                (found,) = self.master.unwrap([Wrapped(self.about(CHECK_OWNER), now)])
        return found if isinstance(found, KeyUnavailable) else None

    def lines(self, secrets: Mapping[str, bytes]) -> dict[str, bytes]:
        """Owners' secrets as they are stored. Raises KeyUnavailable."""
        if not self.is_on or not secrets:
            return dict(secrets)
        assert self.master is not None
        wrapped = self.master.wrap([(self.about(owner), secret) for owner, secret in secrets.items()])
        self._refuse_stranger(wrapped)
        lines = dict(zip(secrets, wrapped, strict=True))
        for owner, line in lines.items():
            self._keep(owner, line, ValueCipher(secrets[owner]))
        return lines

    def _refuse_stranger(self, wrapped: Sequence[bytes]) -> None:
        """Raise KeyUnavailable where a key wrapped these that is not this store's: its file was replaced while this runs."""
        assert self.master is not None
        unknown = {by for line in wrapped if (by := self.master.wrapped_by(line)) is not None} - self._trusted
        if not unknown or self._check is None:
            return
        if (why := self._opened(self._check)) is not None:
            raise KeyUnavailable(
                f"the master key that is set now is not the one that this store is sealed under, so nothing new is wrapped by it:"
                f" {why.message}",
                passes=why.passes,
            ) from why
        self._trusted |= unknown

    def secrets(self, lines: Mapping[str, bytes]) -> dict[str, bytes]:
        """The secrets in these lines. Raises KeyUnavailable for the first that cannot be had, StoreMismatch as `whole_secret`."""
        found = dict[str, bytes]()
        for owner, one in self.ciphers(lines).items():
            if isinstance(one, KeyUnavailable):
                raise one
            found[owner] = one.secret
        return found

    def ciphers(self, lines: Mapping[str, bytes]) -> dict[str, ValueCipher | KeyUnavailable]:
        """What opens each of these owners' values, or why it cannot be had. Raises StoreMismatch for a line that no append made."""
        found = dict[str, ValueCipher | KeyUnavailable]()
        unknown = list[str]()
        with self._lock:
            for owner, line in lines.items():
                kept = self._kept.get((owner, line))
                if kept is None:
                    unknown.append(owner)
                else:
                    self._kept.move_to_end((owner, line))
                    found[owner] = kept
        wrapped = list[str]()
        for owner in unknown:
            if is_tombstone(lines[owner]):
                found[owner] = erased(owner)
            elif not self.is_on:
                found[owner] = self._keep(owner, lines[owner], ValueCipher(whole_secret(owner, lines[owner])))
            elif (
                len(lines[owner]) == SECRET_BYTES
            ):  # whoever put it there knows it, and would read what is sealed under it
                found[owner] = KeyUnavailable(_LIES_OPEN.format(owner), passes=False)
            else:
                wrapped.append(owner)
        if wrapped:
            assert self.master is not None
            opened = self.master.unwrap([Wrapped(self.about(owner), lines[owner]) for owner in wrapped])
            for owner, secret in zip(wrapped, opened, strict=True):
                found[owner] = (
                    secret
                    if isinstance(secret, KeyUnavailable)
                    else self._keep(owner, lines[owner], ValueCipher(whole_secret(owner, secret)))
                )
        return found

    def held_owners(self) -> list[str]:
        """Owners whose secrets are held opened."""
        with self._lock:
            return list({owner for owner, _ in self._kept})

    def forget(self, owner: str) -> None:
        """Hold an owner's secret no more: it is asked for again."""
        with self._lock:
            for kept in [one for one in self._kept if one[0] == owner]:
                del self._kept[kept]

    def _keep(self, owner: str, line: bytes, cipher: ValueCipher) -> ValueCipher:
        with self._lock:
            self._kept[owner, line] = cipher
            self._kept.move_to_end((owner, line))
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return cipher

    def about(self, owner: str) -> bytes:
        """What an owner's wrapped secret is bound to: the store and the owner."""
        return self.store + b"\0" + owner.encode()


def whole_secret(owner: str, secret: bytes) -> bytes:
    """The secret as it is stored. Raises StoreMismatch where no append made it."""
    if len(secret) != SECRET_BYTES:
        raise StoreMismatch(
            f"the secret of owner {owner!r} has {len(secret)} bytes, {SECRET_BYTES} are allowed: no append made it; bring back the"
            " backup that has the right one, and see `engramlog verify`"
        )
    return secret
