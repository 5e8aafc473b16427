"""Figures of all owners of a store, for people: health, and what reading their turns came to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import times_of
from api.cli.show.tables import Cell, Column, tabulate

SPANS = {
    "passed": "has passed",
    "day": "within a day",
    "week": "within 7 days",
    "month": "within 30 days",
    "quarter": "within 90 days",
    "later": "later",
}


def owners_told(many: int) -> str:
    """So many owners."""
    return f"{many:,} owner{'' if many == 1 else 's'}"


def standing_of(answer: Mapping[str, Any], console: Console) -> None:
    """Who is in no figure, or not whole."""
    if answer["quarantined"]:
        stuck = f"{owners_told(answer['quarantined'])} looked at as of before an event that could not be folded"
        console.print(Text(f"{stuck} (`engramlog dead list`)", "bold yellow"))
    if answer["behind"]:
        newer = f"{owners_told(answer['behind'])} looked at as far as they are folded: newer events wait"
        console.print(Text(f"{newer} (`engramlog status` tells the lag)", "yellow"))
    for kind, many in sorted(answer["left_out"].items()):
        console.print(
            Text(f"{owners_told(many)} could not be looked at, and in no other figure: {kind}", "bold yellow")
        )


def done_by(answer: Mapping[str, Any], wrote: str, console: Console) -> None:
    """How it was done, and what was written."""
    before = f", {owners_told(answer['done_before'])} done by a run before" if answer["done_before"] else ""
    many, dask = answer["processes"], answer.get("dask")
    by = f"{many} process{'' if many == 1 else 'es'}"
    if dask is not None:
        lost = f", {dask['lost']} of them gone since" if dask["lost"] else ""
        by = f"{many} Dask worker{'' if many == 1 else 's'}{lost}"
    console.print(Text(f"{answer['seconds']:.1f} s by {by}{before}; {wrote}", "dim"))


def everybody_held(answer: Mapping[str, Any], console: Console = out) -> None:
    """How memories are held over a whole store, and what of them wants a look."""
    live, colours = answer["live"], answer["colours"]
    mean = f", mean strength {answer['mean_strength']:g}" if live else ""
    told = (
        f"{owners_told(answer['owners'])}: {live:,} of {answer['memories']:,} memories are live{mean}{times_of(answer)}"
    )
    console.print(Text(told))
    standing_of(answer, console)
    counts = ", ".join(f"[{name}]{colours.get(name, 0):,} {name}[/]" for name in ("green", "yellow", "red"))
    console.print(f"strength: {counts}; {answer['shown']:,} shown in normal mode", highlight=False)
    _line("by state", answer["by_state"], console)
    _line("by source", answer["by_source"], console)
    _line("by sensitivity", answer["by_sensitivity"], console)
    _line("by law", answer["profiles"], console)
    for name, what in (("archives", "archived by their law"), ("deletes", "deleted by their law")):
        if answer[name]:
            soon = ", ".join(f"{words} {answer[name][span]:,}" for span, words in SPANS.items() if span in answer[name])
            console.print(Text(f"{what}: {soon}"))
    looks = (
        (answer["waiting"], f"wait for a person, of {owners_told(answer['waiting_owners'])} (`engramlog inbox OWNER`)"),
        (answer["conflicting"], "live memories may contradict another one"),
        (answer["orphaned"], "live memories stand though what they were made of is deleted"),
        (answer["ground_changed"], "live memories rest on a ground that has changed"),
        (answer["asides"], "sources are set aside (`engramlog asides OWNER`)"),
    )
    for many, what in looks:
        if many:
            console.print(Text(f"{many:,} {what}", "yellow"))
    rows: list[dict[str, Cell]] = [
        {
            "want a look": Text(one["owner"]),
            **{name: f"{one[key]:,}" for name, key in _LOOKED},
        }
        for one in answer["most"]
    ]
    if rows:
        figures = [Column(name, right=True) for name, _ in _LOOKED]
        tabulate((Column("want a look", is_id=True), *figures), rows, console)
    done_by(answer, "nothing was written to the store", console)


_LOOKED = (("waiting", "waiting"), ("may contradict", "conflicting"), ("orphaned", "orphaned"), ("red", "red"))


def _line(what: str, counts: Mapping[str, int], console: Console) -> None:
    if counts:
        told = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        console.print(Text(f"{what}: " + ", ".join(f"{name.replace('_', ' ')} {many:,}" for name, many in told)))


def everybody_read(answer: Mapping[str, Any], console: Console = out) -> None:
    """What reading the turns of a whole store came to, or would come to."""
    dry, counts = answer["dry_run"], sorted(answer["counts"].items())
    changing = ", ".join(f"{many:,} {name.replace('_', ' ')}" for name, many in counts if name != "skip")
    kept = f", {answer['counts']['skip']:,} known or not kept" if answer["counts"].get("skip") else ""
    read = f"{answer['read']:,} turns read{' again' if answer['again'] else ''}: " if answer["read"] else ""
    seen = f"of {answer['changed']:,} of {owners_told(answer['owners'])}: "
    if dry:
        changing = f"would be {changing}" if changing else "nothing would change"
    console.print(Text(f"{seen}{read}{changing or 'nothing new'}{kept}", "yellow" if dry else "green"))
    standing_of(answer, console)
    if answer["by_rules"]:
        console.print(Text(f"{answer['by_rules']:,} turns by rules: the model had no usable answer", "yellow"))
    if answer["requests"]:
        tokens = f"{answer['input_tokens']:,} + {answer['output_tokens']:,} tokens"
        console.print(Text(f"{answer['requests']:,} requests, {tokens}", "dim"))
    if answer["troubled"]:
        console.print(Text(f"the model failed of {owners_told(answer['troubled'])}", "bold red"))
    if answer["left"]:
        console.print(Text(f"{answer['left']:,} turns are still to be read", "yellow"))
    rows: list[dict[str, Cell]] = [
        {"most of": Text(one["owner"]), "changes": f"{one['changes']:,}", "turns left": f"{one['left']:,}"}
        for one in answer["most"]
    ]
    if rows:
        figures = [Column(name, right=True) for name in ("changes", "turns left")]
        tabulate((Column("most of", is_id=True), *figures), rows, console)
    wrote = "nothing was written to the store" if dry else f"{answer['appended']:,} events are in the log"
    done_by(answer, wrote, console)
