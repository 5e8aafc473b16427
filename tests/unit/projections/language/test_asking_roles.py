"""Who somebody is to the user, and a question said with the name for the role, or the role for the name."""

from __future__ import annotations

from engramlog_server.projections.language.kin import Somebody, people_in, renamed
from tests.rows import each_row

ANNA, LI = Somebody("sister", "Anna"), Somebody("表哥", "李强")


@each_row(
    ("text", "people"),
    [
        ("My sister is called Anna and lives in Graz.", [ANNA]),
        ("my older brother Tom plays chess", [Somebody("brother", "Tom")]),
        ("Karen is my boss", [Somebody("boss", "Karen")]),
        ("My mom's name is Ruth Miller", [Somebody("mom", "Ruth Miller")]), ("我表哥叫李强，在上海工作", [LI]),
        ("李强是我表哥", [LI]), ("我的猫叫小黑", [Somebody("猫", "小黑")]), ("my sister is nice", []),
        ("his sister is called Anna", []), ("我表哥很高兴", []), ("", []),
    ],
)  # fmt: skip
def test_a_text_introduces_people(text: str, people: list[Somebody]) -> None:
    assert people_in(text) == people


@each_row(
    ("question", "told"),
    [
        ("What does my sister do?", ("What does Anna do?",)), ("What does Anna do?", ("What does my sister do?",)),
        ("我表哥做什么工作？", ("李强做什么工作？",)), ("李强住在哪里？", ("我表哥住在哪里？",)),
        ("What does my brother do?", ()), ("What does my sister Anna do?", ()), ("What is tea?", ()),
    ],
)  # fmt: skip
def test_a_question_is_said_the_other_way(question: str, told: tuple[str, ...]) -> None:
    assert tuple(renamed(question, [ANNA, LI])) == told


def test_a_question_is_said_twice_more_at_most() -> None:
    many = [Somebody("sister", f"Anna{number}") for number in range(100)]
    assert len(renamed("What does my sister do?", many)) == 2


@each_row("hostile", ["my sister " * 10_000, "我表哥叫" * 10_000, "My brother is called " * 5_000 + "Tom"])
def test_a_hostile_text_is_read_up_to_a_bound(hostile: str) -> None:
    assert len(people_in(hostile)) <= 1_000
