"""What stopped or was lost, and must not go unnoticed: one table of alarms, kept until it is over or an operator has seen it.

An alarm has a name of the table, a subject (a partition, a job, a folder; "" for the whole store) and one line of text without
anybody's words. A *condition* (a partition that stands still) is cleared by the part that sees its end; an *incident* (a job
that was refused) by an operator. Raising the same alarm again counts, and costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

Severity = Literal["stopped", "warning"]
Tell = Callable[..., None]
"""Logs a fact with its context."""
MOST_TEXT = 500
"""Characters of an alarm's text at most."""
MOST_SUBJECT = 120
"""Characters of a subject at most."""


def silent(_fact: str, **_context: Any) -> None:
    """Log nothing."""


class AlarmKind(NamedTuple):
    """What an alarm of a name means."""

    severity: Severity
    """`stopped`: something stands still or cannot be relied on, and `/ready` says 503; `warning`: look soon."""
    ends: Literal["itself", "operator"]
    """Who clears it: the part that sees the condition's end, or an operator who has looked."""
    meaning: str
    """One sentence: what happened and what to do."""


ACCESSES_LOST = "accesses_lost"
"""Counts accesses, and not how often it was raised."""
INBOX_FULL = "inbox_full"
OWNER_TOO_LARGE = "owner_too_large"
OWNER_QUARANTINED = "owner_quarantined"
KEYS_OLDER = "keys_older"
KEYS_UNAVAILABLE = "keys_unavailable"
CLUSTER_WAITS = "cluster_waits"
PARTITION_GAP = "partition_gap"
LOG_CHANGED = "log_changed"
LOG_ROLLED_BACK = "log_rolled_back"
JOBS_WAIT = "jobs_wait"
JOBS_PATIENT_SECONDS = 5.0
"""How long the job queue may be away, as during a failover, before it is an alarm."""
REPLICAS_LACKING = "replicas_lacking"
WRITES_FAIL = "redis_writes_fail"
KNOWN: Mapping[str, AlarmKind] = {
    PARTITION_GAP: AlarmKind(
        "stopped",
        "itself",
        "Entries of a partition's log are missing, or no append wrote them. The partition neither appends nor folds; the"
        ' other partitions go on. See docs/operating.md, "A gap in the log".',
    ),
    "clock_apart": AlarmKind(
        "warning",
        "itself",
        "Redis's clock and this machine's are more than five minutes apart: set the one that is wrong by NTP.",
    ),
    "clock_back": AlarmKind(
        "warning",
        "itself",
        "Redis's clock went back: check its NTP. Replies recorded meanwhile may appear before the messages that they"
        " answer.",
    ),
    LOG_CHANGED: AlarmKind(
        "stopped",
        "itself",
        "The log differs from a head that was kept outside Redis: it was changed or cut off, or it is another store."
        " `engramlog verify` shows where; restore a copy of the log.",
    ),
    "head_sink_failed": AlarmKind(
        "warning",
        "itself",
        "Heads could not be kept, or not be given to a sink of ENGRAMLOG_HEAD_SINKS; it is tried again.",
    ),
    "rebuild_left": AlarmKind(
        "warning",
        "itself",
        "A rebuild ended before it switched a partition: `engramlog rebuild` goes on with it, `--drop-left` drops what it left.",
    ),
    "erasure_left": AlarmKind(
        "warning",
        "itself",
        "An erasure did not end. Run `engramlog erase` with the same owner and ids again. Until then Redis and its files"
        " may still hold data derived from those words.",
    ),
    "erased_came_back": AlarmKind(
        "stopped",
        "operator",
        "An older copy of the store was put back, with owners or memories that had been erased since. They were hidden"
        " again at once; `engramlog erase --again` removes what came back with them.",
    ),
    "store_restored": AlarmKind(
        "stopped",
        "itself",
        "The store was restored from a backup, and nobody took it over: it answers, and takes nothing new, for the original may"
        " still run or have said more since. `engramlog backup take-over` has it take the original's place."
        " docs/how-to/backup.md says how.",
    ),
    "log_cut": AlarmKind(
        "warning",
        "operator",
        "The append-only file ended in an unfinished write, which was cut off. After a crash no acknowledged event is"
        " lost, unless the disk failed or somebody cut the file. The text says how many bytes.",
    ),
    LOG_ROLLED_BACK: AlarmKind(
        "stopped", "itself", "The log is shorter or other than what was folded; look at the Redis before anything else."
    ),
    "partition_stands_still": AlarmKind(
        "stopped",
        "itself",
        "Events wait and no worker folds them. Is a worker running? Its log says why it stopped; `engramlog status` shows"
        " who holds the partition.",
    ),
    "disk_full": AlarmKind(
        "stopped",
        "itself",
        "The disk of the data folder is nearly full: no writes are taken, reads go on. Make room; then writes go on by themselves.",
    ),
    REPLICAS_LACKING: AlarmKind(
        "stopped",
        "itself",
        "A primary has fewer replicas than appends wait for (`ENGRAMLOG_MIN_REPLICAS`). Events are written and readable, but the"
        " answer is `under_replicated`. Bring the replicas back. With two for each primary the loss of one stops nothing.",
    ),
    WRITES_FAIL: AlarmKind(
        "stopped",
        "itself",
        "Redis cannot write its append-only file: its disk is full, read-only or broken. Redis refuses writes until it can. Make"
        " room or repair the disk; writes then go on by themselves.",
    ),
    "disk_low": AlarmKind(
        "warning",
        "itself",
        "The disk of the data folder has no room for the next rewrite of the log, which takes as much again as the log: make room.",
    ),
    "receipt_lost": AlarmKind(
        "stopped",
        "operator",
        "The log no longer holds an event that was acknowledged: Redis came back with another history (a cut append-only file, a"
        " replica, a restored copy). Restore it, or clear the alarm to append to the history that is there; then send again what"
        " was sent since.",
    ),
    "receipts_not_kept": AlarmKind(
        "warning",
        "itself",
        "The newest receipts could not be written to or read from the data folder. If this process ends, a loss of its"
        " acknowledged events would not be noticed. Writing is tried again.",
    ),
    "rejections_restored": AlarmKind(
        "warning",
        "operator",
        "The store lacked rejections that are kept outside of it: it came back as it was before them. They were said again, and"
        " hold. Look which copy was restored, and clear the alarm.",
    ),
    "rejections_lost": AlarmKind(
        "stopped",
        "operator",
        "The store lacked rejections that are kept outside it, and they could not be recorded again, so rejected"
        " statements may be shown. Reject them again, and clear the alarm.",
    ),
    "rejections_not_kept": AlarmKind(
        "warning",
        "itself",
        "Rejections could not be kept outside the store, read from there, or recorded again, so a restored copy may show"
        " rejected statements. It is tried again.",
    ),
    INBOX_FULL: AlarmKind(
        "warning",
        "itself",
        "The inbox of an owner is full, so further changes that need a person are ignored. Answer items with `engramlog"
        " inbox OWNER`. docs/explanation/trust.md says how to withhold a source.",
    ),
    OWNER_TOO_LARGE: AlarmKind(
        "warning",
        "itself",
        "An owner has more memories than a process loads (`ENGRAMLOG_VIEW_BYTES`): it is not searched, and jobs leave it out."
        ' docs/operating.md, "Very large owners", says what can be done.',
    ),
    OWNER_QUARANTINED: AlarmKind(
        "warning",
        "itself",
        "An event of an owner could not be folded. Answers about this owner end before that event; other owners go on."
        " `engramlog dead` says why, and `engramlog dead OWNER --retry` or `--discard` frees the owner.",
    ),
    "socket_removed": AlarmKind(
        "warning",
        "operator",
        "The socket of the private Redis was removed and put back: find out what cleans that folder, and keep it off.",
    ),
    "state_damaged": AlarmKind(
        "stopped", "itself", "A stored record cannot be read: `engramlog verify`, then `engramlog rebuild`."
    ),
    "identity_unreachable": AlarmKind(
        "warning",
        "itself",
        "The keys of the identity provider (`ENGRAMLOG_IDENTITY_ISSUER`) cannot be asked for. Known ones hold for an hour, then"
        " nobody with a token of it is admitted; keys of the store open as ever.",
    ),
    KEYS_UNAVAILABLE: AlarmKind(
        "warning",
        "itself",
        "The master key (`ENGRAMLOG_SEALED_BY`) cannot be had, or not for some owners. Nothing is lost: what is said of them waits"
        " in the log, and is folded by itself once it can. The text says why; docs/how-to/sealing.md says what to do.",
    ),
    KEYS_OLDER: AlarmKind(
        "stopped",
        "itself",
        "The key store is an older copy than the log: newer events cannot be opened, and newer rejections do not hold. Put the"
        " newer key store back; the alarm goes when the store is opened again.",
    ),
    CLUSTER_WAITS: AlarmKind(
        "warning",
        "itself",
        "A partition cannot be appended to or folded now: the node of the Redis Cluster that holds it was lost, or its slot is"
        " being moved. Nothing is lost; what was refused is sent again. docs/how-to/cluster.md says how long that takes.",
    ),
    "token_unusable": AlarmKind(
        "stopped",
        "itself",
        "The API's token is gone, or others could have read it, and nobody is answered: `engramlog token --rotate` makes a new"
        " one.",
    ),
    ACCESSES_LOST: AlarmKind(
        "warning",
        "operator",
        "Accesses were not recorded: Redis accepted no more, or too many waited. The count is the number of accesses."
        " Answers were returned, and no memory was strengthened by them.",
    ),
    "certificate_ends": AlarmKind(
        "warning",
        "itself",
        "The certificate by which others ask this service ends within 14 days, or has ended: renew it; new files are taken without"
        " a restart.",
    ),
    "certificate_unreadable": AlarmKind(
        "warning",
        "itself",
        "The files of the certificate changed and cannot be used: the one before stays in use until they can. The text says why.",
    ),
    "console_codes_refused": AlarmKind(
        "warning",
        "operator",
        "Many codes were shown at the console's door that open nothing: a program or a page of this machine tries to get in. They"
        " cannot be guessed, and nothing was opened: find out who it is.",
    ),
    JOBS_WAIT: AlarmKind(
        "warning",
        "itself",
        "The job queue (`ENGRAMLOG_QUEUE_URL`, or the store's Redis) does not answer, or refuses: nothing is swept, deleted for"
        " good, extracted, linked or embedded. Nothing is lost: jobs go on by themselves once it answers. The text says why.",
    ),
    "job_refused": AlarmKind(
        "warning",
        "operator",
        "Something lay in the job queue that was no job of this store: find out who can write to it.",
    ),
}
"""Every alarm by name."""


