"""What the answers of an embeddings endpoint mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from engramlog_server.events.errors import EmbedderFailed
from engramlog_server.projections.embedding.endpoint_wire import asked_to_wait, code_in
from engramlog_server.projections.embedding.openai import BLANK, MOST_BYTES, sendable, vectors_in
from tests.rows import each_row


def answer(*rows: Any) -> bytes:
    return json.dumps({"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)]}).encode()


UNUSABLE: list[tuple[str, bytes, str]] = [
    ("not JSON", b"<html>", "no JSON object"),
    ("nothing", b"", "no JSON object"),
    ("cut JSON", answer([1])[:-4], "no JSON object"),
    ("a list", b"[]", "no JSON object"),
    ("no data", b'{"error": null}', "no JSON object"),
    ("data of texts", b'{"data": ["x"]}', "no JSON object"),
    ("data by name", b'{"data": {"a": 1}}', "no JSON object"),
    ("mixed numbers", b'{"data": [{"index": "0"}, {"index": 1}]}', "no JSON object"),
    ("NaN", b'{"data": [{"index": 0, "embedding": [NaN]}]}', "no JSON object"),
    ("too few", answer(), "0 vectors for 1 texts"),
    ("too many", answer([1], [1]), "2 vectors for 1 texts"),
    ("wrong number", b'{"data": [{"index": 4, "embedding": [1]}]}', "numbers them wrongly"),
    ("no dimensions", answer([]), "0 dimensions"),
    ("base64", answer("AACAPw=="), "0 dimensions"),
    ("null", answer([1, None]), "no finite number"),
    ("text", answer([1, "2"]), "no finite number"),
    ("lists", answer([[1], [2]]), "no finite number"),
    ("zero", answer([0, 0]), "zero"),
]


@each_row(("what", "body", "why"), UNUSABLE, ids=[row[0] for row in UNUSABLE])
def test_an_answer_that_is_not_usable_is_refused_with_the_reason(what: str, body: bytes, why: str) -> None:
    with pytest.raises(EmbedderFailed, match=why):
        vectors_in(body, 1, None)


@each_row(
    ("rows", "dimensions", "why"),
    [([[1, 2], [1, 2, 3]], None, "2, 3 dimensions"), ([[1, 2], [3, 4]], 3, "2 dimensions, not 3")],
)
def test_other_dimensions_are_refused(rows: Sequence[Sequence[int]], dimensions: int | None, why: str) -> None:
    with pytest.raises(EmbedderFailed, match=why):
        vectors_in(answer(*rows), 2, dimensions)


VECTORS = [
    ("length one", [[3, 4], [0, -2]], [[0.6, 0.8], [0, -1]]), ("very large", [[1e300, 1e300]], [[0.5**0.5, 0.5**0.5]]),
    ("very small", [[1e-300, 0]], [[1, 0]]), ("whole numbers beyond 64 bits", [[10**30, 0]], [[1, 0]]),
]  # fmt: skip


@each_row(("what", "rows", "expected"), VECTORS, ids=[row[0] for row in VECTORS])
def test_vectors_have_length_one(what: str, rows: list[list[float]], expected: list[list[float]]) -> None:
    np.testing.assert_allclose(vectors_in(answer(*rows), len(rows), 2), expected, atol=1e-6)


def test_vectors_without_numbers_are_taken_in_order() -> None:
    found = vectors_in(b'{"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]}', 2, None)
    np.testing.assert_array_equal(found, [[1, 0], [0, 1]])


SENDABLE = [
    ("as it is", "Hello, 世界 ", "Hello, 世界 "), ("empty", "", BLANK), ("white space", " \n\u3000", BLANK),
    ("long", "a" * 9_000, "a" * MOST_BYTES), ("cut between characters", "长" * 9_000, "长" * (MOST_BYTES // 3)),
    ("a lone surrogate", "a\ud800", "a?"), ("blank up to the cut", " " * MOST_BYTES + "end", BLANK),
]  # fmt: skip


@each_row(("what", "text", "sent"), SENDABLE, ids=[row[0] for row in SENDABLE])
def test_what_of_a_text_is_sent(what: str, text: str, sent: str) -> None:
    assert sendable(text) == sent


DATE = "Wed, 01 Jan 2025 00:00:02 GMT"
WAITS = [
    ({"retry-after": "7"}, 7.0), ({"retry-after": " 0.25 "}, 0.25),
    ({"retry-after": "Wed, 01 Jan 2025 00:01:02 GMT", "date": DATE}, 60.0),
    ({"retry-after": "Wed, 01 Jan 2025 00:00:00 GMT", "date": DATE}, 0.0),
    ({"retry-after": "Wed, 01 Jan 2025 00:01:02 GMT"}, None),
    ({"retry-after": "Wed, 01 Jan 2025 00:01:02 GMT", "date": "Wed, 01 Jan 2025 00:00:02 -0000"}, None),
    ({"retry-after": "soon", "date": DATE}, None), ({"retry-after": "-5"}, None),
    ({"retry-after": "Mon, 1 Jan 99999999999 00:00:00 GMT", "date": DATE}, None),
    ({"retry-after": "Mon, 1 Jan 2024 00:00:00 +99999999999999999999", "date": DATE}, None), ({}, None),
]  # fmt: skip


@each_row(("headers", "seconds"), WAITS, ids=[str(row[0]) for row in WAITS])
def test_how_long_an_answer_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_to_wait(headers) == seconds


CODES = [
    ({"error": {"code": "insufficient_quota", "type": "other"}}, "insufficient_quota"),
    ({"error": {"code": None, "type": "invalid_request_error"}}, "invalid_request_error"),
    ({"error": {"code": "a sentence with contents", "type": "server_error"}}, "server_error"),
    ({"error": {"code": "sk-secret-key", "type": "sk-secret"}}, ""), ({"error": {"code": "x" * 65}}, ""),
    ({"error": "text"}, ""), ({"error": None}, ""), ([], ""),
]  # fmt: skip


@each_row(("body", "code"), CODES, ids=[str(row[1]) + str(at) for at, row in enumerate(CODES)])
def test_what_an_error_is_called_is_told_but_no_sentence_and_no_key(body: Any, code: str) -> None:
    assert code_in(json.dumps(body).encode(), "sk-secret-key") == code
