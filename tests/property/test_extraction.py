"""Laws of extraction: any text is read, a question states nothing, and whatever is decided passes the door, once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.events.envelope import from_micros, prepare
from engramlog_server.events.validation import make_event
from engramlog_server.projections.language.extraction.rules import extract, questions
from engramlog_server.projections.language.extraction.shape import TurnText
from engramlog_server.projections.lifecycle import plan
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import CLOCK, Told, at, created, folded
from tests.given.views import named, viewed

_PIECES = """
I I'm my love don't like hiking in Berlin live any more , and but because if would " “ ” ' ? ! . ; ( ) ` ``` not Tom 42 on May 4
remember that actually 我 我的 喜欢 不喜欢 了 咖啡 住在 杭州 ， 。 ？ 吗 如果 他说 不是 而是 今天 打算 记住
一只 猫 叫 《 》 2024-05-01 ß İ 🙂
a'OR'1=1 {} [shared http://x.y/z
"""
FRAGMENTS = st.sampled_from([*_PIECES.split(), "\n", "\u3000", "\x00"])
TEXTS = st.one_of(
    st.text(max_size=200), st.lists(FRAGMENTS, max_size=30).map(" ".join), st.lists(FRAGMENTS, max_size=30).map("".join)
)
SPEAKERS = st.sampled_from([None, "user", "Ada", "小雨", "assistant", "İ"])


@given(TEXTS, SPEAKERS)
def test_any_text_is_read_and_always_the_same(text: str, speaker: str | None) -> None:
    turn = TurnText("t", text, "user", speaker, "2024-05-01")
    found = extract(turn)
    assert found == extract(turn)
    assert all(0 <= one.span[0] <= one.span[1] <= len(text) for one in found)
    assert all(one.content.strip() and 0 <= one.confidence <= 1 and one.polarity in (1, -1) for one in found)
    assert len({one.content for one in found}) == len(found)
    assert all("?" in one or "？" in one for one in questions(turn))


@given(st.sampled_from(["Do I", "Should I", "When did I", "Where do I", "Can I", "Did I"]), TEXTS)
def test_a_sentence_that_begins_and_ends_as_a_question_asserts_nothing(opening: str, rest: str) -> None:
    words = " ".join(word for word in rest.split() if word.isalpha() and word.isascii())
    assert not any(one.asserted for one in extract(TurnText("t", f"{opening} {words}?", "user", None, None)))


@given(st.lists(TEXTS.filter(lambda text: bool(text.strip()) and text.isprintable()), max_size=6), SPEAKERS)
def test_whatever_is_decided_passes_the_door_and_is_decided_once(texts: list[str], speaker: str | None) -> None:
    turns = [
        created(text, f"t{n}", n, kind="episode", source_turns=(f"t{n}",), speaker=speaker)
        for n, text in enumerate(texts)
    ]
    decisions = plan(viewed(*turns), at(50), ["extract"])
    for one in decisions:
        when = from_micros(one.said_at or 0)
        prepare(make_event(one.data, owner="ada", occurred_at=when, actor=one.actor, now=CLOCK))
    assert len({one.event_id("ada") for one in decisions}) == len(decisions)
    after = folded(*turns, *(Told(one.data, 50, one.actor) for one in decisions))
    assert plan(named(OwnerView.of_history("ada", after)), at(60), ["extract"]) == []


_SAID = """
I love coffee. / I don't like coffee any more. / I hate coffee. / I live in Oslo. / I live in Rome.
/ I'm 34 years old. / I'm from Bergen.
/ Actually, I'm from Oslo. / 我喜欢咖啡。 / 我不喜欢咖啡了。 / 我住在杭州。 / 我搬到上海了。
/ Do I like tea? / I love classical music.
/ I love classical music by Bach and Brahms.
/ I visited Rome on May 4.
"""
SAYINGS = st.sampled_from([one.strip() for one in _SAID.split("/")])


def _extracted(view: OwnerView) -> list[tuple[object, ...]]:
    made = (one for one in view.columns.memories if one.source == "judge")
    return sorted((one.id, one.content, one.is_negated, one.mention_count, one.conflicts, one.facts) for one in made)


@given(st.lists(SAYINGS, max_size=8))
def test_however_the_turns_are_cut_into_runs_the_memories_are_the_same(texts: list[str]) -> None:
    turns = [
        created(text, f"t{n}", n, kind="episode", source_turns=(f"t{n}",), speaker="user")
        for n, text in enumerate(texts)
    ]

    def run(told: list[Told]) -> list[Told]:
        decisions = plan(viewed(*told), at(90), ["extract"])
        return [*told, *(Told(one.data, ((one.said_at or 0) - at(0)) / 86_400_000_000, one.actor) for one in decisions)]

    apart: list[Told] = []
    for turn in turns:
        apart = run([*apart, turn])
    at_once = run(turns)
    assert _extracted(viewed(*apart)) == _extracted(viewed(*at_once))
