"""How the bilingual model rates a statement: what the judge asks about the few statements that may be meant."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding import minilm, use
from engramlog_server.projections.embedding.meaning import Embedder, Vectors
from engramlog_server.projections.language.contradiction.change import Rating
from engramlog_server.projections.language.text import holds_texts

MOST_KEPT = 4_096
"""Vectors that are kept, of the texts asked for last: 8 MB."""
WEIGHTS = {
    use.MODEL: Path(__file__).with_name("change_weights_use.npy"),
    minilm.MODEL: Path(__file__).with_name("change_weights_minilm.npy"),
}
"""By model two rows, `reports` and `imagines`: weights and a constant each, fitted by `python -m benchmarks.change`."""


@cache
def _weights(model: str) -> Vectors:
    return np.asarray(np.load(WEIGHTS[model]), np.float32)


def ratings(vectors: Vectors, model: str = use.MODEL) -> Vectors | None:
    """`reports` and `imagines` of statements by their whole vectors: shape (n, d) to (n, 2). None for other models."""
    weights = _weights(model) if model in WEIGHTS else None
    if weights is None or weights.shape[1] != vectors.shape[1] + 1:
        return None
    rated: Vectors = vectors @ weights[:, :-1].T + weights[:, -1]
    return rated


class Likeness:
    """An `Alike` with a memory for vectors. The model is made at first use. Safe for threads."""

    def __init__(self, embedder: Callable[[], Embedder], rate: Callable[[Vectors], Vectors | None] = ratings) -> None:
        self._embedder = embedder
        self._rate = rate
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()
        self._lacks = False
        holds_texts(self)

    def forget(self) -> None:
        """Keep no vector any more."""
        with self._lock:
            self._kept.clear()

    def __call__(self, text: str, others: Sequence[str]) -> Rating | None:
        """The rating of a text beside others; None if this process lacks the model or it fails."""
        wanted = dict.fromkeys((text, *others))
        with self._lock:
            vectors = {one: self._kept[one] for one in wanted if one in self._kept}
        missing = [one for one in wanted if one not in vectors]
        if missing:
            if self._lacks:
                return None
            try:
                made = self._embedder().texts(missing)
            except BadSetting:
                self._lacks = True
                return None
            except EmbedderFailed:
                return None
            vectors |= {one: embedded.whole for one, embedded in zip(missing, made, strict=True)}
        with self._lock:
            for one in wanted:
                self._kept[one] = vectors[one]
                self._kept.move_to_end(one)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        rated = self._rate(vectors[text][None])
        if rated is None:
            return None  # another model stands under the bilingual one's name
        reports, imagines = rated[0]
        return Rating(float(reports), float(imagines), [float(vectors[text] @ vectors[one]) for one in others])
