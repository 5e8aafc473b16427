"""What has one value at a time: a home or an age replaces another only where that is certain, in Chinese and English."""

from __future__ import annotations

from engramlog_server.projections.language.times.bounds import for_a_time, limited_to, of_earlier, set_in
from engramlog_server.projections.lifecycle.extraction import verdicts
from engramlog_server.projections.lifecycle.judge.known import outcome
from tests.given.events import at
from tests.rows import each_row
from tests.unit.projections.lifecycle.test_judging import turn, view_of


def judged(*texts: str) -> list[str]:
    """What is made of each statement, said a month after the one before."""
    turns = [turn(text, f"t{n}", 40 * n) for n, text in enumerate(texts)]
    return [one.operation for one in verdicts(view_of(turns), at(300))]


@each_row(
    ("known", "said"),
    [
        ("I live in Berlin.", "I moved to Boston last month."), ("I live in Berlin.", "I moved to Boston with my wife."),
        ("I live in Berlin, Germany.", "I live in the Netherlands now."),
        ("I live in a small flat in Berlin.", "I moved to Rome."),
        ("I live in Springfield, Illinois.", "I moved to Greenville, Texas."),
        ("I live in Springfield.", "Actually, I live in Greenville."),
        ("When I was 20, I moved to Boston.", "I live in Paris."), ("I'm 30.", "I turned 31."),
        ("I'm 30.", "Actually, I'm 29."), ("我住在北京。", "我搬到上海工作了。"),
        ("我住在北京市海淀区。", "我上个月搬到了成都市。"), ("我住在平遥县。", "我搬到介休市了。"),
        ("我住在南山区。", "我搬到福田区了。"), ("我今年二十八岁。", "我今年二十九岁。"),
    ],
)  # fmt: skip
def test_another_place_of_the_same_grade_or_a_higher_age_replaces_the_known_one(known: str, said: str) -> None:
    assert judged(known, said) == ["ADD", "NEGATE"]


@each_row(
    ("known", "said"),
    [
        ("I live in Berlin.", "I live in a small flat."), ("I live in Berlin.", "I live in the fifth floor."),
        ("I live in Berlin.", "I live in Germany."), ("I live in New York.", "I live in Brooklyn."),
        ("I live in Berlin.", "I live in Elm Street."), ("I live in Berlin.", "I live in Paris for the summer."),
        ("I live in Berlin.", "I live in Paris, but only for the summer."),
        ("I live in Paris for the summer.", "I live in Berlin."), ("I'm 30.", "In 2010, I turned 20."),
        ("I'm 30.", "I turned 20 in 2010."), ("I'm from Oslo.", "I'm from Norway."), ("我住在北京。", "我住在五楼。"),
        ("我住在北京。", "我住在朝阳区。"), ("我住在北京。", "我住在福田区。"), ("我住在上海。", "我住在学校宿舍。"),
        ("我住在成都。", "我住在四川省。"), ("我住在北京。", "我搬到上海了，不过只住一个夏天。"),
        ("我住在北京。", "我住在上海，暂时的。"), ("我是北京人。", "我来自中国。"),
    ],
)  # fmt: skip
def test_what_refines_or_is_said_of_a_while_stands_beside_what_is_known(known: str, said: str) -> None:
    assert judged(known, said) == ["ADD", "ADD"]


@each_row(
    ("known", "said"),
    [
        ("I live in Berlin.", "I moved to Boston in 2010."), ("I live in Berlin.", "In 2010, I moved to Boston."),
        ("I live in Berlin.", "When I was 20, I moved to Boston."), ("I live in Berlin.", "I live in Paris, Texas."),
        ("I live in Berlin.", "I live in Kreuzberg."), ("I live in Springfield.", "I moved to Greenville."),
        ("I live in Berlin.", "I moved to London and Paris."), ("I'm 30.", "I'm 29."),
        ("我住在北京。", "2010年，我搬到上海。"), ("我住在北京。", "我去年搬到上海了。"),
        ("我住在北京。", "我搬到平遥县。"), ("我住在上海。", "我住在北京西路。"), ("我今年28岁。", "我20岁。"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_flagged_and_overwrites_nothing(known: str, said: str) -> None:
    assert judged(known, said) == ["ADD", "FLAG"]


def test_a_new_home_replaces_every_home_that_it_excludes() -> None:
    turns = [turn("I live in Berlin.", "t1", 1), turn("I live in Germany.", "t2", 2), turn("I moved to Rome.", "t3", 3)]
    *_, moved = verdicts(view_of(turns), at(9))
    assert (moved.operation, [one.action for one in moved.decisions]) == (
        "NEGATE",
        ["add", "assert", "negate", "negate"],
    )


def test_an_age_of_another_year_asserts_no_age() -> None:
    (found,) = verdicts(view_of([turn("I turned 20 in 2010.", "t1", 1)]), at(9))
    assert (found.statement.content, found.statement.triple) == ("User turned 20 in 2010", None)


@each_row(
    ("text", "content"),
    [
        ("In 2010, I moved to Boston.", "In 2010, User moved to Boston"),
        ("When I was 20, I moved to Boston.", "When they were 20, User moved to Boston"),
        ("I moved to Boston, but only for the winter.", "User moved to Boston, but only for the winter"),
        ("2010年，我搬到上海。", "2010年，用户搬到上海"),
        ("我住在上海，暂时的。", "用户住在上海，暂时的"),
    ],
)
def test_a_statement_keeps_the_time_that_its_sentence_sets(text: str, content: str) -> None:
    (found,) = verdicts(view_of([turn(text, "t1", 1)]), at(9))
    assert found.statement.content == content


@each_row(
    "text",
    ["I live in Rome until May", "in Rome for a few months", "temporarily in Rome", "我暂时住在上海", "住三个月"],
)
def test_a_while_that_ends_is_heard(text: str) -> None:
    assert for_a_time(text)


@each_row("text", ["I live in Rome", "in Rome since 2019", "in Rome for two years now", "我住在上海"])
def test_what_lasts_is_no_while_and_not_earlier(text: str) -> None:
    assert not for_a_time(text)
    assert not of_earlier(text, 2024)


@each_row(
    ("text", "year", "earlier"),
    [
        ("moved in 2019", 2024, True), ("moved in 2024", 2024, False), ("moved in 2024", None, True),
        ("moved three years ago", 2024, True), ("moved two weeks ago", 2024, False), ("2019年搬到", 2024, True),
        ("2019年以来住在", 2024, False), ("小时候住在", 2024, True),
    ],
)  # fmt: skip
def test_an_earlier_time_is_heard(text: str, year: int | None, earlier: bool) -> None:
    assert of_earlier(text, year) is earlier


@each_row("text", ["My sister said", "I like it", "and in the end", "我觉得", "", "in 2010 my dog died"])
def test_what_says_more_than_a_time_sets_none(text: str) -> None:
    assert (set_in(text), limited_to(text)) == ("", "")


def test_a_name_is_corrected_only_when_its_speaker_says_so() -> None:
    pair = (("User is called Ann", "Ann"), ("User is called Bea", "Bea"), 2024)
    assert [outcome("is called", *pair, corrects=one) for one in (True, False)] == ["replaces", "may"]
