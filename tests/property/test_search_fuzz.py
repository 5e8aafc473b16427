"""Whatever memories hold and whatever is asked: search answers, adds up, pages, filters and withholds, or refuses in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engramlog_server.api.checks import check_query
from engramlog_server.api.services.reading import request_of
from engramlog_server.events.errors import InputError, InvalidEvent
from engramlog_server.events.vocabulary import MAX_TEXT_BYTES
from engramlog_server.projections.choices import RANKINGS
from engramlog_server.projections.language.text import kept_tokens
from engramlog_server.projections.laws.modes import MODES
from engramlog_server.projections.memory.record import SECRET
from engramlog_server.projections.ranking.recall import search
from engramlog_server.projections.ranking.search_request import Filters, SearchRequest
from engramlog_server.projections.views.query import ViewQuery
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import Told, at, created, negated
from tests.given.search_stories import ALMOST, MOST, NAMES, Answer, Asker, askings, check, ids_of, queries, stories
from tests.given.views import viewed
from tests.rows import each_row

fuzzed = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@fuzzed
@given(st.data(), stories(), askings())
def test_any_memories_answer_any_question_and_every_score_adds_up(data, told, asking) -> None:
    ask = Asker(told, asking)
    answer = ask(data.draw(queries(told)))
    check(answer)
    shown = set(ids_of(answer)) | {one["id"] for one in answer["associated"]}
    assert shown <= {memory.id for memory in ask.view.columns if memory.purged_at is None or asking["mode"] == "debug"}
    assert not set(ids_of(answer)) & {memory.id for memory in ask.view.columns if memory.sensitivity >= SECRET}


@fuzzed
@given(st.data(), stories(), askings())
def test_pages_of_any_size_are_the_whole_answer_in_its_order(data, told, asking) -> None:
    ask, query, size = Asker(told, asking), data.draw(queries(told)), data.draw(st.integers(1, 4))
    whole = ask(query)
    assert len(whole["results"]) == whole["total"]
    pages = [ask(query, size, offset) for offset in range(0, whole["total"] + size, size)]
    told = [(one["id"], one["score"], one["explain"]) for page in pages for one in page["results"]]
    assert told == [(one["id"], one["score"], one["explain"]) for one in whole["results"]]
    assert {page["total"] for page in pages} == {whole["total"]}


# --- filters


def _has(view: OwnerView, filters: Filters, one: Answer) -> bool:
    """Whether a result has what is asked for, by its record and by what the answer tells."""
    memory = view.get(one["id"])
    row = view.columns.row(one["id"])
    assert memory is not None
    assert row is not None
    return all(
        (
            not filters.kinds or memory.kind in filters.kinds,
            not filters.categories or memory.category in filters.categories,
            filters.session in (None, memory.session),
            filters.project in (None, memory.project),
            filters.speaker is None or (memory.speaker or "").casefold() == filters.speaker.casefold(),
            filters.since is None or memory.created_at >= filters.since,
            filters.until is None or memory.created_at < filters.until,
            not filters.keywords or {word.word for word in view.keywords(row)} & set(filters.keywords),
            not filters.tags or set(view.context(row).tags) & set(filters.tags),
            filters.feeling is None or filters.feeling in view.context(row).tags,
            one["relevance"] >= filters.least_relevance - ALMOST,
        )
    )


filterings = st.fixed_dictionaries(
    {},
    optional={
        "kinds": st.sampled_from([("note",), ("fact", "类别")]),
        "categories": st.sampled_from([("fact",), ("temporary", "identity")]), "session": st.sampled_from(["s1", "s9"]),
        "project": st.just("p"), "speaker": st.sampled_from(NAMES).map(str.upper),
        "since": st.sampled_from([at(1), at(20)]), "until": st.sampled_from([at(10), at(301)]),
        "keywords": st.sampled_from([("coffee", "咖啡"), ("err-1042",), ("green tea", "绿茶")]),
        "tags": st.sampled_from([("work_hours",), ("weekend", "late_night")]),
        "feeling": st.sampled_from(["positive", "urgent"]), "least_relevance": st.sampled_from([0.2, 0.45]),
    },
).map(lambda told: Filters(**told))  # fmt: skip


@fuzzed
@given(st.data(), stories(), askings(rankings=tuple(name for name in RANKINGS if name != "associative")), filterings)
def test_a_filter_lets_through_what_has_it_and_all_of_that(data, told, asking, filters) -> None:
    ask, query = Asker(told, asking), data.draw(queries(told))
    whole, filtered = ask(query), ask(query, filters=filters)
    check(filtered)
    assert set(ids_of(filtered)) == {one["id"] for one in whole["results"] if _has(ask.view, filters, one)}
    assert filtered["total"] == len(filtered["results"])


@fuzzed
@given(st.data(), stories(), askings(rankings=("associative",)), filterings)
def test_what_is_reached_by_association_has_what_the_filter_asks_for(data, told, asking, filters) -> None:
    ask = Asker(told, asking)
    answer = ask(data.draw(queries(told)), filters=filters)
    check(answer)
    assert all(_has(ask.view, filters, one) for one in answer["results"])


# --- what is withheld


@fuzzed
@given(st.data(), stories(called=st.none()), askings(search_modes=("keyword", "hybrid")))
def test_what_matches_is_shown_or_told_as_withheld_and_never_both(data, told, asking) -> None:
    ask, query = Asker(told, asking), data.draw(queries(told))
    answer = ask(query)
    matching = {one["id"] for one in ask(query, mode="debug")["results"] if one["explain"]["terms"]}
    shown = {one["id"] for one in answer["results"] if one["explain"]["terms"]}
    counts = {one["reason"]: one["count"] for one in answer["withheld"]}
    secrets = sum(memory.sensitivity >= SECRET and memory.purged_at is None for memory in ask.view.columns)
    assert counts.pop("sensitive", 0) == secrets
    assert len(shown) + sum(counts.values()) == len(matching)
    named = Counter(one for reason in answer["withheld"] for one in reason["ids"])
    assert set(named.values()) <= {1}
    assert set(named) <= matching - shown
    assert all(len(one["ids"]) == min(5, counts.get(one["reason"], 0)) for one in answer["withheld"])
    if asking["mode"] == "debug":
        assert counts == {}


# --- the long, the odd and the broken

LONG_CONTENTS = {
    "one word": "a" * MAX_TEXT_BYTES, "words": "ab cd " * (MAX_TEXT_BYTES // 6), "han": "好茶喝" * (MAX_TEXT_BYTES // 9),
    "emoji": "🎉" * (MAX_TEXT_BYTES // 4), "points": "!?" * (MAX_TEXT_BYTES // 2),
    "joints": "a.b-c_" * (MAX_TEXT_BYTES // 6), "digits": "1" * MAX_TEXT_BYTES,
    "marks": "e" + "\u0301" * (MAX_TEXT_BYTES // 2 - 1), "lines": "x\n" * (MAX_TEXT_BYTES // 2),
}  # fmt: skip
ODD_QUERIES = {
    "10,000 letters": "a" * 10_000,
    "10,000 words": ("ab " * 3_334)[:10_000],
    "10,000 different": "".join(chr(0x4E00 + number) for number in range(10_000)),
    "stop words": "the of and to is",
    "chinese stop words": "的 了 吗 是 我",
    "points": "?!…。，",
    "a name": "Alice",
    "a date": "2 May 2024",
    "a chinese date": "5月2号",
    "one letter": "a",
    "one emoji": "🎉",
    "nothing seen": "\u200b\u200d",
    "right to left": "\u202eمرحبا",
}


@pytest.fixture(scope="module")
def crowd() -> OwnerView:
    """Every long content, each said by Alice, and a few short ones."""
    contents = [*LONG_CONTENTS.values(), *("a", "!", "的", "🎉", "the", "مرحبا", "I met Alice on 2 May 2024")]
    return viewed(*(created(text, f"m{at}", at, speaker="Alice") for at, text in enumerate(contents)))


@each_row("query", ODD_QUERIES.values(), ids=list(ODD_QUERIES))
@each_row("ranking", RANKINGS)
def test_the_longest_contents_answer_the_oddest_questions(crowd: OwnerView, query: str, ranking: str) -> None:
    for mode in MODES:
        wish = SearchRequest(ranking, associations=True)
        check(search(ViewQuery(crowd, at(20), mode), check_query(query), MOST, wish))


@each_row("content", LONG_CONTENTS.values(), ids=list(LONG_CONTENTS))
def test_a_content_of_64_kib_is_found_by_how_it_begins(content: str) -> None:
    view, words = viewed(created(content, "m")), kept_tokens(content)
    for ranking in RANKINGS:
        answer = search(ViewQuery(view, at(1), "review"), check_query(content[:10_000]), MOST, SearchRequest(ranking))
        check(answer)
        assert ids_of(answer) == (["m"] if words else [])


BROKEN = "lone \udc80 surrogate"
TEXT_FIELDS: dict[str, Callable[..., Told]] = {
    "content": created, "summary": partial(created, "x"), "speaker": partial(created, "x"),
    "keywords": partial(created, "x"), "tags": partial(created, "x"), "project": partial(created, "x"),
    "task": partial(created, "x"), "correction": negated, "reason": negated,
}  # fmt: skip


@each_row("field", TEXT_FIELDS)
def test_a_lone_surrogate_is_refused_at_the_door_by_its_field(field: str) -> None:
    broken = (BROKEN,) if field in ("keywords", "tags") else BROKEN
    with pytest.raises(InvalidEvent, match=field):
        viewed(TEXT_FIELDS[field](**{field: broken}))


def test_a_lone_surrogate_is_refused_in_a_question() -> None:
    for query in (BROKEN, "\ud800", "🎉\udfff"):
        with pytest.raises(InputError, match="query"):
            check_query(query)


@each_row("name", ["kinds", "categories", "keywords"])
def test_a_lone_surrogate_is_refused_among_the_words_of_a_filter(name: str) -> None:
    with pytest.raises(InputError, match=name):
        request_of({name: [BROKEN]}, at(0), "UTC", with_meaning=False)  # type: ignore[misc]


@each_row("name", ["session", "project", "near_project", "speaker", "since", "until", "feeling"])
def test_a_lone_surrogate_is_refused_in_a_filter(name: str) -> None:
    with pytest.raises(InputError, match=name):
        request_of({name: BROKEN}, at(0), "UTC", with_meaning=False)  # type: ignore[misc]
