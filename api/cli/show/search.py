"""Search results for people: a table of hits, what they bring to mind, and what each score is made of."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from engramlog_server.api.cli.app import out
from engramlog_server.api.cli.show.memories import conflicts, place, reworded, standing, withheld
from engramlog_server.api.cli.show.tables import Column, figure, ident, instant, tabulate, words
from engramlog_server.events.text import many
from engramlog_server.projections.shapes import Associated, Found

BAR = 24
"""Characters of the longest bar of a part of a score."""


def results(answer: Found, console: Console = out) -> None:
    """Search results."""
    found = answer["results"]
    if not found:
        nothing = "Nothing is left of this page" if answer["offset"] else "Nothing found"
        console.print(f"[yellow]{nothing}[/] [dim]({escape(place(answer))})[/]")
        _told(answer, console)
        withheld(answer["withheld"], console)
        return
    console.print(f"[dim]{escape(place(answer))}[/]")
    columns = (
        ident(),
        *((Column("whose", "owner", style="magenta"),) if answer.get("owners") else ()),
        words("memory", "said"),
        figure("score", places=3, style="green"),
        figure("weight", places=3),
        Column("level"),
        instant("said", "created_at"),
        Column("status", if_room=True),
    )
    rows = [
        {**r, "said": f"{r['speaker']}: {r['memory']}" if r["speaker"] else r["memory"], **standing(r, console)}
        for r in found
    ]
    tabulate(columns, rows, console)
    conflicts(found, console)
    _associated(answer.get("associated") or [], console)
    _told(answer, console)
    withheld(answer["withheld"], console)


def _associated(found: list[Associated], console: Console) -> None:
    """What the hits bring to mind, with the way there."""
    if not found:
        return
    console.print("[dim]and what they bring to mind[/]")
    way = Column("by way of", "path", _way, style="dim")
    tabulate((ident(), words("memory"), figure("activation", places=3, style="green"), way), found, console)


def _way(path: list[dict[str, str]]) -> str:
    return " -> ".join([path[0]["from"], *(f"{step['to']} ({step['link']})" for step in path)])


def _told(answer: Found, console: Console) -> None:
    """How the question was understood, how much could be compared by meaning, and how to go on."""
    for time in answer["understood"]["times"]:
        console.print(Text(f"{time['text']}: {time['from']} to {time['to']}", "dim"))
    heard = answer["understood"]
    said = (("from", heard.get("since")), ("to before", heard.get("until")))
    bounds = [f"{side} {at}" for side, at in said if at is not None]
    if bounds:
        console.print(Text(f"searched {', '.join(bounds)}", "dim"))
    if parts := heard.get("parts"):
        console.print(Text("also asked as: " + " | ".join(parts), "dim"))
    reworded(heard.get("expansion"), console)
    synonyms = dict.fromkeys(word for alike in answer["expanded"]["synonyms"].values() for word in alike)
    if synonyms:
        console.print(Text("Synonyms searched: " + ", ".join(synonyms), "dim"))
    meaning = answer["meaning"]
    if meaning is not None and "failed" in meaning:
        console.print(Text(f"matched by keyword only: {meaning['failed']}", "yellow"))
    elif meaning is not None and (embedded := meaning["embedded"] or 0) < (whole := meaning["of"] or 0):
        part = f"{whole - embedded:,} of {many(whole, 'memory', 'memories')} not embedded yet by {meaning['model']}"
        alone = answer["search_mode"] == "semantic"
        others = "are not found by meaning" if alone else "were matched by keyword only"
        console.print(Text(f"{part} and {others} (`engramlog cleanup --all --job embed`)", "yellow"))
    if answer.get("next"):
        rest = answer["total"] - answer["offset"] - len(answer["results"])
        console.print(Text(f"{rest:,} more; --limit {answer['total']}", "dim"))


def explained(answer: Found, console: Console = out) -> None:
    """Search results, and under them each one's score, part by part."""
    results(answer, console)
    for found in answer["results"]:
        whose = f"  {found['owner']}" if found.get("owner") else ""
        console.print(Text.assemble((found["id"], "bold"), f"{whose}  {found['score']:.3f}"))
        why = found["explain"]
        weights, terms = why.get("weights") or {}, why["terms"]
        top = max((abs(value) for value in why["score"].values()), default=1.0) or 1.0
        rows = [
            {
                "part": name,
                "adds": value,
                "": Text("█" * max(1, round(BAR * abs(value) / top)) if value else "", "green" if value > 0 else "red"),
                "at most": weights.get(name),
                "words": Text(", ".join(terms) if name == "text" else "", "dim"),
            }
            for name, value in sorted(why["score"].items(), key=lambda part: -abs(part[1]))
        ]
        columns = (Column("part"), figure("adds", places=3), Column(""), figure("at most", places=2), words("words"))
        tabulate(columns, rows, console)
