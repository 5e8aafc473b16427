"""What is known, for people: topics, maps, associations, triples, synonyms."""

from __future__ import annotations

from rich.text import Text
from rich.tree import Tree

from api import shapes
from api.cli.app import out


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
