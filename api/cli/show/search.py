"""Search results for people: a table of hits, what they bring to mind, and what each score is made of."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from api.cli.app import out
from api.cli.show.memories import conflicts, number, place, shortened, standing, when, withheld
from api.cli.show.tables import Cell, Column, tabulate
from projections.shapes import Associated, Found

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
        Column("id", is_id=True),
        Column("memory", takes_rest=True),
        Column("score", "green", right=True),
        Column("weight", right=True),
        Column("level"),
        Column("said", "dim", is_time=True),
        Column("status", if_room=True),
    )
    rows: list[dict[str, Cell]] = [
        {
            "id": Text(r["id"]),
            "memory": shortened(f"{r['speaker']}: {r['memory']}" if r["speaker"] else r["memory"]),
            "score": number(r["score"], 3),
            "weight": number(r["weight"], 3),
            "said": when(r["created_at"], console),
            **standing(r, console),
        }
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
    columns = (
        Column("id", is_id=True),
        Column("memory", takes_rest=True),
        Column("activation", "green", right=True),
        Column("by way of", "dim"),
    )
    rows: list[dict[str, Cell]] = [
        {
            "id": Text(one["id"]),
            "memory": shortened(one["memory"]),
            "activation": number(one["activation"], 3),
            "by way of": Text(
                " -> ".join([one["path"][0]["from"], *(f"{s['to']} ({s['link']})" for s in one["path"])])
            ),
        }
        for one in found
    ]
    tabulate(columns, rows, console)


def _told(answer: Found, console: Console) -> None:
    """How the question was understood, how much could be compared by meaning, and how to go on."""
    for time in answer["understood"]["times"]:
        console.print(Text(f"{time['text']}: {time['from']} to {time['to']}", "dim"))
    heard = answer["understood"]
    said = (("from", heard.get("since")), ("to before", heard.get("until")))
    bounds = [f"{words} {instant}" for words, instant in said if instant is not None]
    if bounds:
        console.print(Text(f"searched {', '.join(bounds)}", "dim"))
    if parts := heard.get("parts"):
        console.print(Text("also asked as: " + " | ".join(parts), "dim"))
    synonyms = dict.fromkeys(word for alike in answer["expanded"]["synonyms"].values() for word in alike)
    if synonyms:
        console.print(Text("also looked for: " + ", ".join(synonyms), "dim"))
    meaning = answer["meaning"]
    if meaning is not None and "failed" in meaning:
        console.print(Text(f"compared by words only: {meaning['failed']}", "yellow"))
    elif meaning is not None and (embedded := meaning["embedded"] or 0) < (whole := meaning["of"] or 0):
        part = f"{embedded:,} of {whole:,} memories have vectors of {meaning['model']}"
        alone = answer["search_mode"] == "semantic"
        others = "are not found by meaning alone" if alone else "were compared by words only"
        console.print(Text(f"{part}; the others {others} (`engramlog cleanup --all --job embed`)", "yellow"))
    if answer.get("next"):
        rest = answer["total"] - answer["offset"] - len(answer["results"])
        console.print(Text(f"{rest:,} more; --limit {answer['total']}", "dim"))


def explained(answer: Found, console: Console = out) -> None:
    """Search results, and under them each one's score, part by part."""
    results(answer, console)
    for found in answer["results"]:
        console.print(Text.assemble((found["id"], "bold"), f"  {found['score']:.3f}"))
        why = found["explain"]
        weights, terms = why.get("weights") or {}, why["terms"]
        top = max((abs(value) for value in why["score"].values()), default=1.0) or 1.0
        rows: list[dict[str, Cell]] = [
            {
                "part": name,
                "adds": number(value, 3),
                "": Text("█" * max(1, round(BAR * abs(value) / top)) if value else "", "green" if value > 0 else "red"),
                "at most": number(weights.get(name), 2),
                "words": Text(", ".join(terms) if name == "text" else "", "dim"),
            }
            for name, value in sorted(why["score"].items(), key=lambda part: -abs(part[1]))
        ]
        columns = (
            Column("part"),
            Column("adds", right=True),
            Column(""),
            Column("at most", right=True),
            Column("words", takes_rest=True),
        )
        tabulate(columns, rows, console)
