"""What is sent to an OpenAI-compatible embeddings endpoint, and what its answers mean. Pure.

    POST {base}/embeddings  {"model": ..., "input": [texts], "encoding_format": "float"}
    200  {"data": [{"index": 0, "embedding": [numbers]}, ...], ...}

No error text holds what was sent or received: these are memories and, in some endpoints' answers, parts of the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np
import orjson

from engramlog_server.events.errors import EmbedderFailed
from engramlog_server.projections.embedding.meaning import Vectors

MOST_INPUTS = 128
"""Texts of one request; the strictest of the common endpoints take no more."""
MOST_BYTES_AT_ONCE = 100_000
"""Bytes of text of one request, UTF-8."""
MOST_BYTES = 8_000
"""Bytes of a text that are sent, UTF-8. No token is shorter than a byte, so they fit a bound of 8,191 tokens."""
BLANK = "."
"""Sent in place of a text of white space alone, which endpoints refuse."""


def sendable(text: str) -> str:
    """The beginning of a text that is sent, never blank."""
    cut = text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
    return cut if cut.strip() else BLANK


def requests_of(model: str, texts: Sequence[str]) -> Iterator[tuple[int, bytes]]:
    """(how many texts, request body), in the order of the texts, which were made sendable."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == MOST_INPUTS or size + length > MOST_BYTES_AT_ONCE):
            yield len(batch), _body(model, batch)
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield len(batch), _body(model, batch)


def _body(model: str, texts: Sequence[str]) -> bytes:
    return orjson.dumps({"model": model, "input": texts, "encoding_format": "float"})


def vectors_in(answer: bytes, count: int, dimensions: int | None) -> Vectors:
    """The vectors of an answer to `count` texts, of length 1, shape (count, dimensions).

    Raises EmbedderFailed where it is no such answer: not JSON, too few or too many, of other dimensions, not finite, all zero.
    """
    try:
        data = orjson.loads(answer)["data"]
        ordered = sorted(enumerate(data), key=lambda pair: pair[1].get("index", pair[0]))
        places = [item.get("index", at) for at, item in ordered]
        rows = [item["embedding"] for _, item in ordered]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _no_vectors("it is no JSON object with a list of embeddings in data") from None
    if places != list(range(count)):
        raise _no_vectors(f"it holds {len(rows)} vectors for {count} texts, or numbers them wrongly")
    widths = {len(row) if isinstance(row, list) else 0 for row in rows}
    if len(widths) != 1 or 0 in widths or not widths <= {dimensions or max(widths)}:
        expected = f"not {dimensions}" if dimensions else "of which all must be equal and none 0"
        raise _no_vectors(f"its vectors have {', '.join(map(str, sorted(widths)))} dimensions, {expected}")
    return _units(rows)


def _units(rows: list[list[Any]]) -> Vectors:
    if not all(isinstance(value, int | float) and isfinite(value) for row in rows for value in row):
        raise _no_vectors("a component is no finite number")
    wide = np.array(rows, np.float64)
    largest = np.abs(wide).max(axis=1, keepdims=True)
    if not largest.all():
        raise _no_vectors("a vector is zero")
    wide /= largest  # so that squares of very large or small components stay finite
    units: Vectors = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32)
    return units


def _no_vectors(why: str) -> EmbedderFailed:
    return EmbedderFailed(f"the embeddings endpoint gave an answer that is not usable: {why}", down=False)
