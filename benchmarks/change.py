"""Fits the two rows of weights by which the judge rates a statement, and the mean question: `python -m benchmarks.change`.

The examples are own sentences in `data/change`, none of them from a set that is measured: `reports` report a change of the
speaker, `states` say what is so, `imagines` imagine, quote, joke, deny or speak of others. Each report is also put into two of the
`frames` ("I dreamt that {}"), chosen by its number. `updates` has pairs, a statement and a later one that ends it; `beside` has
pairs on one topic that both hold. What ends another statement is a report; all others of these pairs say what is so.
Ridge regression to 1 and -1, both sides with equal weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from engramlog_server.projections.embedding import encoders
from engramlog_server.projections.embedding.embedder import QUESTIONS
from engramlog_server.projections.embedding.encoders import WEIGHTS, MiniLM, UniversalEncoder
from engramlog_server.projections.embedding.meaning import Embedder, fixed_messages
from engramlog_server.projections.language.patterns import holds_han

EXAMPLES = Path(__file__).parent / "data" / "change"
RIDGE = 3.0


def main() -> None:
    """Fit and write the weights; those of MiniLM to the English examples."""
    reports, states, imagines, frames = map(_lines, ("reports", "states", "imagines", "frames"))
    for name, later in (("updates", reports), ("beside", states)):
        pairs = [line.split("\t") for line in _lines(name)]
        states += [old for old, _ in pairs]
        later += [new for _, new in pairs]
    framed = []
    for number, text in enumerate(reports):
        fitting = [frame for frame in frames if holds_han(frame) == holds_han(text)]
        framed += [fitting[(7 * number + step) % len(fitting)].format(text) for step in (0, 5)]
    for encoder in (UniversalEncoder(), MiniLM()):
        texts = [reports, states, [*imagines, *framed]]
        if encoder.model == encoders.MINILM_MODEL:
            texts = [[text for text in part if not holds_han(text)] for part in texts]
        rows = [fit(encoder, texts[0], texts[1]), fit(encoder, texts[2], texts[0])]
        np.save(WEIGHTS[encoder.model], np.array(rows, np.float32))
    np.save(QUESTIONS, np.mean([one.whole for one in UniversalEncoder().texts(fixed_messages())], axis=0))


def fit(encoder: Embedder, positive: Sequence[str], negative: Sequence[str]) -> np.ndarray:
    """One weight for each dimension, and a constant."""
    vectors = np.array([one.whole for one in encoder.texts([*positive, *negative])], np.float64)
    wanted = np.repeat([1.0, -1.0], [len(positive), len(negative)])
    counts = np.repeat([1.0, len(positive) / len(negative)], [len(positive), len(negative)])
    centre = vectors.mean(0)
    weighted = (vectors - centre) * counts[:, None]
    weights = np.linalg.solve(weighted.T @ (vectors - centre) + RIDGE * np.eye(len(centre)), weighted.T @ wanted)
    constant = np.average(wanted - (vectors - centre) @ weights, weights=counts)
    return np.append(weights, constant - centre @ weights)


def _lines(name: str) -> list[str]:
    return next(EXAMPLES.glob(f"{name}.*")).read_text("utf-8").splitlines()


if __name__ == "__main__":
    main()
