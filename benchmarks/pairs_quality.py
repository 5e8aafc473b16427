"""How well the rules recognise contradictions in labelled pairs: JSON Lines `{"a": known, "b": new, "label", "kind"?}`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.dataset import read_lines
from engramlog_server.events.errors import InputError
from engramlog_server.projections.language.contradiction.relation import compare

OPPOSED = frozenset(("contradict", "contradicts", "contradiction", "negated", "antonym"))
"""Labels of pairs that cannot both hold; pairs with any other label can."""
REWRITE = "rewrite"
"""Kind of pairs of which one text was made from the other; the rules compare them as such."""


class Judged(NamedTuple):
    """A pair after comparison."""

    kind: str
    opposed: bool
    """By its label."""
    found: bool
    """By the rules."""
    sure: bool
    """Whether the rules would act on it."""


def evaluate_pairs(path: Path) -> dict[str, dict[str, float]]:
    """Precision, recall, F1 and accuracy over all pairs (`all`) and by kind. Raises InputError for a line that is no pair."""
    judged = [_judge(path, number, row) for number, row in read_lines(path)]
    if not judged:
        raise InputError(f"{path}: got no pairs; allowed: at least one")
    kinds = sorted({one.kind for one in judged})
    return {"all": _figures(judged)} | {kind: _figures([one for one in judged if one.kind == kind]) for kind in kinds}


def _judge(path: Path, number: int, row: dict[str, str]) -> Judged:
    try:
        known, new, label = row["a"], row["b"], row["label"]
    except KeyError as missing:
        raise InputError(f"{path} line {number}: {missing} is missing") from missing
    kind = row.get("kind") or "without kind"
    relation = compare(new, known, rewritten=kind == REWRITE)
    found = relation.kind == "contradicts"
    return Judged(kind, label in OPPOSED, found, found and relation.sure)


def _figures(judged: Sequence[Judged]) -> dict[str, float]:
    right = sum(one.opposed and one.found for one in judged)
    found, opposed = sum(one.found for one in judged), sum(one.opposed for one in judged)
    sure = [one.opposed for one in judged if one.sure]
    ratios = {
        "precision": (right, found),
        "recall": (right, opposed),
        "f1": (2 * right, found + opposed),
        "accuracy": (sum(one.opposed == one.found for one in judged), len(judged)),
        "sure precision": (sum(sure), len(sure)),
    }
    counts: dict[str, float] = {"pairs": len(judged), "opposed": opposed, "found": found, "sure": len(sure)}
    return counts | {name: part / whole for name, (part, whole) in ratios.items() if whole}
