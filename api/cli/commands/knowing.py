"""Commands about what is known: assess, map, associations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from api.cli.app import AsOfOption, AtOption, Json, KnownOption, MemoryId, Owner, app, opened, out, show
from api.cli.commands.reading import ModeOption
from api.cli.show.memories import number, shortened, withheld
from api.cli.show.tables import Cell, Column, tabulate
from projections.choices import LEAST_WEIGHT, MOST_NODES

COLOURS = {"high": "green", "medium": "yellow", "low": "red", "very_low": "red", "none": "red"}
Topic = Annotated[str, typer.Argument(help="A topic, in any language.", show_default=False)]


@app.command(epilog='Example: `engramlog assess alice "the deployment"`')
def assess(
    context: typer.Context,
    owner: Owner,
    topic: Topic,
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    json: Json = False,
) -> None:
    """How sure are we about a topic? A score, advice, the best evidence, and the numbers behind it."""
    with opened(context) as application:
        answer = application.knower.assess(owner, topic, as_of=as_of, known=known, at=at)
    show(answer, json, _assessed)


def _assessed(answer: dict[str, Any], console: Console = out) -> None:
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
        Column("id", is_id=True),
        Column("evidence", takes_rest=True),
        Column("confidence", right=True),
        Column("relevance", "green", right=True),
    )
    rows: list[dict[str, Cell]] = [
        {
            "id": Text(one["id"]),
            "evidence": shortened(one["snippet"]),
            "confidence": number(one["confidence"], 2),
            "relevance": number(one["relevance"], 3),
        }
        for one in answer["evidence"]
    ]
    tabulate(columns, rows, console)


def _several(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


@app.command("map", epilog="Example: `engramlog map alice coffee --out coffee.svg`")
def map_(
    context: typer.Context,
    owner: Owner,
    topic: Topic,
    out_: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Also write it: .json, .graphml, .dot or .gv; .png or .svg as a picture.", show_default=False
        ),
    ] = None,
    depth: Annotated[int, typer.Option(help="Steps over associations, 1 to 4.")] = 2,
    least: Annotated[float, typer.Option(help="Associations weaker than this are not followed.")] = LEAST_WEIGHT,
    limit: Annotated[int, typer.Option(help="Nodes at the most.")] = MOST_NODES,
    mode: ModeOption = "normal",
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    json: Json = False,
) -> None:
    """A map of what is known about a topic: the best hits, their associations, and how they cluster."""
    from api.pictures.graph_files import write_graph

    with opened(context) as application:
        answer = application.knower.map(
            owner, topic, depth=depth, least=least, limit=limit, mode=mode, as_of=as_of, known=known, at=at
        )
    remarks = write_graph(answer, out_) if out_ is not None else []
    show(answer, json, lambda told: _mapped(told, out_, remarks))


def _mapped(answer: dict[str, Any], path: Path | None, remarks: list[str]) -> None:
    nodes = {node["id"]: node for node in answer["nodes"]}
    if nodes:
        _clustered(answer, nodes)
    else:
        out.print(
            "[yellow]Nothing is shown about that[/]" if answer["withheld"] else "[yellow]Nothing is known about that[/]"
        )
    withheld(answer)
    for remark in remarks:
        out.print(Text(remark, "yellow"))
    if path is not None:
        out.print(Text(f"written to {path}", "dim"))


def _clustered(answer: dict[str, Any], nodes: dict[str, dict[str, Any]]) -> None:
    edges = answer["edges"]
    more = ", and there is more (--limit)" if answer["truncated"] else ""
    counts = (
        _several(len(nodes), "memory", "memories"),
        _several(len(edges), "association", "associations"),
        _several(len(answer["clusters"]), "cluster", "clusters"),
    )
    weaker = f"; {answer['weaker']:,} weaker ones were not followed (--least 0.2)" if answer["weaker"] else ""
    out.print(f"[dim]{', '.join(counts)}{more}{weaker}[/]")
    for cluster in answer["clusters"]:
        tree = Tree(Text.assemble(("cluster ", "dim"), (", ".join(cluster["words"]) or cluster["label"], "bold")))
        for member in cluster["members"]:
            node = nodes[member]
            mark = "●" if node["is_center"] else "○"
            tree.add(
                Text.assemble(f"{mark} ", (member, "cyan"), f" {node['label']} ", (f"{node['weight']:.2f}", "green"))
            )
        out.print(tree)


@app.command(epilog="Example: `engramlog associations alice coffee --depth 2`")
def associations(
    context: typer.Context,
    owner: Owner,
    memory_id: MemoryId,
    depth: Annotated[int, typer.Option(help="Steps, 1 to 4.")] = 1,
    mode: ModeOption = "review",
    as_of: AsOfOption = None,
    known: KnownOption = None,
    at: AtOption = None,
    json: Json = False,
) -> None:
    """What a memory is associated with, as a tree: by keywords, task, time, what was told, and being recalled together."""
    with opened(context) as application:
        answer = application.knower.associations(
            owner, memory_id, depth=depth, mode=mode, as_of=as_of, known=known, at=at
        )
    show(answer, json, _associated)


def _associated(answer: dict[str, Any]) -> None:
    tree = Tree(Text.assemble((answer["id"], "bold cyan"), " ", answer["memory"]))
    _branches(tree, answer["associations"])
    out.print(tree)
    if not answer["associations"]:
        out.print("[dim]no associations in this mode[/]")
    for triple in answer["triples"]:
        no = "not " if triple["negation"] else ""
        out.print(Text(f"backs: {triple['subject']} {no}{triple['predicate']} {triple['object']}", "dim"))


def _branches(tree: Tree, links: list[dict[str, Any]]) -> None:
    for link in links:
        boost = f" + {link['boost']:.2f}" if link["boost"] else ""
        told = (f" {link['link']} {link['weight']:.2f} ({link['base']:.2f}{boost})", "green")
        _branches(tree.add(Text.assemble((link["id"], "cyan"), told, f"  {link['memory']}")), link["associations"])
