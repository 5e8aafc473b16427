"""Made-up parameters, instants and lives of memories: what laws are read with and from."""

from __future__ import annotations

from hypothesis import strategies as st

from engramlog_server.events.catalogue import Imported
from engramlog_server.events.parameters import DEFAULTS, NAMES, Parameters, ParameterValue, changed, schema_of
from engramlog_server.events.vocabulary import Outcome, Via
from tests.given.events import (
    Told,
    accessed,
    at,
    created,
    deleted,
    graded,
    kept,
    mentioned,
    moment,
    negated,
    promoted,
    reinforced,
    restored,
    revised,
)
from tests.given.histories import days, histories, words

READ_BY_LAWS = NAMES[: NAMES.index("keyword_edge_from")]
"""What laws and the events of use read; the others are the jobs' and the search's."""
instants = (
    st.integers(at(-400), at(36_500)) | st.integers(at(0), at(100)) | st.sampled_from([at(10), at(10.25), at(80)])
)


_TEXTS = {"half_life_by_kind": ["", "fact=1,episode=7.5,preference=9999"], "embedder": ["store", "none", "auto", "use"]}


def parameter_values(name: str, least: float) -> st.SearchStrategy[ParameterValue]:
    """Values that the parameter's schema allows; where it allows any above 0, those from `least`."""
    schema = schema_of(name)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "boolean":
        return st.booleans()
    if schema["type"] == "string":
        return st.sampled_from(_TEXTS.get(name, ["UTC"]))
    low, high = schema.get("minimum", least), schema["maximum"]
    if schema["type"] == "integer":
        return st.integers(low, high) | st.sampled_from([low, high])
    return st.floats(low, high) | st.sampled_from([low, high])


def parameter_sets(least: float) -> st.SearchStrategy[Parameters]:
    """Any of what laws read changed to anything allowed, the rest as it is by default; see `parameter_values`."""
    drawn = {name: st.just(getattr(DEFAULTS, name)) | parameter_values(name, least) for name in READ_BY_LAWS}
    return st.just(DEFAULTS) | st.fixed_dictionaries(drawn).map(lambda values: changed(DEFAULTS, values))


sensible = parameter_sets(0.01)
extreme = parameter_sets(5e-324)

brought = st.builds(
    Imported,
    access_count=st.none() | st.integers(0, 1_000),
    last_accessed_at=st.none() | days.map(moment),
    updated_at=st.none() | days.map(moment),
    stability=st.none() | st.floats(0.1, 8_760),
    last_reinforced_at=st.none() | days.map(moment),
    decay_rate=st.none() | st.floats(0.5, 2),
)


def lives(memory_id: str) -> st.SearchStrategy[list[Told]]:
    """A memory that has nothing to do with any other, of any tier, used and reviewed in any way."""
    me = st.just(memory_id)
    begin = st.builds(
        created,
        of=me,
        day=days,
        actor=st.sampled_from(["user", "judge"]),
        kind=st.sampled_from(["fact", "episode", "core", "pitfall"]),
        importance=st.none() | st.just(0.0) | st.floats(1e-6, 10),
        confidence=st.sampled_from([0.6, 0.8, 1.0]),
        imported=st.none() | brought,
    )
    event = st.one_of(
        st.builds(accessed, me, day=days, count=st.integers(1, 200), last_day=st.none() | days, via=words(Via)),
        st.builds(reinforced, me, day=days, outcome=words(Outcome)),
        st.builds(graded, me, day=days, grade=st.integers(0, 5)),
        st.builds(kept, me, day=days, due_at=st.none() | days.map(moment)),
        st.builds(promoted, st.sampled_from(["core", "fact", "episode", "system"]), of=me, day=days),
        st.builds(mentioned, me, day=days),
        st.builds(negated, me, day=days),
        st.builds(revised, of=me, day=days),
        st.builds(deleted, me, day=days),
        st.builds(restored, me, day=days),
    )
    return st.builds(lambda first, then: [first, *then], begin, st.lists(event, max_size=12))


stories = histories | st.builds(lambda told, life: [*told, *life], histories, lives("q")) | lives("m")
