"""What is told of a source that is set aside: since when, by whom and why."""

from __future__ import annotations

from api.shapes import AsideTold
from events.catalogue import SourceSetAside
from events.envelope import decode
from events.partitions import position_text
from projections.language.sensitivity.text_level import detect_sensitivity
from projections.memory.record import SECRET
from projections.memory.sources import Aside
from projections.redis.view import RedisViews
from projections.views.query import moment
from projections.views.view import WITHHELD, OwnerView


def aside_told(views: RedisViews, owner: str, partition: int, one: Aside) -> AsideTold:
    """One source that is set aside; by whom and why stands in the log alone."""
    (stored,) = views.stored(owner, [one.seq])
    event = decode(stored.kind, stored.body)
    reason = event.data.reason if isinstance(event.data, SourceSetAside) else ""
    return {
        "session": one.source.session,
        "principal": one.source.principal,
        "of_actor": one.source.actor,
        "since": moment(one.at),
        "set_aside_at": position_text(partition, one.seq),
        "by_actor": event.actor,
        "by_principal": stored.principal,
        "reason": WITHHELD if detect_sensitivity(reason) >= SECRET else reason,
    }


def aside_by(view: OwnerView, memory_id: str) -> Aside | None:
    """The setting aside by which a memory is withheld; None where it is not."""
    memory = view.get(memory_id)
    if memory is None or memory.aside_seq is None:
        return None
    return next((one for one in view.state.asides if one.seq == memory.aside_seq), None)
