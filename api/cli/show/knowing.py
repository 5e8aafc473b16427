"""What is known, for people: topics, maps, associations, triples, synonyms."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from api import shapes
from api.cli.app import out
from api.cli.show.memories import part_of, unusual, withheld
from api.cli.show.tables import Column, figure, ident, instant, number, shortened, tabulate, words

COLOURS = {"high": "green", "medium": "yellow", "low": "red", "very_low": "red", "none": "red"}
SHOWN_EVIDENCE = 2
"""Memories shown with a triple in a table."""


def assessed(answer: shapes.Assessment, console: Console = out) -> None:
    """How sure we are about a topic."""
    level = answer["confidence"]
    console.print(
        Text.assemble(
            (level.replace("_", " "), f"bold {COLOURS[level]}"), f" {answer['score']:.3f}  ", answer["message"]
        )
    )
    for suggestion in answer["suggestions"]:
        console.print(Text(f"  - {suggestion}"))
    stats = answer["stats"]
    if not answer["evidence"]:
        return
    console.print(
        f"[dim]{_several(stats['memories'], 'memory', 'memories')}: confidence {stats['mean_confidence']:.2f} x 0.35"
        f" + coverage {stats['coverage']:.2f} x 0.25 + recency {stats['mean_recency']:.2f} x 0.20"
        f" + consolidation {stats['mean_consolidation']:.2f} x 0.20[/]"
    )
    columns = (
        ident(),
        words("evidence", "snippet"),
        figure("confidence", places=2),
        figure("relevance", places=3, style="green"),
    )
    tabulate(columns, answer["evidence"], console)


def _several(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def mapped(answer: shapes.KnowledgeMap, path: Path | None, remarks: list[str]) -> None:
    """A map of a topic, or of everything, by cluster."""
    nodes = {node["id"]: node for node in answer["nodes"]}
    if nodes:
        _clustered(answer, nodes)
    else:
        out.print(
            f"[yellow]Nothing is {'shown' if answer['withheld'] else 'known'}{' about that' if answer['topic'] else ' yet'}[/]"
        )
    withheld(answer["withheld"])
    for remark in remarks:
        out.print(Text(remark, "yellow"))
    if path is not None:
        out.print(Text(f"written to {path}", "dim"))


def _clustered(answer: shapes.KnowledgeMap, nodes: dict[str, shapes.Node]) -> None:
    edges = answer["edges"]
    more = ", and there is more (--limit)" if answer["truncated"] else ""
    counts = (
        _several(len(nodes), "memory", "memories"),
        _several(len(edges), "link", "links"),
        _several(len(answer["clusters"]), "cluster", "clusters"),
    )
    weaker = f"; {answer['weaker']:,} weaker ones were not followed (--least 0.2)" if answer["weaker"] else ""
    out.print(f"[dim]{', '.join(counts)}{more}{weaker}[/]")
    for cluster in answer["clusters"]:
        name = Text.assemble(("cluster ", "dim"), (", ".join(cluster["words"]) or cluster["label"], "bold"))
        _circle(name, [nodes[member] for member in cluster["members"]])
    if alone := [node for node in nodes.values() if node["cluster"] is None]:
        _circle(Text("by themselves", "dim"), alone)


def _circle(name: Text, members: list[shapes.Node]) -> None:
    tree = Tree(name)
    for node in members:
        mark = "●" if node["is_center"] else "○"
        tree.add(
            Text.assemble(f"{mark} ", (node["id"], "cyan"), f" {node['label']} ", (f"{node['weight']:.2f}", "green"))
        )
    out.print(tree)


def associated(answer: shapes.AssociationTree) -> None:
    """What a memory is associated with, as a tree."""
    tree = Tree(Text.assemble((answer["id"], "bold cyan"), " ", answer["memory"]))
    _branches(tree, answer["associations"])
    out.print(tree)
    if not answer["associations"]:
        out.print("[dim]no associations in this mode[/]")
    for triple in answer["triples"]:
        no = "not " if triple["negation"] else ""
        out.print(Text(f"backs: {triple['subject']} {no}{triple['predicate']} {triple['object']}", "dim"))


def _branches(tree: Tree, links: list[shapes.Branch]) -> None:
    for link in links:
        boost = f" + {link['boost']:.2f}" if link["boost"] else ""
        told = (f" {link['link']} {link['weight']:.2f} ({link['base']:.2f}{boost})", "green")
        _branches(tree.add(Text.assemble((link["id"], "cyan"), told, f"  {link['memory']}")), link["associations"])


def facts(answer: shapes.FactsKnown, console: Console = out) -> None:
    """A page of triples with their newest evidence."""
    found, total = answer["facts"], answer["total"]
    about = f" about {answer['about']}" if answer["about"] is not None else ""
    of_all = f" of {answer['known']:,}" if about else ""
    part = part_of(answer["offset"], len(found), total)
    head = f"{part}{total:,} fact{'' if total == 1 else 's'}{about}{of_all}, position {answer['position']}"
    console.print(Text(head, "dim" if found else "yellow"))
    if not found:
        return
    columns = (
        Column("subject"),
        Column("predicate"),
        Column("object"),
        figure("degree", places=2),
        Column("condition", if_room=True),
        instant("asserted", "asserted_at"),
        words("evidence"),
    )
    rows = [
        {
            **one,
            "predicate": f"{'not ' if one['negation'] else ''}{one['predicate']}",
            "condition": one["condition"] or None,
            "evidence": _evidence(one),
        }
        for one in found
    ]
    tabulate(columns, rows, console)


def _evidence(fact: shapes.Fact) -> Text:
    """The newest memories behind a triple, and how many more there are."""
    told = Text()
    for one in fact["evidence"][:SHOWN_EVIDENCE]:
        told_of = unusual(one["status"], one["trust"])
        status = f" ({', '.join(told_of)})" if told_of else ""
        told.append(one["id"], "cyan").append(f"{status}: ").append(shortened(one["memory"])).append("\n")
    if (more := len(fact["backing"]) - SHOWN_EVIDENCE) > 0:
        told.append(f"and {more:,} more\n", "dim")
    told.right_crop(1)
    return told


def defined(answer: shapes.SynonymSaid, console: Console = out) -> None:
    """What became of a pair of synonyms."""
    for change in answer["changes"]:
        style = "yellow" if change["decision"] == "ignored" else ""
        console.print(Text(f"{answer['word']}, {answer['synonym']}: {change['reason']}", style))
    console.print(Text(f"position {answer['position']}", "dim"))


def _similarity(value: float | None) -> str | Text:
    return number(value, 2) if value else Text("no synonym", "yellow")


def synonyms(answer: shapes.SynonymsKnown, console: Console = out) -> None:
    """An owner's synonyms, and what a word is looked for by."""
    total, pairs = answer["total"], [*answer["synonyms"], *answer["silenced"]]
    head = f"{total:,} pair{'' if total == 1 else 's'} of at most {answer['most']}, position {answer['position']}"
    console.print(Text(head, "dim" if total else "yellow"))
    if pairs:
        tabulate((Column("word"), Column("synonym"), figure("similarity", show=_similarity)), pairs, console)
    if (expansion := answer["expansion"]) is not None:
        for name, found in (("synonyms", expansion["synonyms"]), ("related", expansion["related"])):
            told = ", ".join(f"{word} {alike:g}" for word, alike in found.items()) or "none"
            console.print(Text.assemble((f"{name} of {answer['of']}: ", "dim"), told))
