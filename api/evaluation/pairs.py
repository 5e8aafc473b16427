"""Measuring contradiction on pairs of statements whose relation is known: JSON Lines `{"id", "a", "b", "label"}`.

`a` is the known statement, `b` the new one; `kind` sorts pairs into parts, `group` says which belong together (one
conversation). Halves are cut by a hash of the group, else of the id, so that one can develop on the first and measure on the
second. No store is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from api.choices import HALVES
from api.evaluation.lines import object_on
from events.errors import refused
from projections.language.contradiction.relation import Relation, compare

OPPOSED = frozenset(("contradict", "contradicts", "contradiction", "negated", "antonym"))
"""Labels that mean: these two cannot both hold. Any other label means that they can."""
UNSORTED = "without kind"
REWRITE = "rewrite"
"""Kind of pairs of which one text was made of the other, not said freely: rules compare them as such."""
RULES = "rules"
"""What judges where no model is asked."""
MEASURED = ("precision", "recall", "f1", "accuracy", "sure_precision")
Judge = Callable[[str, str], Relation]
"""The relation of a new statement to a known one: `compare`, or whatever is to be measured by its side."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A known statement, a new one, and what somebody says of them."""

    id: str
    known: str
    new: str
    label: str
    kind: str
    group: str

    @property
    def opposed(self) -> bool:
        """Whether the label says that they contradict each other."""
        return self.label in OPPOSED

    @property
    def half(self) -> str:
        """The half it falls into, whatever else the file holds."""
        return HALVES[1 + sha256(self.group.encode("utf-8", "surrogatepass")).digest()[0] % 2]


def read_pairs(path: Path, half: str = "all") -> list[LabelledPair]:
    """The pairs of a file, or of one half of it, in order. Raises InputError naming the line."""
    if half not in HALVES:
        raise refused("half", half, ", ".join(HALVES))
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise refused("pairs", str(path), f"a file of JSON Lines ({error.strerror})") from None
    pairs = (_pair(line, number) for number, line in enumerate(lines, 1) if line.strip())
    found = [pair for pair in pairs if half in ("all", pair.half)]
    if not found:
        raise refused(
            "pairs", str(path), "a file with at least one pair" + ("" if half == "all" else f" in the {half} half")
        )
    return found


def _pair(line: bytes, number: int) -> LabelledPair:
    document = object_on(line, f"line {number}")
    for name in ("a", "b", "label"):
        if not isinstance(document.get(name), str) or not document[name].strip():
            raise refused(f"line {number}, {name}", document.get(name), "a text")
    pair_id = str(document.get("id", number))
    kind, group = (str(document.get(name) or other) for name, other in (("kind", UNSORTED), ("group", pair_id)))
    return LabelledPair(pair_id, document["a"], document["b"], document["label"], kind, group)


def evaluate_pairs(
    pairs: Sequence[LabelledPair], on_progress: Progress = lambda _done, _total: None, judge: Judge | None = None
) -> dict[str, Any]:
    """Precision, recall, F1 and accuracy of telling contradiction, over all pairs and by kind; and what each label became.

    `sure` counts the contradictions that may be acted upon; `sure_precision` is the share of them that are labelled so.
    `judge`: None for the rules. A share of nothing is left out.
    """
    outcomes: list[tuple[LabelledPair, Relation]] = []
    for number, pair in enumerate(pairs, 1):
        told = _by_rules(pair) if judge is None else judge(pair.new, pair.known)
        outcomes.append((pair, told))
        on_progress(number, len(pairs))
    return told_of(outcomes)


def _by_rules(pair: LabelledPair) -> Relation:
    return compare(pair.new, pair.known, rewritten=pair.kind == REWRITE)


def told_of(outcomes: Sequence[tuple[LabelledPair, Relation]]) -> dict[str, Any]:
    """The figures of pairs whose relation was told, whoever told it: over all, by kind, and what each label became."""
    kinds = sorted({pair.kind for pair, _ in outcomes})
    labels: dict[str, Counter[str]] = {label: Counter() for label in sorted({pair.label for pair, _ in outcomes})}
    for pair, relation in outcomes:
        labels[pair.label][relation.kind] += 1
    return {
        "pairs": len(outcomes),
        "all": measured(outcomes),
        "categories": {kind: measured([one for one in outcomes if one[0].kind == kind]) for kind in kinds},
        "labels": {label: dict(sorted(found.items())) for label, found in labels.items()},
    }


def measured(outcomes: Sequence[tuple[LabelledPair, Relation]]) -> dict[str, float]:
    """The figures of one part, shares rounded to 4 decimals."""
    told = [(pair.opposed, relation.kind == "contradicts", relation.sure) for pair, relation in outcomes]
    right = sum(opposed and found for opposed, found, _ in told)
    found, opposed = sum(found for _, found, _ in told), sum(opposed for opposed, _, _ in told)
    sure = [opposed for opposed, found, sure in told if found and sure]
    figures: dict[str, float] = {"pairs": len(told), "opposed": opposed, "found": found, "sure": len(sure)}
    return figures | {
        name: round(part / whole, 4) for name, part, whole in _shares(right, found, opposed, told, sure) if whole
    }


def _shares(
    right: int, found: int, opposed: int, told: Sequence[tuple[bool, bool, bool]], sure: Sequence[bool]
) -> Iterator[tuple[str, int, int]]:
    yield "precision", right, found
    yield "recall", right, opposed
    yield "f1", 2 * right, found + opposed
    yield "accuracy", sum(label == answer for label, answer, _ in told), len(told)
    yield "sure_precision", sum(sure), len(sure)


def rises(answer: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """How much each share rose since a saved evaluation, over all and by kind; what only one has is left out."""
    then = before["categories"]
    return {
        "all": _rises(answer["all"], before["all"]),
        "categories": {kind: _rises(now, then[kind]) for kind, now in answer["categories"].items() if kind in then},
    }


def _rises(now: dict[str, float], then: dict[str, float]) -> dict[str, float]:
    return {name: round(now[name] - then[name], 4) for name in MEASURED if name in now and name in then}
