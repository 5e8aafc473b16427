"""Made-up histories: every type of event about a handful of memories, out of order, wrong, repeated."""

from __future__ import annotations

from itertools import chain

from hypothesis import strategies as st

from engramlog_server.events.catalogue import EventDiscarded, SynonymDefined, ToolResultRecorded, TurnRecorded
from engramlog_server.events.vocabulary import Actor, Category, Level, Modality, Outcome, Resolution, Via
from engramlog_server.projections.memory.record import CATEGORIES
from tests.given.events import (
    Told,
    accessed,
    asserted,
    compressed,
    created,
    deleted,
    erased,
    graded,
    in_conflict,
    kept,
    linked,
    mentioned,
    merged,
    negated,
    parameters,
    profile,
    promoted,
    purged,
    reinforced,
    restored,
    retracted,
    revised,
    shown,
    unmerged,
)

IDS = ("a", "b", "c", "d")
MERGES = ("x", "y", "z")


def words(literal: object) -> st.SearchStrategy[str]:
    """One of a closed list of words."""
    return st.sampled_from(literal.__args__)  # type: ignore[attr-defined]


ids = st.sampled_from(IDS + MERGES)
days = st.integers(0, 80) | st.sampled_from([0.5, 10.25, 10.5, 10.75, 79.5])
turns = st.none() | st.sampled_from(["t1", "t2", "t3"])
maybe_ids = st.none() | ids
sources = st.lists(ids, min_size=2, max_size=4, unique=True)


def told_merge(from_: list[str], into: str, day: float) -> Told:
    """A merge as the door lets it in: not into one of its sources."""
    return merged(*(i for i in from_ if i != into), *(["f", "g"] if into in from_ else []), into=into, day=day)


creations = st.builds(
    created,
    st.sampled_from(["I like coffee", "我喜欢茶", "my password is hunter2", "I live in Paris"]),
    of=st.sampled_from(IDS),
    day=days,
    category=words(Category),
    kind=st.sampled_from(["fact", "episode", "core", "note"]),
    sensitivity=st.none() | st.integers(0, 3),
    corrects=maybe_ids,
    keywords=st.lists(st.sampled_from(["Coffee", "tea", "茶"]), unique=True).map(tuple),
)
mentions = st.builds(mentioned, ids, day=days, actor=words(Actor), turn_id=turns, modality=st.none() | words(Modality))
negations = st.builds(
    negated, ids, day=days, resolution=st.none() | words(Resolution), replaced_by=maybe_ids, turn_id=turns
)
others = st.one_of(
    st.builds(lambda found, day, count: accessed(*found, day=day, count=count), sources, days, st.integers(1, 9)),
    st.builds(
        lambda found, day, first, via: shown(*found, day=day, first=first, via=via),
        sources,
        days,
        st.sampled_from([1, 6]),
        words(Via),
    ),
    st.builds(reinforced, ids, day=days, outcome=words(Outcome), from_memory=maybe_ids),
    st.builds(told_merge, sources, st.sampled_from(MERGES), days),
    st.builds(unmerged, ids, day=days),
    st.builds(revised, st.sampled_from(["I like tea", "我不喜欢茶"]), of=ids, day=days),
    st.builds(compressed, words(Level), of=ids, day=days),
    st.builds(promoted, st.sampled_from(["core", "fact"]), of=ids, day=days),
    st.builds(kept, ids, day=days),
    st.builds(deleted, ids, day=days),
    st.builds(restored, ids, day=days),
    st.builds(purged, ids, day=days, due=st.integers(0, 200)),
    st.builds(graded, ids, day=days, grade=st.integers(0, 5)),
    st.builds(linked, ids, ids, day=days, weight=st.floats(0, 1)),
    st.builds(in_conflict, ids, ids, day=days),
    st.builds(asserted, ids, day=days),
    st.builds(retracted, ids, day=days),
    st.builds(erased, ids, day=days),
    st.builds(profile, st.sampled_from(["weighted", "tiered"]), day=days),
    st.builds(lambda threshold, day: parameters(day, frequent_threshold=threshold), st.integers(2, 4), days),
    st.just(Told(TurnRecorded(turn_id="t1", role="user", text="coffee"))),
    st.just(Told(ToolResultRecorded(tool="ls", text="coffee.txt"))),
    st.builds(
        lambda one, other, similarity, day: Told(
            SynonymDefined(keyword=one, synonym=other, similarity=similarity), day
        ),
        st.sampled_from(["coffee", "Tea", "java"]),
        st.sampled_from(["COFFEE", "茶", "java", " "]),
        st.sampled_from([0.0, 0.5, 0.8]),
        days,
    ),
    st.builds(lambda seq: Told(EventDiscarded(position=f"0:{seq}")), st.integers(1, 30)),
)
events = st.one_of(creations, mentions, negations, others, others)
FIRST = [created(of=i, category=CATEGORIES[n]) for n, i in enumerate(IDS)]


@st.composite
def plots(draw: st.DrawFn) -> list[Told]:
    """A few events that belong together, as chance alone hardly ever brings them about."""
    a, b, c = draw(st.permutations(IDS + MERGES))[:3]
    into, top = draw(st.permutations([i for i in MERGES if i not in (a, b)]).map(lambda free: (free[0], free[-1])))
    day = draw(days)
    merge, end = merged(a, b, into=into, day=day), [deleted(into, day=day), purged(into, day=day, due=200)]
    return draw(
        st.sampled_from(
            [
                [merge, mentioned(a, day=day + 1)],
                [merge, unmerged(into, day=day)],
                [created(of="e"), merge, told_merge([into, "e"], top, day), mentioned(a, day=day + 1)],
                [merge, in_conflict(into, c, day=day), negated(c, day=day + 1)],
                [in_conflict(a, c, day=day), merge, unmerged(into, day=day + 1)],
                [in_conflict(a, c, day=day), in_conflict(a, b, day=day), merge, *end],
                [deleted(a, day=day), purged(a, day=day, due=200), mentioned(a, day=day)],
                [deleted(a, day=day), restored(a, day=day)],
                [negated(a, day=day, replaced_by=b), mentioned(a, day=day + 1)],
                [mentioned(a, day=day + 1), negated(a, day=day, replaced_by=b)],
                [mentioned(a, day=day), mentioned(a, day=day), mentioned(a, day=day)],
            ]
        )
    )


scenes = st.one_of(plots(), st.lists(events, min_size=2, max_size=5))
histories = st.lists(scenes, min_size=2, max_size=10).map(lambda told: [*FIRST, *chain(*told)])
"""Four memories, then anything."""
