"""Whether Redis keeps what it was told, and who can reach it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from events.redis.durability import KEPT_BY
from events.text.origins import is_loopback
from ops.doctor.finding import REDIS, CheckFinding, many
from ops.embedded.binary import OLDEST, release_of

POLICY = "maxmemory-policy"
NO_EVICTION = "noeviction"
WAITS_FROM = (7, 2)
"""The first Redis that waits for the disk when it is asked to (WAITAOF)."""
MUCH_FRAGMENTED = 1.5
"""Memory of the process over what its data takes, from which it is told where it is also large."""
LARGE = 256 << 20
LOST = {
    "appendonly": "what was answered is gone with Redis's end",
    "appendfsync": "after a crash of the machine what was answered last is gone, and receipts say so (`fsynced: false`)",
    "no-appendfsync-on-rewrite": "while its file is rewritten what was answered is not on disk yet",
    "aof-load-truncated": "a file that was torn is cut at the next start without a word",
    POLICY: "a full Redis forgets what it was told",
}
"""What each setting is about, where it is not one of `KEPT_BY`."""
GRAVE = frozenset({("appendonly", "no"), ("appendfsync", "no")})
"""Settings under which it is lost without a crash of the machine, or by more than the last second."""


def version(told: str) -> CheckFinding:
    """Which Redis."""
    try:
        known = release_of(told) >= OLDEST
    except ValueError:
        return REDIS.failed("version", f"it calls itself {told[:40]!r}")
    oldest = ".".join(map(str, OLDEST))
    if not known:
        return REDIS.wrong("version", f"Redis {told} is too old", f"Redis {oldest} or newer")
    return REDIS.ok("version", f"Redis {told}")


def durability(settings: Mapping[str, str] | None, limited: bool, policy: str = "") -> list[CheckFinding]:
    """Whether an answered write is on disk and stays (`events.redis.durability`). `settings`: None where Redis does not tell them.
    `limited`: whether it has a maxmemory. `policy`: what it evicts, as it tells also whom it does not tell its settings."""
    if settings is None:
        return [
            REDIS.unseen(
                "durability",
                "Redis does not tell its settings (CONFIG GET is not allowed): whether an answered write is on disk is not known",
                f"let this user read them, or look there yourself: {', '.join(KEPT_BY)}",
            ),
            *_eviction(policy, limited),
        ]
    found = [
        _setting(name, settings[name], limited)
        for name, good in KEPT_BY.items()
        if name != POLICY and settings[name] not in good
    ]
    found += _eviction(settings[POLICY], limited)
    return found or [REDIS.ok("durability", "every answered write is on disk, and nothing is evicted")]


def _eviction(policy: str, limited: bool) -> list[CheckFinding]:
    """Advice about eviction; none if a full Redis evicts nothing, or the policy cannot be read."""
    if policy in ("", NO_EVICTION):
        return []
    if policy not in KEPT_BY[POLICY]:
        return [_setting(POLICY, policy, limited)]
    found, cure = (
        f"{policy}: a full Redis keeps the store, and forgets results of jobs",
        f"`CONFIG SET {POLICY} {NO_EVICTION}`",
    )
    return [REDIS.advice(POLICY, found, f"{cure}, and in its file")]


def _setting(name: str, value: str, limited: bool) -> CheckFinding:
    allowed = NO_EVICTION if name == POLICY else "".join(sorted(KEPT_BY[name]))
    cure = f"`CONFIG SET {name} {allowed}`, and in its file"
    if (name, value) in GRAVE or (name == POLICY and limited):
        return REDIS.wrong(name, f"{name} is {value}: {LOST[name]}", cure)
    return REDIS.advice(name, f"{name} is {value}: {LOST[name]}", cure)


def waiting(versions: Sequence[str]) -> CheckFinding:
    """Whether every server knows the command by which an append waits for the disk."""
    check, old = "wait for the disk", list[str]()
    for told in versions:
        try:
            known = release_of(told) >= WAITS_FROM
        except ValueError:
            return REDIS.failed(check, f"it calls itself {told[:40]!r}")
        old += [] if known else [told]
    if old:
        return REDIS.advice(
            check,
            f"Redis {', '.join(sorted(set(old)))} cannot wait for the disk: ENGRAMLOG_WAIT_FSYNC does nothing there, receipts say"
            " what the settings promise",
            f"Redis {'.'.join(map(str, WAITS_FROM))} or newer, or `appendfsync always` without ENGRAMLOG_WAIT_FSYNC",
        )
    return REDIS.ok(check, "each append waits until it is on disk (WAITAOF)")


class WritesFacts(NamedTuple):
    """Whether the last writes to disk succeeded."""

    append_ok: bool
    rewrite_ok: bool
    save_ok: bool


def writes(facts: WritesFacts) -> CheckFinding:
    """How the last writes to disk ended."""
    check, cure = "last writes", "look at Redis's log and its disk: full, read-only, or another user's"
    failed = {
        "the last write to the append-only file": facts.append_ok,
        "the last rewrite of it": facts.rewrite_ok,
        "the last snapshot (RDB)": facts.save_ok,
    }
    if bad := [what for what, fine in failed.items() if not fine]:
        return REDIS.wrong(check, f"{' and '.join(bad)} failed", cure)
    return REDIS.ok(check, "the last write, rewrite and snapshot succeeded")


class MemoryFacts(NamedTuple):
    """How Redis's memory stands."""

    warning: str | None
    """Of `api.work.outlook`."""
    used: int
    held: int
    """Bytes of the process (RSS)."""
    limit: int | None


