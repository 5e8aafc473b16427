"""Shapes of reports about what memories rest on."""

from __future__ import annotations

from pydantic import Field

from api.operations.answers.log import EXAMPLE_CHANGE, Change, Placed, exampled


class GroundReported(Placed):
    """What a report of a digest did."""

    model_config = exampled(
        {
            "owner": "alice",
            "uri": "https://wiki.example.org/flats",
            "digest": "sha256:9f86d081884c7d65",
            "withheld": ["flat"],
            "back": [],
            "left": 0,
            "newer": 0,
            "position": "3:131",
            "behind": 0,
            "changes": [
                EXAMPLE_CHANGE
                | {
                    "event": "GroundChanged",
                    "memory": "flat",
                    "decision": "ground",
                    "reason": "what it rests on has changed",
                    "fields": ["basis"],
                }
            ],
        }
    )

    owner: str
    uri: str
    digest: str
    withheld: list[str] = Field(
        description="Memories that rest on another digest: normal mode withholds them from here on."
    )
    back: list[str] = Field(description="Memories that rest on this one and were withheld for another.")
    left: int = Field(description="How many more there are: report again.")
    newer: int = Field(description="Of how many something newer is known already: the report changes nothing of them.")
    changes: list[Change]
