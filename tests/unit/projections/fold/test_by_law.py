"""The change log in a law's numbers: under the weighted law it is the stored one to the bit, and each law tells its own."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.envelope import decode
from engramlog_server.projections.fold.changelog import describe
from engramlog_server.projections.fold.owner import LawReader, OwnerState, fold_event
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.memory.record import Memory
from tests.examples import examples
from tests.given.events import Told, secret_of, stored
from tests.given.histories import histories

QUICK = settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])


def read(told: list[Told], law: str) -> list[dict[str, Any]]:
    """Every change as it is stored, with what the law read of it put in place of the stored numbers."""
    owner, memories, changes = OwnerState(), dict[str, Memory](), list[dict[str, Any]]()
    for one in stored(told):
        step = fold_event(owner, memories, decode(one.kind, one.body), one, secret=secret_of("ada"))
        reader = LawReader(LAWS[law], {(entry.seq, entry.memory_id) for entry in step.entries})
        reader.took(step)
        for entry in step.entries:
            found = reader.found[entry.seq, entry.memory_id]
            delta = None if found.old is None or found.new is None else round(found.new - found.old, 6)
            numbers = {"old_weight": found.old, "new_weight": found.new, "delta": delta, "factors": found.factors}
            changes.append({"stored": describe(entry, 3), "told": {**describe(entry, 3), **numbers}})
        owner = step.owner
        memories.update(step.changed)
    return changes


@QUICK
@given(histories)
def test_under_the_weighted_law_every_change_is_told_as_it_is_stored_to_the_bit(told: list[Told]) -> None:
    for change in read(told, "weighted"):
        assert orjson.dumps(change["told"]) == orjson.dumps(change["stored"])


@QUICK
@given(histories, st.sampled_from([name for name in LAWS if name != "weighted"]))
def test_every_law_tells_finite_numbers_of_the_same_changes_with_its_own_factors(told: list[Told], law: str) -> None:
    for change in read(told, law):
        found, there = change["told"], change["stored"]
        assert [found[name] is None for name in ("old_weight", "new_weight", "delta", "factors")] == [
            there[name] is None for name in ("old_weight", "new_weight", "delta", "factors")
        ]
        assert found["factors"] is None or set(found["factors"]) == set(LAWS[law].factors)
        assert b"null" not in orjson.dumps(list((found["factors"] or {}).values()))
