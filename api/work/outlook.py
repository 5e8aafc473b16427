"""How long a store's memory will last, as `status` tells it."""

from __future__ import annotations

from engramlog_server.api.shapes import RoomLeft
from engramlog_server.events.admission import APPEND_FULL, Room

WARN_FULL = 0.70
"""Share of maxmemory, with what folding will still take, from which `status` warns."""


def outlook(room: Room, events: int, *, node: str | None = None, beside: int = 0) -> RoomLeft:
    """Bytes in use and allowed, what folding will still take, and how many events of the mean size are left.

    Of the fullest `node` of a Cluster with its `events`: those of the others (`beside`) grow with them.
    """
    told: RoomLeft = {
        "used_bytes": room.used or None,
        "max_bytes": room.limit,
        "unfolded_bytes": room.debt.bytes,
    }
    if node is not None:
        told["node"] = node
    if not room.used or not events:
        return told
    each = (room.used + room.debt.bytes) / events
    told["bytes_an_event"] = round(room.used / events, 1)
    left = room.left(APPEND_FULL)
    if left is not None:
        share = room.used_share + room.debt_share
        most = max(int(left / each * (events + beside) / events), 0)
        told["used_share"], told["events_until_full"] = round(room.used_share, 4), most
        if share >= WARN_FULL:
            waits = (
                f", folding what waits will take about {room.debt_share:.0%} more" if room.debt_share >= 0.01 else ""
            )
            who = "Redis" if node is None else f"Node {node} of the cluster"
            told["warning"] = (
                f"{who} uses {room.used_share:.0%} of its maxmemory{waits}; appends are refused from {APPEND_FULL:.0%} on"
            )
    return told
