"""Who may speak for whom: nothing outside of one table comes in by any path, whoever brings it, and all that is in it does."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.catalogue import MemoryMentioned, TurnRecorded
from engramlog_server.events.envelope import Bringer, bringer, derived_id, principal_of
from engramlog_server.events.errors import InvalidEvent
from engramlog_server.events.standing import ACTORS, BRINGERS, CLAIMS, PATHS, RETOLD, Path, Speaker, claimable
from engramlog_server.events.validation import make_event, read_event
from tests.given.samples import MOMENT, NOW

names = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._@/-]{0,63}\Z") | st.sampled_from(["local", "job", "model", "operator"])
jobs = st.sampled_from(["upkeep", "daily", "extract", "sessions"]).map(lambda kind: f"job:{kind}")
models = st.text(max_size=200) | st.sampled_from(["", "job:extract", "a model:b", "operator", "local"])
brought: dict[Bringer, st.SearchStrategy[str]] = {
    "side": names, "job": jobs, "model": st.builds(principal_of, names | jobs, models),
}  # fmt: skip
DATA = {
    "MemoryMentioned": MemoryMentioned(memory_id="m"),
    "TurnRecorded": TurnRecorded(turn_id="t", role="user", text="早上好"),
}
everything = st.tuples(
    st.sampled_from(sorted(PATHS)),
    st.sampled_from(sorted(BRINGERS)).flatmap(lambda kind: st.tuples(st.just(kind), brought[kind])),
    st.sampled_from(ACTORS),
    st.booleans(),
    st.sampled_from(sorted(DATA)),
)


@given(everything)
def test_what_is_in_the_table_comes_in_and_nothing_else_does(
    told: tuple[Path, tuple[Bringer, str], str, bool, str],
) -> None:
    path, (kind, principal), actor, raw, event_type = told
    assert bringer(principal) == kind
    by = Speaker(path, principal, raw)
    allowed = CLAIMS.get((path, kind), ())
    envelope = {"type": event_type, "owner": "ann", "occurred_at": "2026-01-01T00:00:00Z", "actor": actor}
    data = {
        name: getattr(DATA[event_type], name)
        for name in ("memory_id", "turn_id", "role", "text")
        if hasattr(DATA[event_type], name)
    }
    document = json.dumps({"event_id": derived_id(event_type, actor), **envelope, "data": data})
    told_again = path != "job" or actor != "user" or event_type in RETOLD
    if actor in allowed and told_again:
        assert read_event(document, now=NOW, by=by)
        assert make_event(DATA[event_type], owner="ann", occurred_at=MOMENT, actor=actor, now=NOW, by=by).actor == actor
        return
    for come_in in (
        lambda: read_event(document, now=NOW, by=by),
        lambda: make_event(DATA[event_type], owner="ann", occurred_at=MOMENT, actor=actor, now=NOW, by=by),
    ):
        with pytest.raises(InvalidEvent) as refused:
            come_in()
        assert (refused.value.field, refused.value.got) == ("actor", actor)
        assert PATHS[path] in refused.value.allowed
        assert all(one in refused.value.allowed for one in allowed)


@given(st.sampled_from(sorted(PATHS)), st.sampled_from(sorted(BRINGERS)).flatmap(lambda kind: brought[kind]))
def test_an_operator_is_claimed_by_a_command_at_the_store_and_by_nothing_else(path: Path, principal: str) -> None:
    is_command = path == "terminal" and bringer(principal) == "side"
    assert ("operator" in claimable(path, principal)) == is_command


def test_every_path_and_every_kind_of_principal_is_in_the_table_and_in_words() -> None:
    assert {path for path, _ in CLAIMS} == set(PATHS) == set(get_args(Path))
    assert {kind for _, kind in CLAIMS} == set(BRINGERS) == set(get_args(Bringer))
    assert {actor for actors in CLAIMS.values() for actor in actors} == set(ACTORS)
