"""What one process seals and opens with in one store: the master key that it has, and owners' secrets as they were opened.

The line of an owner in `{tag}:keys` is its secret, 32 bytes, in a store that lies open, and in a sealed one the secret wrapped
under the master key. Whoever lacks that key has no secret, and so neither words nor what is derived from them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from secrets import token_bytes
from threading import Lock
from typing import NamedTuple, Protocol

from events.entry import SECRET_BYTES
from events.errors import KeyUnavailable, StoreMismatch
from events.sealing.cipher import ValueCipher

MOST_KEPT = 50_000
"""Owners whose secrets one process keeps opened at most, of those asked for last: about 20 MB."""
_LIES_OPEN = "the secret of owner {!r} lies open in a sealed store: no append made it; bring back the backup that has the right one"
CHECK_OWNER = ":check"
"""Under whose name a store keeps 32 bytes that its master key wrapped: who cannot open them has another key."""


class Wrapped(NamedTuple):
    """A secret under a master key, and what it is bound to: store and owner."""

    about: bytes
    line: bytes


class MasterKey(Protocol):
    """What wraps owners' secrets, wherever it is kept. May be slow and may fail; many are asked for at once."""

    @property
    def name(self) -> str:
        """Which key wraps now, for people: never anything of the key itself."""
        ...

    def wrap(self, secrets: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        """Lines of (about, secret). Raises KeyUnavailable where nothing can be wrapped now."""
        ...

    def unwrap(self, lines: Sequence[Wrapped]) -> list[bytes | KeyUnavailable]:
        """The secret of each line, or why it cannot be had; raises nothing."""
        ...

    def is_current(self, line: bytes) -> bool:
        """Whether a line is wrapped under the key that wraps now."""
        ...


class Seals:
    """Opens and seals for one client of Redis. Safe for threads."""

    def __init__(self, master: MasterKey | None = None) -> None:
        self.master = master
        self.store = b""
        self.is_on = False
        """Whether the store is sealed: what is written of owners' words is sealed then."""
        self._kept: OrderedDict[tuple[str, bytes], ValueCipher] = OrderedDict()
        self._lock = Lock()

    def begin(self, store_id: str, check: bytes | None) -> None:
        """Take over which store it is, and its check line, which a sealed one has. Raises StoreMismatch where the store is sealed
        and the master key is missing or another one. A key that cannot be reached now is no error here: it may come back."""
        self.store = store_id.encode()
        if check is None:
            self.is_on = False
            return
        self.is_on = True
        if self.master is None:
            raise StoreMismatch(
                "this store is sealed, and no master key was given: set ENGRAMLOG_SEALED_BY to the file, or the key service,"
                " that it was sealed under; nothing was read or written",
                setting="ENGRAMLOG_SEALED_BY",
            )
        self.check_master(check)

    def new_check(self, store_id: str) -> bytes:
        """The check line of a store that is made now. Raises KeyUnavailable."""
        assert self.master is not None
        self.store = store_id.encode()
        return self.master.wrap([(self._about(CHECK_OWNER), token_bytes(SECRET_BYTES))])[0]

    def check_master(self, check: bytes) -> None:
        """Raise StoreMismatch where the master key cannot be the one that this store is sealed under."""
        assert self.master is not None
        (found,) = self.master.unwrap([Wrapped(self._about(CHECK_OWNER), check)])
        if isinstance(found, KeyUnavailable) and not found.passes:
            raise StoreMismatch(
                f"this store is sealed under another master key than {self.master.name}: {found.message}; set"
                " ENGRAMLOG_SEALED_BY to the right one; nothing was read or written",
                setting="ENGRAMLOG_SEALED_BY",
            ) from found

    def lines(self, secrets: Mapping[str, bytes]) -> dict[str, bytes]:
        """Owners' secrets as they are stored. Raises KeyUnavailable."""
        if not self.is_on or not secrets:
            return dict(secrets)
        assert self.master is not None
        wrapped = self.master.wrap([(self._about(owner), secret) for owner, secret in secrets.items()])
        lines = dict(zip(secrets, wrapped, strict=True))
        for owner, line in lines.items():
            self._keep(owner, line, ValueCipher(secrets[owner]))
        return lines

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
            if not self.is_on:
                found[owner] = self._keep(owner, lines[owner], ValueCipher(whole_secret(owner, lines[owner])))
            elif (
                len(lines[owner]) == SECRET_BYTES
            ):  # whoever put it there knows it, and would read what is sealed under it
                found[owner] = KeyUnavailable(_LIES_OPEN.format(owner), passes=False)
            else:
                wrapped.append(owner)
        if wrapped:
            assert self.master is not None
            opened = self.master.unwrap([Wrapped(self._about(owner), lines[owner]) for owner in wrapped])
            for owner, secret in zip(wrapped, opened, strict=True):
                found[owner] = (
                    secret
                    if isinstance(secret, KeyUnavailable)
                    else self._keep(owner, lines[owner], ValueCipher(whole_secret(owner, secret)))
                )
        return found

    def forget(self, owner: str) -> None:
        """Drop what is kept of an owner."""
        with self._lock:
            for name in [name for name in self._kept if name[0] == owner]:
                del self._kept[name]

    def _keep(self, owner: str, line: bytes, cipher: ValueCipher) -> ValueCipher:
        with self._lock:
            self._kept[owner, line] = cipher
            self._kept.move_to_end((owner, line))
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return cipher

    def _about(self, owner: str) -> bytes:
        return self.store + b"\0" + owner.encode()


def whole_secret(owner: str, secret: bytes) -> bytes:
    """The secret as it is stored. Raises StoreMismatch where no append made it."""
    if len(secret) != SECRET_BYTES:
        raise StoreMismatch(
            f"the secret of owner {owner!r} has {len(secret)} bytes, {SECRET_BYTES} are allowed: no append made it; bring back the"
            " backup that has the right one, and see `engramlog verify`"
        )
    return secret
