"""Made-up memories in every script, whatever is asked of them, and what every answer to a search owes."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import strategies as st

from benchmarks.vectors import MemoryVectors
from engramlog_server.api.checks import check_query
from engramlog_server.events.catalogue import SynonymDefined
from engramlog_server.events.text import VISIBLE
from engramlog_server.events.vocabulary import Resolution
from engramlog_server.projections.choices import RANKINGS, SEARCH_MODES
from engramlog_server.projections.embedding.meaning import NO_SECRET, Sense
from engramlog_server.projections.laws import LAWS
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import BY_MEANING, Filters, SearchRequest
from engramlog_server.projections.views.query import ViewQuery
from tests.doubles.embedding import DIMENSIONS, WordEmbedder
from tests.given.events import (
    Told,
    at,
    brought_back,
    compressed,
    created,
    deleted,
    in_session,
    linked,
    mentioned,
    merged,
    negated,
    of_old,
    profile,
    purged,
    readmitted,
    rejected,
    restored,
    revised,
    set_aside,
)
from tests.given.views import viewed

Answer = dict[str, Any]
IDS = [f"m{number}" for number in range(6)]
MOST = 100
ALMOST = 4e-6
"""What rounding to six decimals may leave between a sum and its parts."""

# --- what is invented

SHARDS = (
    "coffee", "green tea", "the", "who are you", "I", "running", "ERR-1042", "a.lee@example.org", "v2.3.1", "C++",
    "咖啡", "我喜欢绿茶", "的", "綠茶", "コーヒー", "の", "커피", "กาแฟ", "नमस्ते", "ﬁne", "ＡＢＣ", "İI", "ß", "é", "e\u0301",
    "قهوة", "שלום", "\u202eabc", "\u200b", "\u200d", "\ufeff", "🎉", "👨‍👩‍👧", "🇨🇳", "\x00", "\x1b[31m", "\U000e0041", "!?",
    "……", "。", "--", "([{", "\\", "%s", "{0}", "[b]", "'\"", "?", "when", "昨天", "5月2号", "2 May 2024", "last week",
    "1,000", "１２", "٣", "+49 30 1234567", "../a/b.py", "#77", "Alice", "王芳",
)  # fmt: skip
NAMES = ("Alice", "王芳", "user", "assistant", "🙂", "אבי", ".", "the", "when", "A.*(", " ", "\u200b", "May")
any_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
shards = st.lists(st.sampled_from(SHARDS), min_size=1, max_size=6)
texts = (
    (st.tuples(shards, st.sampled_from([" ", "", "\n", "，"])).map(lambda told: told[1].join(told[0])) | any_text)
    .map(str)
    .filter(VISIBLE.search)
)
names = st.none() | st.sampled_from(NAMES) | any_text
ids, days = st.sampled_from(IDS), st.integers(0, 40) | st.sampled_from([0.5, 300])


def _creation(of: str, content: str, speaker: str | None, said: tuple[Any, ...]) -> Told:
    day, session, kind, actor, keywords, sensitivity, project = said
    source = actor if actor == "assistant" else "user"
    one = created(
        content,
        of,
        day,
        actor,
        source=source,
        speaker=speaker,
        kind=kind,
        keywords=keywords,
        sensitivity=sensitivity,
        project=project,
        category=["fact", "identity", "temporary"][len(content) % 3],
    )
    # As a log may hold it: some of these names are refused at the door by now.
    return of_old(Told(one.data, one.day, one.actor, {"session_id": session} if session else {}))


def _merge(sources: list[str], day: float, summary: str) -> Told:
    return merged(*sources, into="x", day=day, summary=summary)


said = st.tuples(
    days,
    st.sampled_from([None, "s1", "s2"]),
    st.sampled_from(["note", "fact", "user_preference", "类别"]),
    st.sampled_from(["user", "assistant"]),
    st.lists(texts.map(lambda text: text[:100]).filter(str.strip), max_size=3, unique=True).map(tuple),
    st.sampled_from([0] * 9 + [SECRET]),
    st.sampled_from([None, "p"]),
)
changes = st.one_of(
    st.builds(
        negated,
        ids,
        day=days,
        replaced_by=st.none() | ids,
        resolution=st.none() | st.sampled_from(get_args(Resolution)),
    ),
    st.builds(revised, texts, of=ids, day=days),
    st.builds(mentioned, ids, day=days),
    st.builds(deleted, ids, day=days),
    st.builds(purged, ids, day=days, due=st.just(400)),
    st.builds(compressed, st.sampled_from(["summary", "tag", "archive"]), of=ids, day=days),
    st.builds(_merge, st.sampled_from([IDS[:2], IDS[2:5]]), days, texts),
    st.builds(lambda pair: linked(*pair, weight=0.9), st.sampled_from([("m0", "m1"), ("m1", "m2"), ("m3", "m0")])),
    st.builds(profile, st.sampled_from(sorted(LAWS))),
    st.builds(
        lambda one, other: Told(SynonymDefined(keyword=one[:100], synonym=other[:100], similarity=0.9)), texts, texts
    ),
)


TEXTS = ("I like green tea", "i like GREEN tea.", "我喜欢绿茶")
named_ids = st.sampled_from([*IDS, "s0", "s1", "s2"])
later = st.integers(3, 9)
others = st.one_of(
    changes,
    st.builds(created, st.sampled_from(TEXTS), st.sampled_from(["s0", "s1", "s2"]), later),
    st.builds(rejected, st.sampled_from(TEXTS), day=later),
    st.builds(readmitted, st.sampled_from(TEXTS), day=later),
    st.builds(
        lambda of, day, s: in_session(negated(of, day, resolution="latest_wins"), s),
        named_ids,
        later,
        st.none() | st.just("s1"),
    ),
    st.builds(mentioned, named_ids, later),
    st.builds(deleted, named_ids, later),
    st.builds(restored, named_ids, later),
    st.builds(set_aside, st.sampled_from(["s1", "s2"]), later),
    st.builds(brought_back, st.sampled_from(["s1", "s2"]), later),
)


@st.composite
def stories(draw: st.DrawFn, called: st.SearchStrategy[str | None] = names) -> list[Told]:
    """Some memories, and what happened to them."""
    contents = draw(st.lists(texts, min_size=1, max_size=len(IDS)))
    told = [_creation(of, content, draw(called), draw(said)) for of, content in zip(IDS, contents, strict=False)]
    return told + draw(st.lists(changes, max_size=4))


@st.composite
def askings(
    draw: st.DrawFn, rankings: tuple[str, ...] = RANKINGS, search_modes: tuple[str, ...] = SEARCH_MODES
) -> dict[str, Any]:
    """Ranking, search mode, mode, day, and of how many memories there are vectors."""
    ranking = draw(st.sampled_from(rankings))
    return {
        "ranking": ranking,
        "search_mode": draw(st.sampled_from(search_modes if ranking in BY_MEANING else ("keyword", "hybrid"))),
        "mode": draw(st.sampled_from(MODES)),
        "day": draw(st.sampled_from([41, 0, 400, 4_000])),
        "embedded": draw(st.sampled_from([0, 2, len(IDS)])),
    }


def queries(told: list[Told]) -> st.SearchStrategy[str]:
    """What memories say, one or two of them; anything else; a name alone."""
    contents = [one.data.content for one in told if getattr(one.data, "content", None)]
    known = st.lists(st.sampled_from(contents), min_size=1, max_size=2).map(" ".join)
    return st.one_of(known, known, texts, st.sampled_from([name for name in NAMES if name.strip()]))


class Asker:
    """Asks one owner's view, of which the first so many memories have vectors."""

    def __init__(self, told: list[Told], asking: dict[str, Any]) -> None:
        self.view = viewed(*told)
        self._told, self._asking = told, asking

    def __call__(self, query: str, limit: int = MOST, offset: int = 0, **changed: Any) -> Answer:
        asking = self._asking | changed
        wish = SearchRequest(asking["ranking"], asking["search_mode"], asking.get("filters", Filters()), None, True)
        asked = ViewQuery(self.view, at(asking["day"]), asking["mode"])
        return search(asked, check_query(query), limit, wish, self._sense(MemoryVectors(WordEmbedder()), query), offset)

    def _sense(self, vectors: MemoryVectors, query: str) -> Sense | None:
        embedded = self._asking["embedded"]
        index = self.view.meaning(vectors.model, NO_SECRET)
        if not index.wanted or (self._asking["search_mode"] != "semantic" and not embedded):
            return None
        vectors.fill([viewed(*self._told[:embedded])])
        index.fit(DIMENSIONS)  # as a store does, whose owner may have no vector at all
        return vectors.asked(self.view, query)


def ids_of(answer: Answer) -> list[str]:
    return [one["id"] for one in answer["results"]]


# --- every answer


def check(answer: Answer) -> None:
    """What every answer owes: it can be sent, is in order, and explains each score."""
    assert json.loads(json.dumps(answer, allow_nan=False).encode()) == answer
    scores = [one["score"] for one in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert len(set(ids_of(answer))) == len(scores) <= answer["total"]
    for one in answer["results"]:
        told = one["explain"]
        assert sum(told["score"].values()) == pytest.approx(one["score"], abs=ALMOST)
        assert 0 <= one["relevance"] <= 1
        assert one["weight"] >= 0
        _check_terms(told)


def _check_terms(told: Answer) -> None:
    """The terms of the question add up to what text brought, before its share where there is one."""
    terms, text = sum(told["terms"].values()), told["score"].get("text", 0.0)
    room = ALMOST * (1 + len(told["terms"]))
    if "overlap" not in told["score"] and "activation" not in told["score"] and "time" not in told["score"]:
        assert terms == pytest.approx(text, abs=room)
    elif text:
        assert 0.7 * 0.4 * terms == pytest.approx(text, abs=room)
    assert all(value >= 0 for value in told["terms"].values())