class Alarm(msgspec.Struct, frozen=True):
    """One alarm that stands."""

    name: str
    subject: str
    text: str
    first: int
    """When it was raised first since it was last cleared: microseconds since 1970, of Redis's clock."""
    last: int
    count: int
    by: str
    """The process that raised it last."""

    @property
    def severity(self) -> Severity:
        """How bad; a name of a newer release is a warning."""
        known = KNOWN.get(self.name)
        return known.severity if known else "warning"


class Alarms(Protocol):
    """Where parts report what must not go unnoticed. Never raises, never blocks for long."""

    def raised(self, name: str, subject: str = "", text: str = "") -> None:
        """It happened, or still holds."""
        ...

    def cleared(self, name: str, subject: str = "") -> None:
        """It is over; nothing happens where it was not raised."""
        ...


class TellingAlarms:
    """Alarms that are only told, where there is no store to keep them in."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def raised(self, name: str, subject: str = "", text: str = "") -> None:
        """Tell it."""
        self._tell("alarm raised", name=name, subject=subject, reason=text, alarm=True)

    def cleared(self, name: str, subject: str = "") -> None:
        """Nothing: nothing is kept."""


class ConditionAlarm:
    """Follows one condition: raises its alarm once the trouble lasts, and clears it when that is over. Only changes are sent."""

    def __init__(
        self,
        alarms: Alarms,
        name: str,
        subject: str = "",
        *,
        patient_seconds: float = 0.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`patient_seconds`: how long trouble may last before it is an alarm."""
        self._alarms = alarms
        self._key = name, subject
        self._patient_seconds = patient_seconds
        self._clock = clock
        self._since: float | None = None
        self.reported: str | None = ""
        """The trouble reported last; "" at first: an earlier process may have left the alarm."""

    def report(self, trouble: str | None) -> bool:
        """Report the trouble, or None for none; whether this changed the alarm."""
        if trouble is None:
            self._since = None
        else:
            self._since = self._clock() if self._since is None else self._since
            if self._clock() - self._since < self._patient_seconds:
                return False
        if trouble == self.reported:
            return False
        self.reported = trouble
        if trouble is None:
            self._alarms.cleared(*self._key)
        else:
            self._alarms.raised(*self._key, trouble)
        return True


def one_line(text: str, most: int) -> str:
    """`text` as one printable line of at most `most` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def as_dict(alarm: Alarm, when: Callable[[int], str]) -> dict[str, Any]:
    """JSON-ready; `when` writes an instant."""
    known = KNOWN.get(alarm.name)
    return {
        "name": alarm.name,
        "severity": alarm.severity,
        "subject": alarm.subject,
        "text": alarm.text,
        "meaning": known.meaning if known else "",
        "ends": known.ends if known else "operator",
        "first": when(alarm.first),
        "last": when(alarm.last),
        "count": alarm.count,
        "by": alarm.by,
    }
