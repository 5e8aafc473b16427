"""What services say about pinned packages, read from reports of pip-audit: weak, without known weakness, or not looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

ACCEPTED: Mapping[str, str] = {}
"""Id of a weakness -> why it does not reach us, in a sentence, where no release without it is there yet."""


AUDITED = "audited: "
"""What the line begins with that tells how many packages were looked up."""


class Weakness(NamedTuple):
    """A known weakness of a pinned package."""

    package: str
    ids: tuple[str, ...]
    """Its own id, and those by which others know it."""
    fixed_in: tuple[str, ...]

    def __str__(self) -> str:
        cure = f"fixed in {', '.join(self.fixed_in)}" if self.fixed_in else "no release without it is known"
        return f"{self.package}: {' = '.join(self.ids)}; {cure}"


class Report(NamedTuple):
    """What one service, or several together, said."""

    looked_up: frozenset[str]
    """Packages, as `name version`, about which one answered."""
    weak: tuple[Weakness, ...]

    def __or__(self, other: Report) -> Report:
        return Report(self.looked_up | other.looked_up, (*self.weak, *other.weak))


NOTHING = Report(frozenset(), ())


def read(told: Mapping[str, Any]) -> Report:
    """A report of pip-audit in its format json. What it skipped counts as not looked up: it ends with 0 where it skipped all."""
    rows = [one for one in told["dependencies"] if "skip_reason" not in one]
    weak = [
        Weakness(_named(one), (each["id"], *each.get("aliases", ())), tuple(each.get("fix_versions", ())))
        for one in rows
        for each in one["vulns"]
    ]
    return Report(frozenset(map(_named, rows)), tuple(weak))


def _named(row: Mapping[str, Any]) -> str:
    return f"{row['name']} {row['version']}"


def verdict(
    pinned: Iterable[str], report: Report, problems: Iterable[str], accepted: Mapping[str, str] = ACCEPTED
) -> tuple[list[str], int]:
    """What is printed about the packages that are `pinned`, as `name version`, and the exit code: 1 where one is weak.

    What was not looked up is told with the `problems` that services had, and fails nothing: without a network nobody could.
    """
    every = frozenset(pinned)
    lines, code = list[str](), 0
    for one in sorted(set(report.weak)):
        why = next((accepted[each] for each in one.ids if each in accepted), None)
        lines.append(f"WEAK {one}" if why is None else f"accepted {one}: {why}")
        code = code if why is not None else 1
    missing = sorted(every - report.looked_up)
    if missing:
        named = f": {', '.join(missing[:5])}{' ...' if len(missing) > 5 else ''}" if report.looked_up else ""
        because = "; ".join(problems) or "no service knows them"
        lines.append(f"not audited: {len(missing)} of {len(every)} packages{named} ({because})")
    if looked := len(every) - len(missing):
        lines.append(f"{AUDITED}{looked} of {len(every)} packages, {len(set(report.weak))} known weaknesses")
    return lines, code
