"""What a speaker takes back or corrects: what becomes of what he had said, and what does not come back by being told again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engramlog_server.projections.lifecycle import plan
from engramlog_server.projections.lifecycle.extraction import verdicts
from engramlog_server.projections.views.view import OwnerView
from tests.given.events import Told, at, created
from tests.rows import each_row
from tests.unit.projections.lifecycle.test_judging import JOB, operations, turn, view_of


def carried_out(*events: Told, day: float = 100) -> list[Told]:
    """What was told, and what extraction made of it."""
    return [*events, *told_on(view_of(events), day)]


def told_on(view: OwnerView, day: float) -> list[Told]:
    """The decisions as events, each at its own time."""
    return [
        Told(one.data, day if one.said_at is None else (one.said_at - at(0)) / (at(1) - at(0)), one.actor)
        for one in plan(view, at(day), JOB)
    ]


def held(events: Iterable[Told]) -> list[str]:
    """What extraction made and still holds."""
    view = view_of(events)
    return [one.content for one in view.columns.memories if one.source == "judge" and not one.is_negated]


def made(events: Iterable[Told]) -> list[str]:
    return [one.content for one in view_of(events).columns.memories if one.source == "judge"]


RETRACTED = [
    ("I have a dog.", "I misspoke, I do not have a dog."), ("I have a dog named Rex.", "I misspoke. I don't have a dog."),
    ("I have two dogs.", "Sorry, I was wrong: I have no dogs."), ("I have a sister.", "I was wrong, I have no sister."),
    ("I live in Berlin.", "I do not live in Berlin, I misspoke."), ("I'm vegetarian.", "My mistake, I'm not vegetarian."),
    ("我有一只狗。", "我说错了，我没有狗。"), ("我养了一只橘猫。", "刚才说错了。我没有猫。"),
    ("我有一个姐姐。", "我记错了，我没有姐姐。"), ("我住在杭州。", "我说错了，我不住在杭州。"),
]  # fmt: skip


@each_row(("first", "second"), RETRACTED)
def test_a_retraction_takes_back_what_it_denies_and_puts_nothing_in_its_place(first: str, second: str) -> None:
    after = carried_out(turn(first, "t1", 1), turn(second, "t2", 2))
    assert held(after) == []
    assert len(made(after)) == 1
    (gone,) = (one for one in view_of(after).columns.memories if one.source == "judge")
    assert (gone.is_negated, gone.superseded_by) == (True, None)


@each_row(("first", "second"), RETRACTED)
def test_what_was_retracted_does_not_come_back_from_its_source_told_again(first: str, second: str) -> None:
    after = carried_out(turn(first, "t1", 1), turn(second, "t2", 22), day=30)
    again = carried_out(*after, turn(first, "other:t9", 20), day=50)
    assert held(again) == []
    (found,) = (
        one for one in verdicts(view_of([*after, turn(first, "other:t9", 20)]), at(50)) if one.turn_id == "other:t9"
    )
    assert (found.operation, found.reason) == ("BOOST", "said before it was taken back")


@each_row(("first", "second"), RETRACTED)
def test_what_is_said_later_than_its_retraction_holds_again(first: str, second: str) -> None:
    after = carried_out(turn(first, "t1", 1), turn(second, "t2", 22), day=30)
    assert len(held(carried_out(*after, turn(first, "t3", 40), day=50))) == 1


@each_row(("first", "second"), RETRACTED)
def test_the_sources_other_claims_stay(first: str, second: str) -> None:
    other = "我喜欢爬山。" if second.isascii() is False else "I love hiking."
    assert len(held(carried_out(turn(f"{first} {other}", "t1", 1), turn(second, "t2", 2)))) == 1


@each_row(
    ("first", "second"),
    [("I have a dog walker.", "I misspoke, I do not have a dog."), ("I have a cat.", "I misspoke, I do not have a dog."),
     ("I have a dog.", "I misspoke, do I have a dog?"), ("I have a dog.", "If I misspoke, I do not have a dog."),
     ("I have a dog.", "She said, I misspoke, I do not have a dog."), ("我养了一只橘猫。", "我说错了，我没有狗。")],
)  # fmt: skip
def test_what_is_not_denied_for_certain_stays(first: str, second: str) -> None:
    before = set(held(carried_out(turn(first, "t1", 1))))
    assert before <= set(held(carried_out(turn(first, "t1", 1), turn(second, "t2", 2))))


def test_another_speakers_retraction_takes_nothing_back() -> None:
    said = [
        turn("I have a dog.", "t1", 1, speaker="Ann"),
        turn("I misspoke, I do not have a dog.", "t2", 2, speaker="Bob"),
    ]
    assert "Ann has a dog" in held(carried_out(*said))[0]


@each_row(("first", "second"), [("I have a dog.", "I don't have a dog."), ("我有一只狗。", "我没有狗。")])
def test_a_denial_without_a_word_of_error_stands_in_the_place_of_what_it_denies(first: str, second: str) -> None:
    after = carried_out(turn(first, "t1", 1), turn(second, "t2", 2))
    (now,) = held(after)
    (old,) = (one for one in view_of(after).columns.memories if one.source == "judge" and one.is_negated)
    assert view_of(after).get(old.superseded_by or "").content == now  # type: ignore[union-attr]


REAFFIRMED = [
    ("I love hiking.", "I no longer like hiking.", "I still love hiking."),
    ("I like coffee.", "I don't like coffee any more.", "I like coffee again after all."),
    ("我喜欢咖啡。", "我不喜欢咖啡了。", "我还是喜欢咖啡。"),
    ("我喜欢咖啡。", "我不喜欢咖啡了。", "我又喜欢咖啡了。"),
]


@each_row(("first", "second", "third"), REAFFIRMED)
def test_what_is_liked_after_all_is_reaffirmed_by_the_user_and_not_told_twice(
    first: str, second: str, third: str
) -> None:
    before = carried_out(turn(first, "t1", 1), turn(second, "t2", 5), day=6)
    one, _ = (one for one in verdicts(view_of([*before, turn(third, "t3", 9)]), at(20)) if one.turn_id == "t3")
    after = view_of(carried_out(*before, turn(third, "t3", 9), day=20))
    liked = next(
        memory for memory in after.columns.memories if memory.source_turns == ("t1",) and memory.source == "judge"
    )
    assert (one.operation, one.memory_id) == ("BOOST", liked.id)
    assert not liked.is_negated


@each_row(
    ("first", "second", "third"),
    [("I like coffee.", "I don't like coffee any more.", "Actually, I like it again after all."),
     ("I like coffee.", "I don't like coffee any more.", "I still like it."), ("我喜欢咖啡。", "我不喜欢咖啡了。", "我还是喜欢。")],
)  # fmt: skip
def test_what_is_liked_after_all_need_not_be_named_right_behind_its_denial(first: str, second: str, third: str) -> None:
    near = carried_out(turn(first, "t1", 1), turn(second, "t2", 5), turn(third, "t3", 5.1), day=20)
    far = carried_out(turn(first, "t1", 1), turn(second, "t2", 5), turn(third, "t3", 9), day=20)
    (liked,), (denied,) = held(near), held(far)
    assert (liked.endswith(("likes coffee", "喜欢咖啡")), liked == denied) == (True, False)


CORRECTED = [
    ("I have a dentist appointment on Thursday at nine.", "No, Friday, not Thursday.", "Friday"),
    ("I have a dentist appointment on Thursday at nine.", "I meant Friday.", "Friday"),
    ("I have a dentist appointment on Thursday at nine.", "Not Thursday, but Friday.", "Friday"),
    ("My favourite colour is blue.", "Actually green now.", "green"),
    ("My favourite colour is blue.", "Actually, it's green now.", "green"),
    ("I live in Lisbon.", "Sorry, I meant Porto.", "Porto"), ("我打算周四去看牙医。", "不是周四，是周五。", "周五"),
    ("我打算周四去看牙医。", "我是说周五。", "周五"), ("我最喜欢的颜色是蓝色。", "不对，是绿色。", "绿色"),
    ("我妈妈的生日是5月3日。", "我说错了，是5月6日。", "5月6日"),
]  # fmt: skip


@each_row(("first", "second", "value"), CORRECTED)
def test_a_value_said_in_the_place_of_another_corrects_what_was_said_just_before(
    first: str, second: str, value: str
) -> None:
    after = carried_out(turn(first, "t1", 1), turn("I love hiking.", "t1b", 1.001), turn(second, "t2", 1.002))
    (now,) = (one for one in held(after) if "hiking" not in one)
    (old,) = (one for one in view_of(after).columns.memories if one.source == "judge" and one.is_negated)
    assert value in now
    was = next(one for one in ("Thursday", "blue", "Lisbon", "周四", "蓝色", "5月3日") if one in old.content)
    assert now == old.content.replace(was, value)


def test_what_no_memory_says_is_corrected_in_the_words_of_its_turn() -> None:
    said = [turn("The planning session is on Thursday.", "t1", 1), turn("No, Friday, not Thursday.", "t2", 1.001)]
    (now,) = held(carried_out(*said))
    assert now.startswith("User corrected: The planning session is on Friday")


@each_row(
    ("first", "second"),
    [("My favourite colour is blue.", "Is it Friday, not Thursday?"), ("My favourite colour is blue.", "Oh, green."),
     ("I met Ann on Thursday and Bob on Friday at the station.", "I meant Monday."),
     ("I love hiking.", "No, Friday, not Thursday."),
     ("My favourite colour is blue.", "I like green, not blue."),
     ("My favourite colour is blue.", '"No, green, not blue", he said.')],
)  # fmt: skip
def test_what_is_not_corrected_for_certain_overwrites_nothing(first: str, second: str) -> None:
    before = set(held(carried_out(turn(first, "t1", 1))))
    assert before <= set(held(carried_out(turn(first, "t1", 1), turn(second, "t2", 1.001))))


def test_one_of_several_that_may_be_meant_is_flagged() -> None:
    said = [turn("I have a dentist appointment on Thursday at nine. I'm flying to Oslo on Thursday.", "t1", 1),
            turn("No, Friday, not Thursday.", "t2", 1.001)]  # fmt: skip
    view = view_of(carried_out(*said))
    flagged = [one for one in view.columns.memories if one.conflicts]
    assert len(flagged) == 2
    assert not any(one.is_negated for one in view.columns.memories)


def test_a_correction_reaches_no_further_back_than_a_day() -> None:
    said = [turn("My favourite colour is blue.", "t1", 1), turn("Actually green now.", "t2", 3)]
    assert held(carried_out(*said)) == ["User's favourite colour is blue"]


def test_a_memory_that_was_added_by_hand_is_retracted_too() -> None:
    added = created("User has a dog", "m1", 1, source="user", kind="fact", category="fact")
    after = view_of(carried_out(added, turn("I misspoke, I do not have a dog.", "t1", 2)))
    assert after.get("m1").is_negated  # type: ignore[union-attr]


GUESSED = [
    (
        "So the plot is thirty square metres?",
        "No, sixty, not thirty.",
        "User corrected: the plot is sixty square metres",
    ),
    ("I take it you close on Thursdays?", "No, Mondays, not Thursdays.", "User corrected: User closes on Mondays"),
    ("您住在北京吧？", "不是北京，是上海。", "用户更正：用户住在上海"),
    ("So your exam is on Thursday.", "No, Friday.", "User corrected: User's exam is on Friday"),
    ("So you live in Bath?", "No, Bristol.", "User corrected: User lives in Bristol"),
    ("So you work at Acme?", "No, Beta.", "User corrected: User works at Beta"),
    ("您住在杭州对吗？", "不，苏州。", "用户更正：用户住在苏州"),
    ("Your exam is on Thursday, noted.", "It's Friday, not Thursday.", "User corrected: User's exam is on Friday"),
    ("It depends. You are in London, I take it?", "No, Bristol. Thanks!", "User corrected: User is in Bristol"),
    ("好的，您的牙医预约在周四。", "不是，是周五。", "用户更正：用户的牙医预约在周五"),
    ("You drink coffee, right?", "No, tea.", "User corrected: User drinks tea"),
    ("Do you drink coffee in the morning?", "No, tea.", "User corrected: User drinks tea in the morning"),
    ("Is your favourite colour blue?", "No, green.", "User corrected: User's favourite colour is green"),
    ("Got it, you prefer the red one.", "No, the green one.", "User corrected: User prefers the green one"),
    ("Are you a teacher?", "No, a librarian.", "User corrected: User is a librarian"),
    ("Do you live in Bath?", "No, Bristol.", "User corrected: User lives in Bristol"),
    ("Are you in London?", "No, in Bristol.", "User corrected: User is in Bristol"),
    ("I'll note that you use Vim.", "No, Emacs.", "User corrected: User uses Emacs"),
    ("You have two children, right?", "No, three.", "User corrected: User has three children"),
    ("你喝咖啡对吧？", "不，茶。", "用户更正：用户喝茶"),
    ("你喝咖啡对吧？", "不，喝茶。", "用户更正：用户喝茶"),
    ("你是护士吗？", "不是，是医生。", "用户更正：用户是医生"),
    ("你养了一只狗对吗？", "不，是猫。", "用户更正：用户养了一只猫"),
    ("好的，记下了，你喜欢蓝色。", "不，绿色。", "用户更正：用户喜欢绿色"),
    ("你用的是Vim吧？", "不，Emacs。", "用户更正：用户用的是Emacs"),
]
NOT_GUESSED = [
    ("Lovely!", "No, Bristol."),
    ("You flew from London to Paris?", "No, Bristol."),
    ("Did Anna write to you about London?", "No, Bristol."),
    ('You wrote "I live in London".', "No, Bristol."),
    ("Your exam is on Thursday.", "No, Friday, not Monday."),
    ("You are in London, I take it?", "No thanks."),
    ("您住在北京吧？", "不用，谢谢。"),
    ("You like tea, right?", "No, never."),
    ("Would you like coffee?", "No, tea."),
    ("You have two children, right?", "No, headaches."),
    ("You're a nurse, right?", "No, sorry."),
    ("Do you want blue?", "No, green."),
    ("Do you work today?", "No, tomorrow."),
    ("Did it turn blue?", "No, green."),
    ("You take your coffee black, I assume.", "No, with milk."),
    ("Do you drink coffee?", "No, headaches."),
    ("要蓝色吗？", "不，绿色。"),
    ("你喝咖啡吗？", "不，胃疼。"),
    ("你累吗？", "不，还好。"),
    ("你喝咖啡吗？", "不，不喝。"),
]


@each_row(("guess", "said", "content"), GUESSED)
def test_a_correction_puts_right_what_the_assistant_said(guess: str, said: str, content: str) -> None:
    after = carried_out(turn(guess, "a1", 1, source="assistant"), turn(said, "t1", 1.1))
    assert [one.partition(" (said")[0].partition("（")[0] for one in made(after)] == [content]


def test_a_bare_no_corrects_only_the_one_value_that_the_assistant_just_stated() -> None:
    rows = [
        (guess, said, made(carried_out(turn(guess, "a1", 1, source="assistant"), turn(said, "t1", 1.1))))
        for guess, said in NOT_GUESSED
    ]
    assert [row for row in rows if row[2]] == []
    before = turn("I flew to Paris in May.", "t0", 0.9)
    after = carried_out(
        before, turn("You live in London?", "a1", 1, source="assistant"), turn("No, Bristol.", "t1", 1.1)
    )
    assert [one for one in made(after) if "Bristol" in one] == [
        "User corrected: User lives in Bristol (said on 2024-01-02)"
    ]
    assert any("Paris" in one for one in held(after))


def test_a_denial_before_its_evidence_comes_is_not_outdone_by_it() -> None:
    first = carried_out(turn("I don't have a dog.", "t2", 22), day=30)
    after = carried_out(*first, turn("I have a dog.", "t1", 20), day=50)
    assert held(after) == held(first)
    assert len(made(after)) == 2


def test_a_corrected_triple_has_the_corrected_value() -> None:
    view = view_of(carried_out(turn("My favourite colour is blue.", "t1", 1), turn("Actually green now.", "t2", 1.001)))
    assert "User favourite colour green" in [one.text for one in view.graph.triples if not one.negation]


def imported(*talk: Told) -> list[Told]:
    return [replace(one, extra={"trust": "imported"}) for one in talk]


def test_a_change_that_an_imported_chat_reports_marks_nothing() -> None:
    talk = [turn("I drive a red Ford Focus.", "t1", 1), turn("I traded the Focus for an electric Kia.", "t2", 2)]
    assert operations(*talk) == ["ADD", "NEGATE"]
    assert operations(*imported(*talk)) == ["ADD", "ADD"]


def test_what_cannot_both_hold_counts_in_an_imported_chat_too() -> None:
    homes = [turn("I live in Porto.", "t1", 1), turn("I live in Lisbon.", "t2", 2)]
    births = [turn("I was born on 3 May 1990.", "t1", 1), turn("I was born on 9 June 1991.", "t2", 2)]
    assert operations(*imported(*homes)) == ["ADD", "NEGATE"]
    assert operations(*imported(*births)) == ["ADD", "FLAG"]
