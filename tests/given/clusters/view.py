"""What a node of a cluster knows of all of them: the answer to CLUSTER NODES."""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """One node, as another one or itself has it."""

    node_id: str
    port: int
    flags: frozenset[str]
    """Such as `myself`, `master`, `slave`, `fail`, `fail?`, `handshake`."""
    primary_id: str
    """Of a replica; "" of a primary."""
    ranges: tuple[tuple[int, int], ...]
    """Its slots, first and last of each range; nothing of slots on their way."""

    @property
    def failed(self) -> bool:
        """Whether it is taken for gone."""
        return "fail" in self.flags

    def has(self, slot: int) -> bool:
        """Whether a slot is its own."""
        return any(first <= slot <= last for first, last in self.ranges)


def view_of(told: str) -> dict[str, Known]:
    """Id -> node, of the lines that CLUSTER NODES gives."""
    return {known.node_id: known for known in map(_known, told.splitlines())}


def _known(line: str) -> Known:
    node_id, address, flags, primary_id, _, _, _, _, *slots = line.split()
    port = int(address.partition("@")[0].rpartition(":")[2])
    ranges = [slot.partition("-") for slot in slots if not slot.startswith("[")]
    return Known(
        node_id,
        port,
        frozenset(flags.split(",")),
        "" if primary_id == "-" else primary_id,
        tuple((int(first), int(last or first)) for first, _, last in ranges),
    )
