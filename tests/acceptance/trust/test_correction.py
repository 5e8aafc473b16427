"""correction.survives_reindex: what was corrected is told first, also after everything was made anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from engramlog_server.projections.laws.modes import MODES
from tests.acceptance.trust.doors import Doors, doors, rebuilt


class Corrected(NamedTuple):
    """What is said, and then corrected in the same conversation."""

    said: str
    corrected: str
    asked: str
    now: tuple[str, ...]
    """What comes first says one of these."""
    before: str
    """What is told nowhere as if it held."""
    old: str
    """The value that does not hold, as triples have it; empty where there is none."""
    beside: str = ""
    """What else was said with it, and holds."""


SHAPES = {
    "replacement": Corrected(
        "I live in Lisbon.", "I moved to Porto.", "where do I live", ("Porto",), "lives in Lisbon", "Lisbon"
    ),
    "replacement, in Chinese": Corrected(
        "我住在东京。", "我搬到大阪了。", "我住在哪里", ("大阪",), "用户住在东京", "东京"
    ),
    "flipped polarity": Corrected(
        "I like coffee.", "I don't like coffee any more.", "do I like coffee", ("not like", "don't like"), "User likes coffee", ""
    ),
    "flipped polarity, in Chinese": Corrected(
        "我喜欢吃香菜。", "我不喜欢吃香菜了。", "我喜欢吃香菜吗", ("不喜欢",), "用户喜欢吃香菜", ""
    ),
    "retraction": Corrected(
        "I have a dog.", "I misspoke, I do not have a dog.", "do I have a dog", ("do not have",), "User has a dog", "a dog"
    ),
    "retraction, in Chinese": Corrected("我有一只狗。", "我说错了，我没有狗。", "我有狗吗", ("没有狗",), "用户有一只狗", "一只狗"),
    "part of it": Corrected(
        "I live in Lisbon and I work at a bank.", "No, Porto, not Lisbon.", "where do I live", ("Porto",), "lives in Lisbon",
        "Lisbon", "bank",
    ),
    "part of it, in Chinese": Corrected(
        "我住在东京，在银行工作。", "不是东京，是大阪。", "我住在哪里", ("大阪",), "用户住在东京", "东京", "银行"
    ),
    "part of what no memory says": Corrected(
        "My meeting with Ana is on Thursday at ten in room 5.", "No, Friday, not Thursday.", "when is my meeting with Ana",
        ("on Friday at ten in room 5",), "", "", "room 5",
    ),
    "part of what no memory says, in Chinese": Corrected(
        "我和小李的会议在周四上午十点，在五号会议室。", "不是周四，是周五。", "我和小李的会议是什么时候",
        ("在周五上午十点，在五号会议室",), "", "", "五号会议室",
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_correction_survives_reindex(tmp_path: Path, shape: str) -> None:
    one = SHAPES[shape]
    with doors(tmp_path / "store") as opened:
        owner = opened.owner()
        for text in (one.said, one.corrected):
            opened.say("client", owner, text, session="s")
            opened.extract(owner, "rules")
        holds(opened, owner, one)
    assert rebuilt(tmp_path / "store")["memories"] >= 2
    with doors(tmp_path / "store") as anew:
        holds(anew, owner, one)
        history = anew.app.reader.history(owner)["changes"]
        assert {"create"} | ({"negate"} if one.before else set()) <= {each["decision"] for each in history}, (
            "it is whole"
        )
        said = anew.memories(owner, "review").values()
        assert one.said in said, "what was said is still to be had"


def holds(of: Doors, owner: str, one: Corrected) -> None:
    """What holds now is first, and what is derived agrees."""
    results = of.app.reader.search(owner, one.asked, limit=10)["results"]
    found = [each["memory"] for each in results]
    assert [text for text in found[:1] if any(now in text for now in one.now)], found
    if one.before:
        assert not [text for text in found if one.before in text], found
    marked = {each["memory"] for each in results if each.get("corrected")}
    assert one.said not in found or one.said in marked, "where it is told, it is marked"
    assert one.beside in str(of.app.reader.search(owner, f"{one.asked} {one.beside}", limit=10)), "what else was said"
    facts = json.loads(of.told(owner, one.asked)["http facts"])["facts"]
    for fact in facts:
        if one.old and one.old in fact["object"] and not fact["negation"]:
            assert {each["status"] for each in fact["evidence"]} <= {"negated", "superseded"}, fact
    block = of.told(owner, one.asked)["http context"]
    assert any(now in block for now in one.now)


BOUNDED = {
    "in English": ("I live in Berlin.", "Until next Friday I am in Paris.", "where am I", "Paris", "Berlin"),
    "in Chinese": ("我住在北京。", "下周五之前我在上海。", "我在哪里", "上海", "北京"),
}


@pytest.mark.parametrize("language", BOUNDED)
def test_correction_bounded_in_time_is_first_until_then_and_not_after(tmp_path: Path, language: str) -> None:
    """It ends nothing that holds before and after; also where every projection was made anew."""
    said, corrected, asked, there, home = BOUNDED[language]

    def check(of: Doors) -> None:
        told_both(of, owner, asked, corrected, home)
        first_then_and_after(of, owner, asked, there, home)
        assert "negate" not in {one["decision"] for one in of.app.reader.history(owner)["changes"]}

    with doors(tmp_path / "store") as opened:
        owner = opened.owner()
        for text in (said, corrected):
            opened.say("client", owner, text, session="s")
            opened.extract(owner, "rules")
        check(opened)
    assert rebuilt(tmp_path / "store")["memories"] >= 2
    with doors(tmp_path / "store") as anew:
        check(anew)


def told_both(of: Doors, owner: str, asked: str, corrected: str, home: str) -> None:
    for place, text in of.told(owner, asked).items():
        if "search" in place or "context" in place:
            assert home in text, place
            assert corrected.rstrip(".。") in text, place


def first_then_and_after(of: Doors, owner: str, asked: str, there: str, home: str) -> None:
    for place, text in of.told(owner, asked).items():
        if "search" in place:
            assert 0 <= text.find(there) < text.find(home), place
        if "context" in place:
            assert "until 2" in text or "有效至 2" in text, place
    for mode in MODES:
        [first, *rest] = of.app.reader.search(owner, asked, mode=mode)["results"]
        assert there in first["memory"]
        assert [one for one in rest if home in one["memory"] and "until" not in one]
        later = of.app.reader.search(owner, asked, mode=mode, as_of="2027-06-01T00:00:00Z", include_faded=True)[
            "results"
        ]
        assert home in later[0]["memory"]
        over = next(one for one in later if there in one["memory"])
        assert over["until"] < "2027-06", "found all the same, with its bound"
