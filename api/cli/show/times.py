"""Both time lines of an owner, drawn with the letters of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from api import shapes
from api.cli.app import out
from api.cli.show.memories import times_of

_NAME = 10
"""Columns before a line's picture."""
_HEIGHTS, _PLAIN_HEIGHTS = "▁▂▃▄▅▆▇█", ".:-=+*#@"


def lines(answer: shapes.OwnerTimes, console: Console = out) -> None:
    """When it happened, and when it was recorded: ends, and the height of each part."""
    late = f", {answer['late']:,} of them late" if answer["late"] else ""
    events = f"{answer['events']:,} event{'' if answer['events'] == 1 else 's'}{late}"
    console.print(f"[dim]{events}, position {escape(answer['position'] + times_of(answer))}[/]")
    _line("happened", answer["buckets"]["happened"], console)
    _line("recorded", answer["buckets"]["recorded"], console)
    if (ahead := answer["happened"]["ahead"]) is not None:
        console.print(Text(f"the last one lies ahead: {_minute(ahead)} UTC", "yellow"))
    if answer["hint"] is not None:
        console.print(Text(answer["hint"], "yellow"))


def _line(name: str, line: shapes.LineBuckets, console: Console) -> None:
    if line["since"] is None or line["until"] is None:
        console.print(f"{name:<{_NAME}}[dim]nothing[/]")
        return
    console.print(f"{name:<{_NAME}}{_minute(line['since'])} to {_minute(line['until'])} UTC", end="")
    console.print(f"[dim], {line['events']:,} event{'' if line['events'] == 1 else 's'}[/]")
    columns = fitting(line["counts"], max(console.width - _NAME, 1))
    console.print(Text(" " * _NAME + picture(columns, ascii_only=console.options.ascii_only), "cyan"), no_wrap=True)
    groups = line["groups"]
    if groups is not None:
        counted = ((one, sum(groups[one])) for one in ("made", "changed", "ended", "seen", "talk"))
        console.print(Text(" " * _NAME + ", ".join(f"{one} {many:,}" for one, many in counted if many), "dim"))


def _minute(instant: str) -> str:
    return instant[:16].replace("T", " ")


def fitting(counts: Sequence[int], width: int) -> list[int]:
    """The counts of neighbours summed, where there are more than columns."""
    together = -(-len(counts) // width)
    return [sum(counts[start : start + together]) for start in range(0, len(counts), together)]


def picture(counts: Sequence[int], *, ascii_only: bool) -> str:
    """A letter a part, as high as it has events beside the fullest one: nothing only where there is none."""
    heights = _PLAIN_HEIGHTS if ascii_only else _HEIGHTS
    highest = max(counts, default=0)
    return "".join(heights[(count * len(heights) - 1) // highest] if count else " " for count in counts).rstrip()
