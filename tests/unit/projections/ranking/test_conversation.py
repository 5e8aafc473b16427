"""The conversation ranking: each term on a conversation made for it, in English and Chinese; and that nothing withheld is used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.projections.index.conversation_index import ConversationIndex
from engramlog_server.projections.index.search_index import indexed_text
from engramlog_server.projections.ranking.conversation import SETTINGS, WEIGHTS
from engramlog_server.projections.views.view import OwnerView
from tests.examples import examples
from tests.given.events import Told, created, deleted, folded, mentioned, purged, reinforced, revised
from tests.given.views import asked, found, viewed
from tests.rows import each_row

MINUTE = 1 / 1440
Line = tuple[str, str]
"""Who, and what."""


def chat(*lines: Line, session: str = "s1", day: float = 0, prefix: str = "") -> list[Told]:
    """Turns of a session, a minute apart, with ids a, b, c ..."""
    told = []
    for number, (who, text) in enumerate(lines):
        source = "assistant" if who == "assistant" else "user"
        one = created(text, f"{prefix}{chr(97 + number)}", day + number * MINUTE, source, speaker=who, source=source)
        told.append(in_session(one, session))
    return told


def in_session(told: Told, session: str) -> Told:
    return replace(told, extra={"session_id": session})


def terms(view: OwnerView, query: str, **asking: Any) -> dict[str, dict[str, float]]:
    """Parts of the score by id."""
    return {name: one["explain"]["score"] for name, one in found(view, query, limit=20, **asking).items()}


TALK_EN = chat(
    ("Ann", "Hello Bob, good to see you"),
    ("Bob", "What did you do with the kiln?"),
    ("Ann", "We fired it on Sunday"),
    ("Bob", "Lovely"),
    ("Ann", "Then tea"),
)
TALK_ZH = chat(
    ("小安", "你好，见到你很高兴"),
    ("小博", "窑炉后来怎么样了？"),
    ("小安", "周日点火成功"),
    ("小博", "真好"),
    ("小安", "然后喝茶"),
)


@each_row(("talk", "query"), [(TALK_EN, "the kiln"), (TALK_ZH, "窑炉")])
def test_an_answer_is_found_by_the_question_before_it_and_the_asker_s_next_turn_by_its_thread(talk, query) -> None:
    parts = terms(viewed(*talk), query)
    assert set(parts) == {"b", "c", "d"}
    assert parts["c"]["answer"] == pytest.approx(WEIGHTS.answer)
    assert "answer" not in parts["d"]
    assert 0 < parts["d"]["thread"] <= WEIGHTS.thread
    assert parts["b"]["asks"] == pytest.approx(WEIGHTS.asks * SETTINGS.asks_in_dialogue)


def test_a_summary_of_a_session_stands_below_a_statement_that_matches_less() -> None:
    said = [
        created(f"Turn {number} about jazz", name, speaker="user", source="user") for number, name in enumerate("ab")
    ]
    text = "user: which music do people play at work?"
    summary = created(text, "summary", 1, kind="episode", source="judge", source_turns=("a", "b"))
    view = viewed(
        *(in_session(one, "s1") for one in said),
        summary,
        created("At work I like music by The Cure", "says", 2, source="user"),
    )
    assert next(iter(found(view, "Which music do I play at work?"))) == "says"
    assert terms(view, "Which music do I play at work?")["summary"]["summary"] == WEIGHTS.summary


@each_row(
    ("turn", "statement", "query"),
    [
        ("What kind of music do you like?", "I like the music of The Cure most.", "What music do I like?"),
        ("你喜欢哪种风格的音乐呢？", "我开车只放草东的音乐。", "我喜欢什么音乐？"),
    ],
)
def test_a_turn_that_asks_the_same_stands_below_a_statement_outside_a_dialogue(turn, statement, query) -> None:
    asks = in_session(created(turn, "asks", speaker="user", source="user"), "s1")
    view = viewed(asks, created(statement, "says", 1, source="user"))
    assert next(iter(found(view, query))) == "says"


@each_row(
    ("query", "best"),
    [
        ("What tea did you recommend?", "b"), ("What tea do I like?", "a"), ("你给我推荐过什么茶？", "b"),
        ("我喜欢什么茶？", "a"),
    ],
)  # fmt: skip
def test_what_the_assistant_said_is_told_from_what_the_user_said(query, best) -> None:
    english = (
        ("user", "I like green tea"),
        ("assistant", "Try white tea"),
        ("user", "I went out"),
        ("assistant", "Fine"),
    )
    chinese = (("user", "我喜欢绿茶"), ("assistant", "试试白茶"), ("user", "我出门了"), ("assistant", "好的"))
    parts = terms(viewed(*chat(*(english if query.isascii() else chinese))), query)
    assert next(iter(parts)) == best
    assert ("assistant" in parts[best]) == (best == "b")
    assert ("user" in parts[best]) == (best == "a")


@each_row(
    ("query", "lines"),
    [
        ("What tea does Ann drink?", (("Ann", "I drink green tea"), ("Bob", "I drink black tea"))),
        ("小安喝什么茶", (("小安", "我喝绿茶"), ("小博", "我喝红茶"))),
    ],
)
def test_a_named_speaker_is_heard_first_and_most_of_themselves(query, lines) -> None:
    parts = terms(viewed(*chat(*lines)), query)
    assert list(parts) == ["a", "b"]
    assert (parts["a"]["speaker"], parts["a"]["self"]) == (WEIGHTS.speaker, WEIGHTS.self)
    assert "speaker" not in parts["b"]


@each_row(
    ("query", "fit"),
    [
        ("What happened on January 3?", {"c": 1.0, "b": 0.3 * 0.866878, "a": 0.3 * 0.751477}),
        ("What happened on 3 January 2024?", {"c": 1.0, "b": 0.3 * 0.866878, "a": 0.3 * 0.751477}),
        ("2024年1月3日发生了什么", {"c": 1.0, "b": 0.3 * 0.866878, "a": 0.3 * 0.751477}),
        ("What happened on 2 January?", {"c": 0.3 * 0.866878, "b": 0.3 * 0.751477, "a": 0.3 * 0.651439}),
        ("What happened in January?", {"c": 0.65, "a": 0.65, "b": 0.65}), ("What happened yesterday?", {"b": 0.5}),
        ("昨天发生了什么", {"b": 0.5}), ("两天前发生了什么", {"c": 0.5}), ("What happened in 1 day?", {}),
    ],
)  # fmt: skip
def test_a_named_day_is_fitted_to_the_day_of_the_turn(query, fit) -> None:
    view = viewed(created("rain", "c", 2), created("sun", "b", 3), created("雪", "a", 4))
    parts = terms(view, query, day=4)
    assert {name: one["date"] for name, one in parts.items()} == {
        name: pytest.approx(WEIGHTS.date * value, abs=1e-5) for name, value in fit.items()
    }


@each_row(
    ("query", "text", "term"),
    [
        ("When is the fair?", "The fair is next week", "when"), ("集市是什么时候", "集市在下周", "when"),
        ("How many jars of clay?", "seven jars of clay", "many"), ("有多少陶罐", "陶罐一共七个", "many"),
    ],
)  # fmt: skip
def test_kinds_of_words_that_a_question_asks_for_count(query, text, term) -> None:
    parts = terms(viewed(created(text, "m")), query)
    assert parts["m"][term] == getattr(WEIGHTS, term)


def test_the_last_of_several_sentences_is_in_focus() -> None:
    view = viewed(created("the kiln broke", "kiln"), created("the fair was fun", "fair"))
    parts = terms(view, "We spoke of the kiln. How was the fair?")
    assert parts["fair"]["focus"] > 0
    assert "focus" not in parts["kiln"]


# --- what is owed

SAID = st.lists(
    st.tuples(
        st.sampled_from(["Ann", "Bob", "user", "assistant"]),
        st.sampled_from(
            ["green tea?", "绿茶很好", "I like tea 🍵", "…", "always tea", "two cups on 3 May", "窑炉？", "לחם ותה"]
        ),
        st.sampled_from(["s1", "s2", ""]),
        st.integers(0, 5),
    ),
    max_size=12,
)
QUERIES = [
    "tea", "绿茶", "What did you recommend on 3 May?", "🍵", "\u200b", "?", "茶", "תה", "Ann", "how many", "\u202etea",
    "a" * 300, "[" * 50, "1月",
]  # fmt: skip


def spoken(lines: list[tuple[str, str, str, int]]) -> list[Told]:
    told = []
    for number, (who, text, session, day) in enumerate(lines):
        source = "assistant" if who == "assistant" else "user"
        one = created(text, f"m{number}", day, source, speaker=who, source=source)
        told.append(in_session(one, session) if session else one)
    return told


@settings(max_examples=examples(60), deadline=None)
@given(lines=SAID, query=st.sampled_from(QUERIES), mode=st.sampled_from(["normal", "review", "debug"]))
def test_terms_add_up_whatever_is_asked(lines, query, mode) -> None:
    for one in asked(viewed(*spoken(lines)), query, 9, mode, 100)["results"]:
        assert sum(one["explain"]["score"].values()) == pytest.approx(one["score"], abs=1e-6)
        assert set(one["explain"]["score"]) & {"text", "thread", "neighbour", "answer", "date"}
        assert sum(one["explain"]["terms"].values()) == pytest.approx(one["explain"]["score"].get("text", 0), abs=2e-5)


@each_row("text", ["[" * 50_000, "? " * 50_000, " " * 99_000 + "x", "1" * 99_000, "[a]" * 30_000, "?!" * 40_000])
def test_long_runs_of_anything_are_read_in_time_proportional_to_them(text) -> None:
    from engramlog_server.projections.language.questions import traits

    assert 0 <= traits(text, 255) < 256


def test_a_secret_or_purged_turn_is_no_turn_at_all() -> None:
    secret = chat(("Ann", "hello"), ("Bob", "my password is hunter2-kiln-X9?"), ("Ann", "fine"))
    for events in (secret, [*TALK_EN, deleted("b"), purged("b", day=40)]):
        view = viewed(*events)
        assert view.columns.row("b") not in view.conversation
        assert terms(view, "the kiln password", day=40, mode="debug") == {}


@settings(max_examples=examples(60), deadline=None)
@given(
    lines=SAID,
    changes=st.lists(st.tuples(st.sampled_from(["revise", "delete", "purge"]), st.integers(0, 11)), max_size=5),
)
def test_the_index_kept_level_equals_a_fresh_one(lines, changes) -> None:
    events = spoken(lines)
    kept = OwnerView.of_history("ada", folded())
    for step, (what, number) in enumerate(changes, 10):
        if number < len(lines):
            name = f"m{number}"
            events += [revised("new kiln?", name, step)] if what == "revise" else [deleted(name, step)]
            events += [purged(name, step + 40, due=step + 40)] if what == "purge" else []
    for end in range(1, len(events) + 1):
        history = folded(*events[:end])
        kept.follow(history.owner, history.memories.values())
        assert len(kept.conversation) <= len(kept)
    fresh = ConversationIndex(kept._index)
    for row, memory in enumerate(kept.columns):
        fresh.put(row, memory, bool(indexed_text(memory)))
    fresh.settle()
    mine, size = kept.conversation, len(kept)
    assert (mine.shape, mine.names.keys(), len(mine)) == (fresh.shape, fresh.names.keys(), len(fresh))
    for column in ("previous", "next", "place", "member"):
        assert getattr(mine, column)[:size].tolist() == getattr(fresh, column)[:size].tolist()
    for query in ("tea", "绿茶", "new kiln"):
        again = OwnerView("ada", kept.state, list(kept.columns))
        assert asked(kept, query, 99, "debug")["results"] == asked(again, query, 99, "debug")["results"]


def test_the_best_of_a_session_lifts_its_other_turns() -> None:
    talk = chat(("Ann", "kiln kiln"), ("Bob", "the kiln and much other news of the week"), ("Ann", "yes"))
    other = chat(("Ann", "the kiln and much other news of a day"), ("Bob", "no"), session="s2", day=1, prefix="x")
    parts = terms(viewed(*talk, *other), "kiln", day=1)
    assert parts["b"]["session"] == WEIGHTS.session
    assert 0 < parts["xa"]["session"] < WEIGHTS.session


@each_row(
    ("again", "leads"),
    [
        ([], "b"),
        ([mentioned("a", day) for day in (1, 2, 3)], "a"),
        ([reinforced("a", day) for day in (1, 2, 3, 4, 5)], "a"),
        ([mentioned("c", day) for day in (1, 2, 3)], "b"),
    ],
)
def test_of_about_equal_matches_the_heavier_comes_first_and_a_heavy_one_that_matches_little_stays_below(
    again: list[Told], leads: str
) -> None:
    rows = [
        created("The old harbour cafe has good espresso", "a"),
        created("The Marlow cafe has good espresso", "b"),
        created("The harbour was cold", "c"),
    ]
    results = found(viewed(*rows, *again), "Which cafe has good espresso?", limit=20)
    assert next(iter(results)) == leads
    weight = results[leads]["explain"]["score"]["weight"]
    assert weight > 0.5 if leads == "a" else weight < 0.05
