"""What stands beside the bodies of a log of format 2, after whatever happened to it: judged from the entries and keys alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b, sha256

from engramlog_server.events.envelope import LOCAL, Marker, Stored, decode, digest, written
from engramlog_server.events.errors import UndecodableEvent
from engramlog_server.events.partitions import DEDUPE_BUCKETS, LogKeys
from engramlog_server.events.redis.wire import Wire

Differs = Callable[[str], None]


def judge_beside(wire: Wire, tag: str, entries: list[Stored], marker: Marker, differs: Differs) -> None:
    """One partition's entries, in order.

    Recorded times never go back, and what the clock said stands only where it did; principal, level and digests are there;
    every commitment opens; each owner has one secret; dedupe knows every entry once, by that secret.
    """
    held = wire.call("HGETALL", LogKeys(tag).secrets)
    secrets = dict(zip(held[::2], held[1::2], strict=True))
    if secrets.keys() != {one.owner.encode() for one in entries}:
        differs(f"{tag}: secrets of {sorted(secrets)}")
    if not all(len(secret) == 32 for secret in secrets.values()) or len({*secrets.values()}) != len(secrets):
        differs(f"{tag}: a secret that is none, or that two owners have")
    recorded = 0
    for one in entries:
        if len(one.beside) not in (5, 6):
            differs(f"{tag}:{one.seq}: {len(one.beside)} fields beside its body")
            continue
        if wrong := _wrong(one, recorded, secrets.get(one.owner.encode(), bytes(32)), marker):
            differs(f"{tag}:{one.seq}: {', '.join(wrong)}")
        recorded = int(one.beside[0])
    if recorded and wire.call("HGET", LogKeys(tag).meta, "rec") != b"%d" % recorded:
        differs(f"{tag}: the newest recorded time is not that of the newest entry")
    _judge_dedupe(wire, tag, entries, secrets, differs)


def _wrong(one: Stored, before: int, secret: bytes, marker: Marker) -> list[str]:
    """The fields of an entry that are not what they must be; `before`: when the entry before it was recorded."""
    recorded, principal, level, digests, commitment, *clock = one.beside
    told, keyed = b"0:0", b""
    with suppress(UndecodableEvent):  # of what nobody can read nobody says how sensitive it is
        marks = marker.of(decode(one.kind, one.body))
        told = b"%d:%d" % (marker.level_rules, marks.level)
        keyed = written(marker.statement_rules, [digest(secret, text) for text in marks.statements])
    checks = {
        "recorded before the entry before it": int(recorded) >= before,
        "a clock that was not behind": not clock or int(clock[0]) < int(recorded),
        "principal": principal == LOCAL.encode(),
        "level": level == told,
        "digests": digests == keyed,
        "commitment": len(one.salt) == 16 and commitment == sha256(one.salt + one.body).digest(),
    }
    return [name for name, holds in checks.items() if not holds]


def _judge_dedupe(wire: Wire, tag: str, entries: list[Stored], secrets: dict[bytes, bytes], differs: Differs) -> None:
    expected = {}
    for one in entries:
        name = blake2b(one.owner.encode() + b"\0" + one.raw_id, digest_size=16).digest()
        secret = secrets.get(one.owner.encode(), bytes(32))
        expected[name] = blake2b(one.body, digest_size=8, key=secret).digest() + b"%d" % one.seq
    found: dict[bytes, bytes] = {}
    buckets = [["HGETALL", LogKeys(tag).dedupe_of(bucket)] for bucket in range(DEDUPE_BUCKETS)]
    for answer in wire.pipeline(buckets):
        found |= dict(zip(answer[::2], answer[1::2], strict=True))
    if found != expected:
        differing = sum(found.get(name) != value for name, value in expected.items()) + len(found.keys() - expected)
        differs(f"{tag}: dedupe differs from the log in {differing} of {len(expected)} events")
