"""Pages printed as one JSON document, as they come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from engramlog_server.api.cli.app import print_pages
from engramlog_server.events.errors import InputError


def printed(capsysbinary: pytest.CaptureFixture[bytes], *pages: dict[str, Any]) -> Any:
    """What is read from what was printed."""
    print_pages(iter(pages), "changes")
    return json.loads(capsysbinary.readouterr().out)


def test_pages_make_one_document_with_what_the_last_of_them_tells(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    first = {"owner": "ada", "changes": [{"reason": "咖啡"}, {"n": [1, 2]}], "next": "abc", "position": "0:2"}
    last = {"owner": "ada", "changes": [{"reason": 'a "b"\n'}], "next": None, "position": "0:3"}
    assert printed(capsysbinary, first, last) == {
        "owner": "ada",
        "changes": [{"reason": "咖啡"}, {"n": [1, 2]}, {"reason": 'a "b"\n'}],
        "next": None,
        "position": "0:3",
    }


@pytest.mark.parametrize("pages", [[[]], [[], []], [[], [1]], [[1], []]])
def test_empty_pages_make_a_document_too(capsysbinary: pytest.CaptureFixture[bytes], pages: list[list[int]]) -> None:
    told = printed(capsysbinary, *({"changes": page, "next": None} for page in pages))
    assert told == {"changes": [one for page in pages for one in page], "next": None}


def test_what_cannot_be_asked_prints_nothing(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    def refused() -> Iterator[dict[str, Any]]:
        raise InputError("limit: got 0")
        yield {}

    with pytest.raises(InputError):
        print_pages(refused(), "changes")
    assert capsysbinary.readouterr().out == b""
