"""How near texts are in meaning, by the bilingual model: what a judge asks of the few statements that may be meant."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock

from events.errors import BadSetting, EmbedderFailed
from projections.embedding.meaning import Embedder, Vectors

MOST_KEPT = 4_096
"""Vectors that are kept, of the texts asked for last: 8 MB."""


class Likeness:
    """An `Alike` with a memory for vectors. The model is made at first use. Safe for threads."""

    def __init__(self, embedder: Callable[[], Embedder]) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()
        self._lacks = False

    def __call__(self, text: str, others: Sequence[str]) -> list[float] | None:
        """Cosine of a text to each of the others; None if this process lacks the model or it fails."""
        wanted = dict.fromkeys((text, *others))
        with self._lock:
            found = {one: self._kept[one] for one in wanted if one in self._kept}
        missing = [one for one in wanted if one not in found]
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
            found |= {one: vectors.whole for one, vectors in zip(missing, made, strict=True)}
        with self._lock:
            for one in wanted:
                self._kept[one] = found[one]
                self._kept.move_to_end(one)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return [float(found[text] @ found[one]) for one in others]
