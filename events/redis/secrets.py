"""The secret of each owner, which keys what is derived from its words. Made at its first event, by the append script alone.

Here they are only asked for and kept for a while. A secret proposed for a new owner is written by the script with the events it
keys; where another process was quicker the script writes nothing and tells the one that stands.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock

from events.entry import SECRET_BYTES
from events.errors import StoreMismatch
from events.partitions import LogKeys, partition_of
from events.redis.wire import Argument, Wire

MOST_KEPT = 50_000
"""Secrets that one process keeps at most, of the owners asked for last: about 10 MB."""
Chance = Callable[[int], bytes]
"""So many random bytes."""


def read_secrets(wire: Wire, tags: Sequence[str], owners: Iterable[str]) -> dict[str, bytes]:
    """The secrets of those owners that have one. Raises StoreError, and StoreMismatch for one that no append made."""
    asked: dict[int, list[str]] = {}
    for owner in owners:
        asked.setdefault(partition_of(owner, len(tags)), []).append(owner)
    commands: list[list[Argument]] = [["HMGET", LogKeys(tags[at]).secrets, *names] for at, names in asked.items()]
    found: dict[str, bytes] = {}
    for names, answer in zip(asked.values(), wire.answers(commands), strict=True):
        found.update(
            (name, whole_secret(name, secret)) for name, secret in zip(names, answer, strict=True) if secret is not None
        )
    return found


def whole_secret(owner: str, secret: bytes) -> bytes:
    """The secret as it is stored. Raises StoreMismatch where no append made it."""
    if len(secret) != SECRET_BYTES:
        raise StoreMismatch(
            f"the secret of owner {owner!r} has {len(secret)} bytes, {SECRET_BYTES} are allowed: no append made it; bring back the"
            " backup that has the right one, and see `engramlog verify`"
        )
    return secret


class Secrets:
    """Owners' secrets as one process knows them. Safe for threads."""

    def __init__(self, tags: Sequence[str], chance: Chance) -> None:
        self._tags = tags
        self._chance = chance
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._generations: dict[Wire, int] = {}
        self._lock = Lock()

    def of(self, wire: Wire, owners: Iterable[str]) -> dict[str, bytes]:
        """A secret for each of these owners: the one that stands, or one proposed. Raises StoreError.

        On a new connection all are asked for again: another history may stand behind it.
        """
        with self._lock:
            if self._generations.get(wire) != wire.generation:
                self._generations[wire] = wire.generation
                self._kept.clear()
            found = {owner: self._kept.get(owner, b"") for owner in owners}
        unknown = [owner for owner, secret in found.items() if not secret]
        if unknown:
            there = read_secrets(wire, self._tags, unknown)
            found |= {owner: there.get(owner) or self._chance(SECRET_BYTES) for owner in unknown}
            self.keep({owner: found[owner] for owner in unknown})
        return found

    def keep(self, secrets: Mapping[str, bytes]) -> None:
        """Take over what the store told; what can be no secret is asked for again, and refused then."""
        with self._lock:
            for owner, secret in secrets.items():
                if len(secret) != SECRET_BYTES:
                    self._kept.pop(owner, None)
                    continue
                self._kept[owner] = secret
                self._kept.move_to_end(owner)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
