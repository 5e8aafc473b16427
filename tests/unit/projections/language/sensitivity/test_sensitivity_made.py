"""What people make up as passwords, misspelt words for one, codes that just came, words agreed; and what looks alike."""

from __future__ import annotations

import orjson

from engramlog_server.projections.language.sensitivity.level import MISSPELT, corrected, detect_sensitivity
from engramlog_server.projections.language.sensitivity.rule import JOINED, WORDS, made
from tests.places import ROOT
from tests.rows import each_row

LIST = ROOT / "tests" / "lists/told_in_passing.jsonl"


@each_row("wrong", ["psswrd", "pasword", "passwrd", "pwrd", "paswd", "passowrd", "paswword", "passsword", "pass-word"])
def test_a_misspelt_password_is_read_as_one(wrong: str) -> None:
    assert corrected(f"My {wrong.title()} is X", f"my {wrong} is x") == ("My password is X", "my password is x")
    assert detect_sensitivity(f"the {wrong} for the council site is Harrogate99b") == 3


@each_row("wrong", ["密马", "蜜码", "秘码", "密 码"])
def test_a_misspelt_chinese_password_is_read_as_one(wrong: str) -> None:
    assert corrected(f"奶奶的{wrong}是 815391", f"奶奶的{wrong}是 815391") == ("奶奶的密码是 815391",) * 2


@each_row("right", ["password", "passwords", "passport", "passion", "sword", "compass", "passed", "pawned"])
def test_a_word_that_is_right_is_not_corrected(right: str) -> None:
    assert right not in MISSPELT
    assert corrected(f"the {right} is new", f"the {right} is new") is None


@each_row("text", ["门口今天有人吗", "路口今年修了", "亲密马上就没了", "5 mm: a bit thick", "YYYY-MM-DD hh:mm:ss"])
def test_what_only_holds_the_letters_of_a_misspelt_word_is_not_corrected(text: str) -> None:
    assert corrected(text, text.lower()) is None


@each_row(
    ("value", "grade"),
    [
        *(
            (value, WORDS)
            for value in ("sproutHater_09", "t0ast-Parliament-88", "SockDrawer_10!!", "PicklesTheCat_7", "snowDrop441")
        ),
        *((value, JOINED) for value in ("muddywellies77", "woaichihuoguo2", "harriet_b92", "linlin.0912")),
        *(
            (value, 0)
            for value in ("BarnOwl_5G", "thinkpad480", "MacBookPro14", "IdeaPad-5i-Gen7", "Win11-23H2", "web-prod-03")
        ),
        *(
            (value, 0)
            for value in ("Stranger.Things.S04E09", "report_final_v3", "Draft_Chapter7", "RTX-4090", "v1.21.4-pre2")
        ),
        *((value, 0) for value in ("a1b2c3", "2024-11-03", "1Z94W7730368124517", "TL-WR841N", "Archer")),
    ],
)
def test_a_value_is_graded_by_its_form(value: str, grade: int) -> None:
    assert made(value) == grade


PASSING = [orjson.loads(line) for line in LIST.read_bytes().splitlines()]


@each_row("one", PASSING, ids=lambda one: f"{one['kind']}: {one['text']}")
def test_what_is_told_in_passing_is_known_and_what_comes_near_is_not_withheld(one: dict[str, object]) -> None:
    assert (detect_sensitivity(str(one["text"])) == 3) is one["secret"]
