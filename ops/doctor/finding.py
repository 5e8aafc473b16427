"""What a check found. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypedDict

Result = Literal["ok", "advice", "wrong", "unknown"]
WORST_FIRST: tuple[Result, ...] = ("wrong", "advice", "unknown", "ok")
MOST_NAMED = 5


class FindingTold(TypedDict):
    """A finding as `--json` prints it."""

    group: str
    check: str
    result: Result
    found: str
    advice: str | None
    """None where there is nothing to do."""
    failed: bool


class DoctorTold(TypedDict):
    """What `--json` prints."""

    store_id: str | None
    """None where the store could not be looked into."""
    at: str
    result: Result
    """The worst of all; `unknown` only where a check could not be carried out."""
    counts: dict[Result, int]
    checks: list[FindingTold]


class CheckFinding(NamedTuple):
    """What one check found, in one sentence, and what to do, in another."""

    group: str
    check: str
    result: Result
    found: str
    advice: str | None = None
    failed: bool = False
    """Of what is unknown: whether the check could not be carried out. Else it is what cannot be seen from here at all."""

    def as_dict(self) -> FindingTold:
        """JSON-ready."""
        return {
            "group": self.group,
            "check": self.check,
            "result": self.result,
            "found": self.found,
            "advice": self.advice,
            "failed": self.failed,
        }


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
        """To be mended before others are let in."""
        return CheckFinding(self.name, check, "wrong", found, advice)

    def unseen(self, check: str, found: str, advice: str) -> CheckFinding:
        """What nobody can see from here."""
        return CheckFinding(self.name, check, "unknown", found, advice)

    def failed(self, check: str, why: str) -> CheckFinding:
        """A check that could not be carried out."""
        return CheckFinding(self.name, check, "unknown", f"not looked at: {why}", None, failed=True)


PERMISSIONS, SEALING, ACCESS, REDIS, CLUSTER = (
    CheckGroup("permissions"),
    CheckGroup("sealing"),
    CheckGroup("access"),
    CheckGroup("redis"),
    CheckGroup("cluster"),
)
BACKUPS, CLOCK, DISK, PROCESSES = (
    CheckGroup("backups"),
    CheckGroup("clock"),
    CheckGroup("disk"),
    CheckGroup("processes"),
)
STORE = CheckGroup("store")
SETTINGS, MACHINE = CheckGroup("settings"), CheckGroup("machine")
ORDER = (SETTINGS, MACHINE, PERMISSIONS, SEALING, ACCESS, REDIS, CLUSTER, BACKUPS, CLOCK, DISK, PROCESSES, STORE)


def exit_code(findings: Iterable[CheckFinding], *, strict: bool = False) -> int:
    """1 where something is wrong, or under `strict` advised; else 3 where a check could not be carried out; else 0."""
    found = list(findings)
    if any(one.result == "wrong" or (strict and one.result == "advice") for one in found):
        return 1
    return 3 if any(one.failed for one in found) else 0


def told(store_id: str | None, at: str, findings: Sequence[CheckFinding]) -> DoctorTold:
    """All that was found, in the order of the groups."""
    place = {group.name: number for number, group in enumerate(ORDER)}
    ordered = sorted(findings, key=lambda one: place[one.group])
    counts = Counter(one.result for one in ordered)
    worst: Result = "ok"
    if counts["wrong"]:
        worst = "wrong"
    elif counts["advice"]:
        worst = "advice"
    elif any(one.failed for one in ordered):
        worst = "unknown"
    return {
        "store_id": store_id,
        "at": at,
        "result": worst,
        "counts": {result: counts[result] for result in WORST_FIRST},
        "checks": [one.as_dict() for one in ordered],
    }


def named(names: Sequence[str]) -> str:
    """Some of several, and how many there are besides."""
    left = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {left:,} more" if left > 0 else "")


def many(count: int, one: str, several: str | None = None) -> str:
    """A count with its word: `1 key`, `2 keys`."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"