def memory(facts: MemoryFacts) -> CheckFinding:
    """How much of it is left."""
    check = "memory"
    if facts.warning:
        return REDIS.advice(
            check, facts.warning, "raise maxmemory (ENGRAMLOG_REDIS_MAXMEMORY), or `engramlog status --capacity`"
        )
    if facts.used and facts.held - facts.used > LARGE and facts.held > MUCH_FRAGMENTED * facts.used:
        return REDIS.advice(
            check,
            f"Redis holds {facts.held / 1e6:,.0f} MB for {facts.used / 1e6:,.0f} MB of data",
            "`CONFIG SET activedefrag yes`, or restart it when it is quiet",
        )
    of = "without a limit" if facts.limit is None else f"of {facts.limit / 1e6:,.0f} MB"
    return REDIS.ok(check, f"{facts.used / 1e6:,.1f} MB in use, {of}")


def replicas(role: str, online: int, wanted: int) -> CheckFinding:
    """Whether it is the primary, and as many replicas follow as appends wait for."""
    check = "replicas"
    if role != "master":
        return REDIS.wrong(
            check, "this Redis is a replica: nothing can be written", "let ENGRAMLOG_REDIS_URL lead to the primary"
        )
    if online < wanted:
        return REDIS.wrong(
            check,
            f"{many(online, 'replica')} {'follows' if online == 1 else 'follow'}, and appends wait for {wanted:,}",
            "bring the others back, or lower ENGRAMLOG_MIN_REPLICAS: until then each append waits a second in vain",
        )
    if online and not wanted:
        return REDIS.ok(check, f"{many(online, 'replica')} online; no append waits for one (ENGRAMLOG_MIN_REPLICAS)")
    return REDIS.ok(
        check, f"{many(online, 'replica')} online, as appends wait for" if wanted else "none, and none is asked for"
    )


class WayFacts(NamedTuple):
    """The way to a Redis of one's own, over TCP."""

    host: str
    encrypted: bool
    lets_anybody_in: bool | None
    """Whether it answers without a password; None where that could not be tried."""
    sealed: bool


def way(facts: WayFacts) -> list[CheckFinding]:
    """Who else can reach it, and who reads what passes."""
    near = is_loopback(facts.host)
    return [_password(facts, near), *([] if near else [_encrypted(facts)])]


def _password(facts: WayFacts, near: bool) -> CheckFinding:
    check = "password"
    if facts.lets_anybody_in is None:
        return REDIS.failed(check, "it could not be tried whether Redis answers without one")
    if not facts.lets_anybody_in:
        return REDIS.ok(check, "Redis asks for one")
    cure = "an ACL user or `requirepass`, and the user and password in ENGRAMLOG_REDIS_URL"
    if near:
        return REDIS.advice(
            check, "Redis answers without one: every program and user of this machine can read and write", cure
        )
    return REDIS.wrong(check, f"Redis at {facts.host} answers without one: who reaches it can read and write", cure)


def _encrypted(facts: WayFacts) -> CheckFinding:
    check = "tls"
    if facts.encrypted:
        return REDIS.ok(check, "what passes is encrypted (rediss://)")
    cure = "TLS in Redis, and rediss:// in ENGRAMLOG_REDIS_URL; or a private network that nobody else is in"
    if facts.sealed:
        return REDIS.advice(
            check, f"what passes to {facts.host} is not encrypted; contents are sealed, the password is not", cure
        )
    return REDIS.wrong(check, f"what passes to {facts.host} can be read on the way, contents and password", cure)
