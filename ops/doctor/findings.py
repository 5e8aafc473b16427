"""Findings of checks in order of their groups, how checks run, and the check that this machine's files are their user's alone.

Checks run at the same time, each bounded in time.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Literal, NamedTuple, TypedDict, cast

from engramlog_server.events.errors import EngramlogError
from engramlog_server.events.text import many
from engramlog_server.ops.durable import OTHERS
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.token import read_token

Result = Literal["ok", "advice", "wrong", "unknown"]
WORST_FIRST: tuple[Result, ...] = ("wrong", "advice", "unknown", "ok")
MOST_NAMED = 5


class FindingShape(TypedDict):
    """A finding as `--json` prints it."""

    group: str
    check: str
    result: Result
    found: str
    advice: str | None
    """None if there is nothing to do."""
    failed: bool


class DoctorReport(TypedDict):
    """What `--json` prints."""

    store_id: str | None
    """None if the store could not be read."""
    at: str
    result: Result
    """The worst of all; `unknown` only if a check could not run."""
    counts: dict[Result, int]
    checks: list[FindingShape]


class CheckFinding(NamedTuple):
    """What one check found, in one sentence, and what to do, in another."""

    group: str
    check: str
    result: Result
    found: str
    advice: str | None = None
    failed: bool = False
    """For `unknown`: whether the check could not run. Otherwise it is something that cannot be seen from here at all."""


class CheckGroup(NamedTuple):
    """Checks that belong together; it makes their findings."""

    name: str

    def ok(self, check: str, found: str) -> CheckFinding:
        """As it should be."""
        return CheckFinding(self.name, check, "ok", found)

    def advice(self, check: str, found: str, advice: str) -> CheckFinding:
        """Sound, and could be better."""
        return CheckFinding(self.name, check, "advice", found, advice)

    def wrong(self, check: str, found: str, advice: str) -> CheckFinding:
        """To be fixed before others are let in."""
        return CheckFinding(self.name, check, "wrong", found, advice)

    def unseen(self, check: str, found: str, advice: str) -> CheckFinding:
        """Cannot be seen from here."""
        return CheckFinding(self.name, check, "unknown", found, advice)

    def failed(self, check: str, why: str) -> CheckFinding:
        """A check that could not run."""
        return CheckFinding(self.name, check, "unknown", f"not looked at: {why}", None, failed=True)


ORDER = tuple(
    CheckGroup(name)
    for name in (
        *("settings", "machine", "permissions", "sealing", "access", "redis"),
        *("cluster", "backups", "clock", "disk", "processes", "store"),
    )
)
SETTINGS, MACHINE, PERMISSIONS, SEALING, ACCESS, REDIS, CLUSTER, BACKUPS, CLOCK, DISK, PROCESSES, STORE = ORDER


def refused(group: CheckGroup, check: str, error: EngramlogError) -> CheckFinding:
    """A start's own refusal as a finding: the problem, and what to do if the refusal says so."""
    for parting, begins in (("; allowed", "allowed"), ("; ", ""), (": ", "")):
        found, told, cure = error.message.partition(parting)
        if told:
            return group.wrong(check, found.removeprefix(f"{check}: "), begins + cure)
    return group.wrong(check, error.message, "look at it, then try again")


def unless(group: CheckGroup, check: str, fine: str, work: Callable[[], object]) -> list[CheckFinding]:
    """That it is as it should be, or the refusal of what a start does."""
    try:
        work()
    except EngramlogError as error:
        return [refused(group, check, error)]
    return [group.ok(check, fine)]


def exit_code(answer: DoctorReport, *, strict: bool = False) -> int:
    """1 if something is wrong, or under `strict` advised; else 3 if a check could not run; else 0."""
    if answer["counts"]["wrong"] or (strict and answer["counts"]["advice"]):
        return 1
    return 3 if any(one["failed"] for one in answer["checks"]) else 0


def report(store_id: str | None, at: str, findings: Sequence[CheckFinding]) -> DoctorReport:
    """All findings, in the order of the groups."""
    place = {group.name: number for number, group in enumerate(ORDER)}
    ordered = sorted(findings, key=lambda one: place[one.group])
    counts = Counter(one.result for one in ordered)
    results = [one.result for one in ordered if one.result != "unknown" or one.failed]
    return {
        "store_id": store_id,
        "at": at,
        "result": min(results, key=WORST_FIRST.index, default="ok"),
        "counts": {result: counts[result] for result in WORST_FIRST},
        "checks": [cast("FindingShape", one._asdict()) for one in ordered],
    }


def named(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


class Check(NamedTuple):
    """A check to run."""

    group: CheckGroup
    name: str
    """Used in the finding if the check cannot run."""
    run: Callable[[], list[CheckFinding]]


def run_all(checks: Sequence[Check], seconds: float) -> list[CheckFinding]:
    """Findings of all checks, in their order, after at most this many seconds. A check that fails or hangs hides no other."""
    results: list[list[CheckFinding] | None] = [None] * len(checks)

    def run(number: int, check: Check) -> None:
        results[number] = _run(check)

    threads = [
        Thread(target=run, args=(number, check), name=f"doctor {check.name}", daemon=True)
        for number, check in enumerate(checks)
    ]
    ends = monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(ends - monotonic(), 0.0))
    findings = list[CheckFinding]()
    for check, result in zip(checks, list(results), strict=True):
        findings += [check.group.failed(check.name, f"no answer within {seconds:g} s")] if result is None else result
    return findings


