"""Who can ask, by which keys and grants. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from events.envelope import from_micros, utc_text
from events.text.origins import is_loopback
from ops.beyond.settings import Place
from ops.doctor.finding import ACCESS, CheckFinding, many, named
from projections.access.grants import ALL
from projections.access.provider import OF_PROVIDER

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from api.shapes import ListeningTold
    from projections.access.book import AccessBook, Key

SECRET = 3
ROTATE = "make its successor (`engramlog key new NAME`), then revoke it (`engramlog key revoke ID`)"


class ListeningFacts(NamedTuple):
    """How a service listens by these settings."""

    told: ListeningTold | None
    """None where it would not start."""
    trouble: str | None
    host: str
    port: int
    ends: datetime | None = None
    """When the certificate does."""


def listening(facts: ListeningFacts, now: datetime, soon: timedelta) -> CheckFinding:
    """Whether others can reach it, and how. `soon`: what a certificate must last at least."""
    check = "listening"
    if facts.told is None:
        found, _, allowed = (facts.trouble or "").partition("; allowed: ")
        return ACCESS.wrong(
            check, found, f"allowed: {allowed}" if allowed else "`engramlog up` refuses to start like this"
        )
    if facts.told["by"] == "loopback":
        return ACCESS.ok(check, f"by these settings the API is this machine's alone ({facts.host}:{facts.port})")
    way = "by TLS of its own" if facts.told["by"] == "tls" else "through a declared proxy"
    if facts.ends is not None and facts.ends - now < soon:
        return ACCESS.advice(
            check,
            f"others ask {way}, and the certificate ends {facts.ends:%Y-%m-%d %H:%M} UTC",
            "renew it: new files are taken without a restart",
        )
    lasts = "" if facts.ends is None else f", with a certificate until {facts.ends:%Y-%m-%d}"
    return ACCESS.ok(check, f"others ask {way}{lasts}")


def running(told: str | None, by_settings: str) -> CheckFinding | None:
    """The service that runs now, beside these settings: by what each is asked. `told`: None where none runs, or none tells."""
    check = "running service"
    if told is None:
        return None
    if told != by_settings:
        return ACCESS.advice(
            check,
            f"the service that runs is asked by {told}, and these settings say {by_settings}: what is told here is not of it",
            "run this with the settings that the service was started with, or start it again with these",
        )
    return ACCESS.ok(check, f"it is asked by {told}, as these settings say")


def metrics(place: Place | None) -> CheckFinding | None:
    """A metrics port that others reach; None where there is none, or it is this machine's alone."""
    if place is None or is_loopback(place.host):
        return None
    return ACCESS.advice(
        "metrics port",
        f"workers tell figures on {place.host} to whoever reaches it, without a token",
        f"ENGRAMLOG_METRICS={place.port}, or a firewall",
    )


def first_key(trouble: str | None) -> CheckFinding | None:
    """A service that is open to others and has no key that lives; None else."""
    if trouble is None:
        return None
    found, _, cure = trouble.partition("; allowed: ")
    return ACCESS.wrong("first key", found, cure)


def keys(book: AccessBook, now: int, soon: timedelta) -> list[CheckFinding]:
    """Keys that live: those that end soon, and those that have no end. `now`: microseconds since 1970."""
    live = [one for one in book.keys.values() if one.state(now) == "live"]
    if not live:
        return [ACCESS.ok("keys", "there is no key that lives: the folder's token alone opens the store")]
    found = list[CheckFinding]()
    ending = sorted(
        (one for one in live if one.expires_at is not None and one.expires_at - now < soon.total_seconds() * 1_000_000),
        key=lambda one: one.expires_at or 0,
    )
    if ending:
        when = utc_text(from_micros(ending[0].expires_at or 0))
        found.append(
            ACCESS.advice(
                "keys that end",
                f"{_keys(ending)} {'ends' if len(ending) == 1 else 'end'} within {soon.days} days, the first {when}",
                ROTATE,
            )
        )
    if endless := [one for one in live if one.expires_at is None]:
        found.append(
            ACCESS.advice(
                "keys without an end",
                f"{_keys(endless)} {'has' if len(endless) == 1 else 'have'} no end",
                f"{ROTATE}; `--days 90` gives it an end",
            )
        )
    return found or [
        ACCESS.ok("keys", f"{many(len(live), 'key')} that live{'s' if len(live) == 1 else ''}, each with an end")
    ]


def _keys(found: list[Key]) -> str:
    return named([f"{one.key_id} of {one.principal}" for one in found])


def grants(book: AccessBook, now: int) -> list[CheckFinding]:
    """Who may make keys, and who is told everybody's secrets."""
    reached = [one for one in book.grants if one.startswith(OF_PROVIDER) or book.live(one, now)]
    admins = [name for name in reached if any("admin" in one.verbs for one in book.grants[name])]
    told = list[CheckFinding]()
    if endless := [name for name in admins if any(key.expires_at is None for key in book.live(name, now))]:
        told.append(
            ACCESS.advice(
                "admin keys",
                f"who makes keys and grants by a key that has no end: {named(endless)}",
                "give it an end, or grant without `admin`: on this machine keys are made without one",
            )
        )
    elif admins:
        told.append(ACCESS.ok("admin keys", f"who makes keys and grants by a key: {named(admins)}"))
    elif reached:
        told.append(ACCESS.ok("admin keys", "nobody makes keys by a key; on this machine they are made without one"))
    wide = [
        name
        for name in reached
        if any(ALL in one.owners and "reveal" in one.verbs and one.sensitivity >= SECRET for one in book.grants[name])
    ]
    if wide:
        told.append(
            ACCESS.advice(
                "grants over all",
                f"who is told the secrets of every owner: {named(wide)}",
                "name owners in place of `*`, or leave `reveal` out: `engramlog grant`",
            )
        )
    elif reached:
        all_ = [name for name in reached if any(ALL in one.owners for one in book.grants[name])]
        reach = f"{named(all_)} reach every owner, nobody's secrets" if all_ else "nobody reaches every owner by a key"
        told.append(ACCESS.ok("grants over all", reach))
    return told


def audit(newest: int | None, stuck: list[str]) -> CheckFinding:
    """Whether what is recorded of reads goes on. `newest`: when the last was recorded, microseconds; None: none was. `stuck`:
    owners of the store's own that stand still."""
    check = "audit log"
    if stuck:
        return ACCESS.wrong(
            check, f"{named(stuck)} stand still: what was recorded is not folded", "`engramlog dead` tells why"
        )
    if newest is None:
        return ACCESS.ok(check, "no look by a key is recorded in what is folded")
    return ACCESS.ok(check, f"it goes on; the newest was recorded {utc_text(from_micros(newest))}")
