"""Shapes of what proves a log: the heads of its chains, and how the log meets heads that somebody holds."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from api.operations.answers.log import Example, LinesTold, Placed, exampled

_CHAIN = "5f0c" * 16
_KEPT: Example = {"seq": 128, "chain": _CHAIN, "at": "2026-11-22T09:20:00Z", "line": 7}
_HEAD: Example = {
    "partition": 3,
    "seq": 131,
    "chain": _CHAIN,
    "at": "2026-11-22T09:30:00Z",
    "appended": 131,
    "kept": _KEPT,
}
_COUNTS: Example = {"agreed": 1, "differing": 1, "missing": 0, "unread": 0}
EXAMPLE_CHECKED: Example = {
    "store_id": "6d0f3b1c-2f7e-4a52-9a3e-0d8c3c8b7f11",
    "agrees": False,
    "complete": True,
    "lines": 2,
    "heads": 2,
    **_COUNTS,
    "partitions": [
        {
            "partition": 3,
            "state": "differs",
            "heads": 2,
            **_COUNTS,
            "last_agreed": 120,
            "read_to": 131,
            "appended": 140,
            "behind": 9,
        }
    ],
    "unmet": [
        {
            "position": "3:131",
            "partition": 3,
            "seq": 131,
            "state": "differs",
            "line": 2,
            "kept": _CHAIN,
            "found": "a71e" * 16,
        }
    ],
    "problems": [],
    "other_stores": [],
    "accepted": [],
    "uncovered": [5, 9],
    "events_read": 131,
    "most": 200_000,
}
HeadState = Literal["agrees", "differs", "missing", "unread"]


class HeadKept(BaseModel):
    """A head as it was written down outside of the store."""

    seq: int
    chain: str
    at: str = Field(description="When it was written down, by the clock of the machine that did.")
    line: int = Field(description="Number of its line in the file.")


class ChainHead(BaseModel):
    """Where a partition's chain stands."""

    partition: int
    seq: int
    chain: str = Field(description="SHA-256 over all stored events up to this seq, 64 hexadecimal digits.")
    at: str | None = Field(description="When the log took in the event at this seq.")
    appended: int = Field(description="The newest seq of the log; what lies between is not folded yet.")
    kept: HeadKept | None = Field(description="The farthest head that this server's file keeps of the partition.")


class LogAccepted(BaseModel):
    """Somebody accepted that the log is another than was written down."""

    partition: int
    seq: int
    at: str
    reason: str


class HeadsKeeping(BaseModel):
    """The file in which this server keeps heads."""

    lines: int
    last: str | None = Field(description="When the last line was written.")
    problems: list[str] = Field(description="Where the file contradicts itself; at most ten.")
    accepted: list[LogAccepted] = Field(description="Changes of the log that somebody accepted; the last hundred.")


class ChainHeads(BaseModel):
    """The heads of the log's chains."""

    model_config = exampled(
        {
            "store_id": "6d0f3b1c-2f7e-4a52-9a3e-0d8c3c8b7f11",
            "at": "2026-11-22T09:30:02Z",
            "partitions": 16,
            "heads": [_HEAD],
            "line": '{"n":1,"at":"2026-11-22T09:30:02Z","store":"6d0f…","heads":[[3,131,"5f0c…"]],"before":"0000…"}',
            "keeping": {"lines": 7, "last": "2026-11-22T09:20:00Z", "problems": [], "accepted": []},
        }
    )

    store_id: str
    at: str = Field(description="Redis's clock when they were read.")
    partitions: int = Field(description="Of the store, those without an event too.")
    heads: list[ChainHead] = Field(description="Of partitions with events, in their order.")
    line: str = Field(
        description="The same as a line of a file of kept heads: keep it elsewhere, and compare it later."
    )
    keeping: HeadsKeeping | None = Field(description="Null where this process keeps no file.")


class PartitionCompared(BaseModel):
    """How one partition's log meets the heads that were told of it."""

    partition: int
    state: HeadState = Field(
        description="`agrees`; `differs`: another chain; `missing`: the log ends before, or has a hole; `unread`: it agrees as far"
        " as was read, and that was not all."
    )
    heads: int
    agreed: int
    differing: int
    missing: int
    unread: int
    last_agreed: int | None = Field(description="The farthest seq at which the chain is the one that was told.")
    read_to: int = Field(description="The chain was computed from the first event up to this one.")
    appended: int = Field(description="The newest seq of the log.")
    behind: int = Field(description="Events after the farthest head that was told: no head told proves them.")


class HeadUnmet(BaseModel):
    """A head that the log does not meet, or that was not reached."""

    position: str
    partition: int
    seq: int
    state: HeadState
    line: int = Field(description="Of the text, or of the file that it was cut from.")
    kept: str
    found: str | None = Field(description="The log's chain there; null where it has no such event, or was not read.")


class HeadsCompared(BaseModel):
    """How the log meets heads that somebody holds."""

    model_config = exampled(EXAMPLE_CHECKED)

    store_id: str
    agrees: bool = Field(
        description="Every head was reached and is met, the text does not contradict itself and is about this store alone."
    )
    complete: bool = Field(description="Every head was reached before `most` events were read.")
    lines: int
    heads: int = Field(description="Heads that were compared; those before an acceptance are not.")
    agreed: int
    differing: int
    missing: int
    unread: int
    partitions: list[PartitionCompared]
    unmet: list[HeadUnmet] = Field(description="The first hundred, by place.")
    problems: list[str] = Field(description="Where the text contradicts itself; at most ten.")
    other_stores: list[str] = Field(description="Stores that the text is about, and that are not this one.")
    accepted: list[LogAccepted] = Field(description="Acceptances that the text tells; the last hundred.")
    uncovered: list[int] = Field(description="Partitions with events of which the text tells no head.")
    events_read: int
    most: int


class OwnerHead(LinesTold, Placed):
    """The head of an owner's chain, and whether it is the one that was told."""

    model_config = exampled(
        {
            "owner": "alice",
            "chain": _CHAIN,
            "asked": _CHAIN,
            "agrees": True,
            "as_of": None,
            "known": None,
            "position": "3:131",
            "behind": 0,
        }
    )

    owner: str
    chain: str = Field(description="Over the owner's change log, numbers of laws left out: 64 hexadecimal digits.")
    asked: str | None
    agrees: bool | None = Field(description="Null where no chain was told.")
