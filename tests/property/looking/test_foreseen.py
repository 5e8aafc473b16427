"""What events would do is what the fold makes of them, whatever came before: figure for figure, and the view stays as it is."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import EventDiscarded
from engramlog_server.projections.fold.owner import fold_owner
from engramlog_server.projections.views.view import OwnerView, would_change
from tests.examples import examples
from tests.given.events import Told, folded, secret_of, stored
from tests.given.histories import histories

QUICK = settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(histories, st.data())
def test_events_that_would_come_next_do_what_they_are_foretold_to_do(told: list[Told], data: st.DataObject) -> None:
    known = data.draw(st.integers(0, len(told)))
    entries = stored(told)
    next_ones = entries[known : known + 3]
    if any(isinstance(one.data, EventDiscarded) for one in told[known : known + 3]):
        return  # whether something is parked the partition knows, and no verb discards
    before = folded(*told[:known])
    view = OwnerView("ada", before.owner, before.memories.values())
    after = fold_owner(entries[: known + 3], secret=secret_of("ada"))
    assert would_change(view, next_ones, secret=secret_of("ada")) == after.entries[len(before.entries) :]
    assert view.state == before.owner
    assert {memory.id: view.as_folded(memory) for memory in view.columns} == before.memories
