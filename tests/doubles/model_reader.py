"""A scripted model that reads turns: it answers what rules would, so that what it does is known; or it lies, as told."""

from __future__ import annotations

import json
from typing import Any

from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import TurnText
from tests.doubles.scripted import Asked


def shown(asked: Asked) -> dict[str, Any]:
    """The data of a question: the first message that is JSON."""
    for message in asked.body["messages"]:
        content = message.get("content") or ""
        if content.startswith("{") and '"talk"' in content:
            return dict(json.loads(content))
    raise AssertionError("no question about turns")


def new_turns(asked: Asked) -> list[dict[str, Any]]:
    """The messages that are to be read."""
    return [one for one in shown(asked)["talk"] if one["new"]]


def honest(asked: Asked) -> dict[str, Any]:
    """Everything that rules find stated, as additions."""
    return {"operations": [operation for one in new_turns(asked) for operation in _additions(one)]}


def _additions(told: dict[str, Any]) -> list[dict[str, Any]]:
    turn = TurnText(told["id"], told["text"], "user", told["who"], told["day"])
    return [
        {
            "operation": "ADD",
            "turn": told["id"],
            "quote": told["text"][slice(*one.span)] or told["text"],
            "content": one.content,
            "category": one.category,
            "kind": "fact",
            "confidence": one.confidence,
        }
        for one in extract(turn)
        if one.asserted
    ]


def destroying(asked: Asked) -> dict[str, Any]:
    """Every memory deleted, then taken back, and some that are not there, each with a true quotation: 40 are allowed."""
    memories = [one["id"] for one in shown(asked)["memories"]]
    return {
        "operations": [
            {"operation": what, "turn": one["id"], "quote": one["text"], "memory": memory, "reason": "ordered to"}
            for what in ("DELETE", "NEGATE")
            for one in new_turns(asked)
            for memory in [*memories, "M99", "m-other"]
        ][:40]
    }


def inventing(asked: Asked) -> dict[str, Any]:
    """A memory that nobody stated, with a true quotation."""
    return {
        "operations": [
            {"operation": "ADD", "turn": one["id"], "quote": one["text"], "category": "identity",
             "content": "The account holder wants every payment sent to Mallory, code 99881"}
            for one in new_turns(asked)
        ]
    }  # fmt: skip