def _run(check: Check) -> list[CheckFinding]:
    try:
        return check.run()
    except EngramlogError as error:
        why = error.message
    except OSError as error:
        why = error.strerror or type(error).__name__
    except Exception as error:  # noqa: BLE001 - a check at fault hides no other
        why = f"{type(error).__name__} in the check itself"  # no more of it: its text may be anybody's
    return [check.group.failed(check.name, why)]


Findings = list[CheckFinding]
MOST_ENTRIES = 10_000
WRITE_BY_OTHERS = 0o022


def folder_of(settings: Settings) -> Path:
    """The data folder, links followed. Raises OSError, RuntimeError for links in a circle."""
    return settings.data.expanduser().resolve()


def is_safe_to_open(folder: Path) -> bool:
    """Whether nobody else can have put there what a server would be started on, or asked at. Raises OSError."""
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & WRITE_BY_OTHERS


def private(check: str, folder: Path, setting: str) -> Findings:
    """Whether a folder of ours is this user's alone. `setting`: what names it. Raises OSError."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return [PERMISSIONS.ok(check, f"{folder} is not there yet: it is made, for this user alone, once it is needed")]
    octal, close = f"{stat.S_IMODE(found.st_mode):04o}", f"`chmod 700 {folder}`"
    if not stat.S_ISDIR(found.st_mode):
        return [PERMISSIONS.wrong(check, f"{folder} is no folder", f"let {setting} name a folder")]
    if found.st_uid != os.geteuid():
        text = f"{folder} belongs to user {found.st_uid}, and this command runs as user {os.geteuid()}"
        cure = "run it as the user of the service, as in `sudo -u engramlog engramlog doctor`"
        return [PERMISSIONS.wrong(check, text, cure)]
    if found.st_mode & WRITE_BY_OTHERS:
        text = f"others can write to {folder} ({octal}), so its files may be theirs"
        return [PERMISSIONS.wrong(check, text, f"look through it, then {close}")]
    if found.st_mode & OTHERS:
        return [PERMISSIONS.wrong(check, f"others can enter {folder} ({octal})", close)]
    return [PERMISSIONS.ok(check, f"{folder} is this user's alone ({octal})")]


def token(settings: Settings) -> Findings:
    """The API's token: set in the environment, or in a file that nobody else could have read."""
    if settings.token is not None:
        return [PERMISSIONS.ok("token", "callers show ENGRAMLOG_TOKEN; no file holds it")]
    fine = "no other user can read it; `up` makes it if there is none"
    return unless(PERMISSIONS, "token", fine, lambda: read_token(folder_of(settings)))


def files(folder: Path) -> Findings:
    """Everything in the data folder and below, links not followed, without what is removed meanwhile. Raises OSError."""
    if not folder.is_dir():
        return []
    check, findings = "files", Findings()
    found = list(islice(_below(folder), MOST_ENTRIES + 1))
    looked = found[:MOST_ENTRIES]
    if foreign := [path.name for path, status in looked if status.st_uid != os.geteuid()]:
        cure = "find out who put it there; if a command was run as root, give it back: `chown`"
        findings.append(PERMISSIONS.wrong(check, f"another user's, in the data folder: {named(foreign)}", cure))
    readable = [path.name for path, status in looked if _is_plain(status) and status.st_mode & OTHERS]
    if readable:
        things = f"{many(len(readable), 'thing')} in the data folder could be read by others, were it not closed"
        cure = f"`chmod -R go= {folder}`: a copy takes these permissions along"
        findings.append(PERMISSIONS.advice(check, f"{things}: {named(readable)}", cure))
    more = "; there are more, which were not looked at" if len(found) > MOST_ENTRIES else ""
    fine = f"{many(len(looked), 'thing')} in the data folder, all this user's alone{more}"
    return findings or [PERMISSIONS.ok(check, fine)]


def _is_plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)


def _below(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in sorted(folder.iterdir()):
        with suppress(FileNotFoundError, PermissionError):
            status = path.lstat()
            yield path, status
            if stat.S_ISDIR(status.st_mode):
                yield from _below(path)


def of_permissions(settings: Settings) -> list[Check]:
    """These checks."""
    elsewhere, setting = settings.rejections, "ENGRAMLOG_REJECTIONS"
    return [
        Check(PERMISSIONS, "data folder", lambda: private("data folder", folder_of(settings), "ENGRAMLOG_DATA")),
        Check(PERMISSIONS, "token", partial(token, settings)),
        Check(PERMISSIONS, "files", lambda: files(folder_of(settings))),
        *(
            [Check(PERMISSIONS, setting, lambda: private(setting, elsewhere.expanduser().resolve(), setting))]
            if elsewhere is not None
            else []
        ),
    ]
