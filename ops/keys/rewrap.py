"""Which key each line of a store is wrapped under, and wrapping anew what the key did not make that wraps now.

A line is replaced only if it is as it was read: whatever is killed anywhere is carried on by the next, and a process that uses the
store meanwhile finds the old line or the new one. Both open to the same secret.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from engramlog_server.events.cipher import SECRET_BYTES
from engramlog_server.events.errors import KeyUnavailable
from engramlog_server.events.keys import CHECK_OWNER, SEALED_FIELD, MasterKey, Seals, Wrapped, is_name, is_tombstone
from engramlog_server.events.partitions import STORE_KEY, LogKeys
from engramlog_server.events.redis.wire import Script, Wire, pairs

AT_ONCE = 250
"""Lines that are wrapped anew together."""
MOST_PASSES = 5
"""Times that all lines are looked through, for others may write some meanwhile."""
MOST_NAMED = 20
"""Owners that are named of those whose lines do not open."""
REPLACE = Script(
    "replace a line",
    """
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
""",
)
Advance = Callable[[int, int], None]
"""Told the lines done so far, and how many there are."""


class _Line(NamedTuple):
    """The name of a key, whose it is (`:check`: the store's own, which has none), and how it is wrapped; the owner's line itself if
    the key store has none."""

    name: bytes
    owner: str
    line: bytes


@dataclass(slots=True)
class Rewrapped:
    """What was done."""

    rewrapped: int = 0
    current: int = 0
    """Lines that the key made that wraps now, those that were wrapped anew among them."""
    unopened: int = 0
    """Lines that no key at hand opens: they stay."""
    named: list[str] = field(default_factory=list)
    """Some of their owners."""
    why: str = ""
    """Why the first of them does not open."""


@dataclass(slots=True)
class Wraps:
    """Which keys the lines of a store are wrapped under."""

    owners: Counter[str] = field(default_factory=Counter)
    """By key: how many owners."""
    check: str = ""
    """The key that the store's own line is under."""
    erased: int = 0
    others: int = 0
    """Lines that another kind of master key made."""
    open: int = 0
    """Secrets that lie open."""

    def need(self, key: str) -> int:
        """How many lines need a key."""
        return self.owners[key] + (self.check == key)


def wraps_of(wire: Wire, tags: Sequence[str], master: MasterKey) -> Wraps:
    """Look through all lines. Raises StoreError."""
    found = Wraps()
    for one in _lines(wire, tags):
        by = master.wrapped_by(one.line)
        if one.owner == CHECK_OWNER:
            found.check = by or ""
        elif len(one.line) == SECRET_BYTES:
            found.open += 1
        elif is_tombstone(one.line):
            found.erased += 1
        elif by is None:
            found.others += 1
        else:
            found.owners[by] += 1
    return found


def rewrap(wire: Wire, tags: Sequence[str], seals: Seals, advance: Advance = lambda _done, _total: None) -> Rewrapped:
    """Wrap anew, under the key that wraps now, every line that it did not make.

    Raises KeyUnavailable where that key cannot be had: then what was done stays, and the next call goes on.
    """
    many = 0
    for _ in range(MOST_PASSES):
        done = _pass(wire, tags, seals, advance)
        many += done.rewrapped
        if not done.rewrapped:
            break
    done.rewrapped = many
    return done


def _pass(wire: Wire, tags: Sequence[str], seals: Seals, advance: Advance) -> Rewrapped:
    assert seals.master is not None
    done, seen, lines = Rewrapped(), 0, _lines(wire, tags)
    total = 1 + sum(wire.answers([["HLEN", LogKeys(tag).secrets] for tag in tags]))
    while some := list(islice(lines, AT_ONCE)):
        seen += len(some)
        wrapped = [one for one in some if one.name or one.owner == CHECK_OWNER]
        old = [one for one in wrapped if not seals.master.is_current(one.line)]
        done.current += len(wrapped) - len(old)
        if old:
            _replace(wire, seals, old, done)
        advance(seen, max(total, seen))
    return done


def _replace(wire: Wire, seals: Seals, old: Sequence[_Line], done: Rewrapped) -> None:
    """Wrap these anew. Raises KeyUnavailable where the key cannot be had now."""
    assert seals.master is not None
    opened = seals.master.unwrap([Wrapped(seals.about(one.owner), one.line) for one in old])
    mine = list[tuple[_Line, bytes]]()
    for one, secret in zip(old, opened, strict=True):
        if not isinstance(secret, KeyUnavailable):
            mine.append((one, secret))
            continue
        if secret.passes or "setting" in secret.context:
            raise secret
        done.unopened += 1
        done.why = done.why or secret.message
        done.named += [one.owner] if len(done.named) < MOST_NAMED else []
    made = seals.master.wrap([(seals.about(one.owner), secret) for one, secret in mine]) if mine else []
    named = [(one, line) for (one, _), line in zip(mine, made, strict=True)]
    replaced = seals.keys.replace({one.name: (one.line, line) for one, line in named if one.name})
    for one, line in named:
        if not one.name:
            replaced += wire.run(REPLACE, [STORE_KEY], [SEALED_FIELD, one.line, line])
    done.rewrapped += replaced
    done.current += replaced


def _lines(wire: Wire, tags: Sequence[str]) -> Iterator[_Line]:
    """Every owner's line, and the store's own last: once that is under the new key, all before it were."""
    for tag in tags:
        seen, every = set[bytes](), pairs(wire, LogKeys(tag).secrets)
        while page := list(islice(every, AT_ONCE)):
            held = wire.seals.keys.read([line for _, line in page if is_name(line)])
            for owner, line in page:
                if owner not in seen:
                    seen.add(owner)
                    name = line if line in held else b""
                    yield _Line(name, owner.decode(), held.get(line, line))
    check = wire.call("HGET", STORE_KEY, SEALED_FIELD)
    if check is not None:
        yield _Line(b"", CHECK_OWNER, check)
