"""What `append`, `import` and `export` did, printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from engramlog_server.api.cli.app import err, out
from engramlog_server.api.cli.show import generic
from engramlog_server.api.cli.show import memories as render
from engramlog_server.events.text import many

SHOWN = 10
"""Rows of what stayed out; --json has all."""
ALWAYS = frozenset({"appended", "already_appended"})
"""Counts that are printed even if they are 0."""
HOW_TO_INCLUDE = {
    "sensitive": " (--reveal)",
    "purged": " (nothing is left of it)",
    "unknown": " (no memory has the id)",
}
OF_EVENTS: Mapping[str, str] = {
    "conflicts": "{:,} ids are taken by other content, and nothing for their partitions was written: correct or remove these"
    " lines, then send the whole file again",
    "failed": "{:,} events were not written",
    "rejected": "{:,} say what a person rejected, and change nothing",
    "too_long": "{:,} turns of more than 64 KiB left out: `--long-turns cut` keeps their beginning",
    "cut": "{:,} turns of more than 64 KiB cut",
    "ignored_fields": "{:,} fields not read: are they misspelt?",
}
"""Fields of an answer, each with its meaning and what to do about it; `{:,}` is the count."""
OF_RECORDS: Mapping[str, str] = {
    "conflicts": "{:,} were imported before with other content, and stay as they were then",
    "duplicates": "{:,} say something else than an earlier line: the first holds",
    "failed": "{:,} were not written",
    "ids_taken": "{:,} ids had a memory already, which stays as it is",
    "rejected": "{:,} say what was rejected, so they became no memories",
    "rejections": "{:,} rejected values carried over: they are not remembered again",
    "rejections_left_out": "rejected values were not carried over: reject them here",
    "said_withheld": "{:,} turns without words: they were withheld from the export",
    "of_the_log": "these parts describe the log from which they come, and are skipped",
    "ignored_fields": "{:,} fields that no memory has a place for",
    "flagged": "{:,} possible conflicts: both statements stay, and `engramlog list` shows them",
    "made_ordinary": "ordinary memories now, because only an operator can put one into every prompt:"
    " `engramlog edit OWNER ID --tier core`, or `import records --core` for a whole file",
    "associations_left_out": "{:,} associations beyond the strongest 32 of their record were left out",
}


def told(answer: Mapping[str, Any], hints: Mapping[str, str] = OF_EVENTS) -> None:
    """Print what an import did: counts above 0, the first rows that were left out, and what to do about them."""
    shown = {name: value or "0" for name, value in answer.items() if value or name in ALWAYS}
    shown = {name: value[:SHOWN] if isinstance(value, list) else value for name, value in shown.items()}
    shown.pop("positions", None)
    shown.pop("error", None)
    generic.answer(shown)
    for name, hint in hints.items():
        if value := answer.get(name):
            out.print(Text(hint.format(value if isinstance(value, int) else len(value)), "yellow"), soft_wrap=True)


def imported(answer: Mapping[str, Any]) -> None:
    """Print what an import of records did."""
    told(answer, OF_RECORDS)


def turns(answer: Mapping[str, Any], old: int) -> None:
    """Print what an import of turns or chats did. `old`: memories of the first owner that are withheld only for their age."""
    told(answer)
    if old:
        out.print(
            f"[dim]{many(old, 'memory is', 'memories are')} old: the newest turn is of"
            f" {answer['newest_turn']}. Searches mark them as long ago. Add --as-of just after that day to search as of then.[/]"
        )


def exported(answer: Mapping[str, Any], file: str | None) -> None:
    """On standard error: how much was exported, and what was left out, with the way to have it."""
    counted = many(answer["count"], "memory", "memories")
    said = f"{counted} of {answer['owner']} at {answer['position']}{render.times_of(answer)}"
    said += f" written to {file}" if file is not None else ""
    left_out = [
        f"{count:,} {reason}{HOW_TO_INCLUDE.get(reason, f' (--include {reason})')}"
        for reason, count in sorted(answer["left_out"].items())
    ]
    said += f"; left out: {', '.join(left_out)}" if left_out else ""
    err.print(Text(said, "dim"), soft_wrap=True)
    if stuck := answer.get("quarantined"):
        err.print(
            f"[yellow]This owner is quarantined at {stuck['position']}: what follows there is not in it"
            " (`engramlog dead`)[/]",
            soft_wrap=True,
        )
