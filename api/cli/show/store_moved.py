"""How the reading of a whole store would change, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import times_of
from api.cli.show.replaying import told_fields
from api.cli.show.tables import Column, figure, ident, tabulate, words


def store_moved(answer: Mapping[str, Any], console: Console = out) -> None:
    """How normal mode and the order of memories change over a whole store."""
    differ = f"{answer['changes']:,} of {answer['memories']:,} memories differ{told_fields(answer['changed_fields'])}"
    seen = f"{answer['changed']:,} of {_owners(answer['owners'])} would be read otherwise: {differ}"
    console.print(Text(f"{seen}{times_of(answer)}, {answer['mode']} mode"))
    if answer["struck"]:
        console.print(Text(f"{answer['struck']:,} of {answer['events']:,} events are struck"))
    if answer["untouched"]:
        console.print(Text(f"of {_owners(answer['untouched'])} nothing is struck: they have nothing of what is named"))
    _standing(answer, console)
    _shown(answer, console)
    if answer["heavier"] or answer["lighter"]:
        weights = f"{answer['heavier']:,} weigh more, {answer['lighter']:,} less"
        console.print(Text(f"{weights}; the largest change is {answer['largest_change']:+.3f}"))
    _orders(answer, console)
    _most(answer, console)
    count = answer["processes"]
    by = "Dask workers" if count is None else f"{count} process{'' if count == 1 else 'es'}"
    console.print(Text(f"{answer['seconds']:.1f} s by {by}; nothing was written to the store", "dim"))


def _owners(many: int) -> str:
    """So many owners."""
    return f"{many:,} owner{'' if many == 1 else 's'}"


def _standing(answer: Mapping[str, Any], console: Console) -> None:
    """Who is in no figure, or not whole."""
    if answer["quarantined"]:
        stuck = f"{_owners(answer['quarantined'])} looked at as of before an event that could not be folded"
        console.print(Text(f"{stuck} (`engramlog dead`)", "bold yellow"))
    if answer["behind"]:
        newer = f"{_owners(answer['behind'])} looked at as far as they are folded: newer events wait"
        console.print(Text(f"{newer} (`engramlog status` tells the lag)", "yellow"))
    for kind, many in sorted(answer["left_out"].items()):
        console.print(Text(f"{_owners(many)} could not be looked at, and in no other figure: {kind}", "bold yellow"))


def _shown(answer: Mapping[str, Any], console: Console) -> None:
    """What is there, and what of it the mode shows."""
    there = answer["memories"] + answer["appear"] - answer["vanish"]
    sides = (
        ("there", "memories", there, "appear", "vanish"),
        (f"shown in {answer['mode']} mode", "shown_today", answer["shown_then"], "came", "went"),
    )
    rows = [
        {"memories": what, "today": answer[today], "replayed": replayed, "in": answer[came], "out": answer[went]}
        for what, today, replayed, came, went in sides
    ]
    first = figure("then" if times_of(answer) else "today", "today")
    tabulate((Column("memories"), first, figure("replayed"), figure("in"), figure("out")), rows, console)
    for what, told in (("come in that are", answer["why_came"]), ("go out as", answer["why_went"])):
        if told:
            console.print(Text(f"{what}: " + ", ".join(f"{why.replace('_', ' ')} {many:,}" for why, many in _by(told))))
    if answer["levels"]:
        told_at = ", ".join(f"{pair.replace('>', ' to ')} {many:,}" for pair, many in _by(answer["levels"]))
        console.print(Text(f"told at another level: {told_at}"))


def _orders(answer: Mapping[str, Any], console: Console) -> None:
    """Of how many owners the order of results is another one."""
    every = [("the heaviest ten", answer["by_weight"]), *answer["questions"].items()]
    counts = (figure("owners", "orders"), figure("another", "changed"), figure("another first", "first"))
    rows = [{**one, "order": name} for name, one in every]
    tabulate((words("order"), *counts, figure("in", "came"), figure("out", "went")), rows, console)


def _most(answer: Mapping[str, Any], console: Console) -> None:
    """The owners of whom most changes."""
    if not answer["most"]:
        return
    columns = (ident("most of", "owner"), figure("memories", "changes"), figure("in", "came"), figure("out", "went"))
    tabulate(columns, answer["most"], console)


def _by(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most first."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
