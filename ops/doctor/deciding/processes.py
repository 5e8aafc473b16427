"""Whether what is appended is folded, what alarms stand, and what store it is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ops.doctor.finding import PROCESSES, STORE, CheckFinding, many, named
from ops.processes.standstill import STILL_SECONDS

if TYPE_CHECKING:
    from events.alarms import Alarm


class WorkFacts(NamedTuple):
    """Who folds, and what waits."""

    workers: int
    silent: Sequence[str]
    """Workers that ended without a word."""
    lag: int
    waited: float | None
    """Seconds that the oldest of it has waited; None where the log does not tell."""
    private: bool
    """Whether the store is one of a data folder: commands fold by themselves there."""


def workers(facts: WorkFacts) -> list[CheckFinding]:
    """Whether anybody folds."""
    found = list[CheckFinding]()
    if facts.workers:
        found.append(PROCESSES.ok("workers", f"{many(facts.workers, 'fold worker')} at work"))
    elif facts.private:
        found.append(PROCESSES.ok("workers", "nothing runs on the folder now: commands fold by themselves"))
    elif facts.lag:
        found.append(
            PROCESSES.wrong(
                "workers", "no fold worker is at work, and events wait", "`engramlog up`, or `engramlog worker`"
            )
        )
    else:
        found.append(PROCESSES.advice("workers", "no fold worker is at work", "`engramlog up`, or `engramlog worker`"))
    if facts.silent:
        found.append(
            PROCESSES.advice(
                "silent workers",
                f"{many(len(facts.silent), 'worker')} ended without a word, or hang: {named(facts.silent)}",
                "its log says why; they are forgotten after a minute",
            )
        )
    return found


def backlog(facts: WorkFacts) -> CheckFinding:
    """What waits to be folded."""
    check = "backlog"
    if not facts.lag:
        return PROCESSES.ok(check, "everything that was appended is folded")
    waited = facts.waited or 0.0
    since = "" if facts.waited is None else f", the oldest for {waited:,.0f} s"
    told = f"{many(facts.lag, 'event')} {'waits' if facts.lag == 1 else 'wait'} to be folded{since}"
    if waited < STILL_SECONDS or (facts.private and not facts.workers):
        return PROCESSES.ok(check, told)
    return PROCESSES.advice(
        check, told, "`engramlog status` tells the partition and who holds it; one more worker helps"
    )


def alarms(standing: Sequence[Alarm], meanings: dict[str, str]) -> list[CheckFinding]:
    """What stands. `meanings`: of alarms by name, with what to do."""
    found = [
        (PROCESSES.wrong if one.severity == "stopped" else PROCESSES.advice)(
            f"alarm {one.name}",
            f"{one.subject}: {one.text}" if one.subject else one.text or f"raised {one.count:,} times",
            meanings.get(one.name, "`engramlog alarms` tells more"),
        )
        for one in standing
    ]
    return found or [PROCESSES.ok("alarms", "none stands")]


def owners(quarantined: Sequence[str], locked: int) -> list[CheckFinding]:
    """Owners whose fold stands still. `locked`: how many of them for want of their key."""
    stuck = len(quarantined)
    found = list[CheckFinding]()
    if locked:
        found.append(
            PROCESSES.wrong(
                "locked owners",
                f"{many(locked, 'owner')} {'waits' if locked == 1 else 'wait'} for a key that cannot be had",
                "bring the master key back: docs/sealing.md; nothing is lost, and they are folded by themselves then",
            )
        )
    if stuck > locked:
        found.append(
            PROCESSES.wrong(
                "quarantined owners",
                f"{many(stuck - locked, 'owner')} {'stands' if stuck - locked == 1 else 'stand'} still behind an event that"
                " cannot be folded" + (f": {named(quarantined)}" if not locked else ""),
                "`engramlog dead` tells why, and what can be done",
            )
        )
    return found or [PROCESSES.ok("owners", "none stands still")]


class JobFacts(NamedTuple):
    """The lifecycle jobs."""

    problem: str | None
    """Why the queue does not answer."""
    leader: str | None = None
    failed: int = 0
    stopped: Sequence[str] = ()
    wanted: bool = True
    """Whether a service is at work that should schedule them."""


def jobs(facts: JobFacts) -> CheckFinding:
    """Whether forgetting, merging and purging are done by themselves."""
    check = "jobs"
    if facts.problem:
        return PROCESSES.wrong(check, f"the queue does not answer: {facts.problem}", "look at ENGRAMLOG_QUEUE_URL")
    if facts.stopped:
        return PROCESSES.advice(check, f"{named(facts.stopped)} stopped", "`engramlog status --jobs` tells why")
    if facts.failed:
        return PROCESSES.advice(
            check, f"{many(facts.failed, 'job')} failed", "`engramlog status --jobs` tells which and why"
        )
    if facts.leader is None and facts.wanted:
        return PROCESSES.advice(
            check,
            "nobody schedules them: nothing is swept, merged or purged by itself",
            "ENGRAMLOG_JOB_WORKERS=1 for `up`",
        )
    return PROCESSES.ok(check, "scheduled" if facts.leader else "scheduled while `engramlog up` runs")


def store_format(number: str, trouble: str | None) -> CheckFinding:
    """Whether this release can write to the store."""
    if trouble is not None:
        found, _, cure = trouble.partition(": ")
        return STORE.wrong("format", found, cure or trouble)
    return STORE.ok("format", f"log format {number}, which this release writes")
