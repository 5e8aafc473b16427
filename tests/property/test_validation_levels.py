"""Whether the door or the fold judges: the same records, and never a lower level."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.events.catalogue import SensitivitySet
from engramlog_server.projections.fold.owner import fold_owner
from tests.examples import examples
from tests.given.events import Told, at_door, compressed, created, merged, revised, stored
from tests.given.histories import FIRST, IDS, MERGES, days, histories

QUICK = settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
TEXTS = st.sampled_from(
    [
        "I like tea", "my password is hunter2-Xq9!", "I like tea. my password is hunter2-Xq9!", "call me at 415-555-2671",
        "I like tea. call me at 415-555-2671", "我的密码是hunter2-Xq9!", "I work as a nurse",
    ]
)  # fmt: skip
ids = st.sampled_from(IDS + MERGES)
listed = st.none() | st.lists(TEXTS, max_size=2, unique=True).map(tuple)
by_hand = st.builds(
    lambda of, level, day: Told(SensitivitySet(memory_id=of, level=level, reason="known"), day),
    ids,
    st.integers(0, 3),
    days,
)
telling = st.one_of(
    st.builds(created, TEXTS, of=st.sampled_from(("f", "g", *IDS)), day=days, summary=st.none() | TEXTS),
    st.builds(revised, TEXTS, of=ids, day=days, summary=st.none() | TEXTS, keywords=listed, tags=listed),
    st.builds(compressed, st.just("summary"), of=ids, day=days, content=TEXTS),
    st.builds(
        lambda two, into, day, summary: merged(*two, into=into, day=day, summary=summary),
        st.lists(st.sampled_from(IDS), min_size=2, max_size=2, unique=True),
        st.sampled_from(MERGES),
        days,
        TEXTS,
    ),
)
told_by_producers = st.lists(telling, max_size=12).map(lambda told: [*FIRST, *told])
told_and_judged = st.lists(telling | by_hand, max_size=12).map(lambda told: [*FIRST, *told])


@QUICK
@given(histories | told_by_producers)
def test_without_judgements_by_hand_the_record_is_the_same_whoever_judges(told: list[Told]) -> None:
    entries = stored(told)
    unjudged = [one._replace(beside=(b"0", b"local", b"0:0", b"", bytes(32))) for one in entries]
    assert fold_owner(at_door(entries)) == fold_owner(unjudged)


@QUICK
@given(told_and_judged)
def test_with_levels_of_the_door_no_memory_is_ever_less_sensitive(told: list[Told]) -> None:
    entries = stored(told)
    for upto in range(len(FIRST), len(entries) + 1):
        alone, door = fold_owner(entries[:upto]).memories, fold_owner(at_door(entries[:upto])).memories
        assert {i: alone[i].sensitivity for i in alone if alone[i].sensitivity > door[i].sensitivity} == {}


@QUICK
@given(told_and_judged, ids, st.integers(0, 3))
def test_what_a_person_set_holds_until_other_words_come(told: list[Told], of: str, level: int) -> None:
    entries = stored([*told, Told(SensitivitySet(memory_id=of, level=level, reason="known"), 90)])
    memory = fold_owner(at_door(entries)).memories.get(of)
    if memory is None or memory.merged_into is not None or memory.purged_at is not None:
        return
    assert memory.sensitivity == level
    said = [memory.content, *memory.keywords, *memory.tags]
    again = [revised(memory.content, of, 91, summary=memory.summary, keywords=tuple(said)[:1])]
    assert fold_owner(at_door([*entries, *stored(again, after=len(entries))])).memories[of].sensitivity == level
