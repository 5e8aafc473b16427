"""correction.survives_reindex: what was corrected is told first, also after everything was made anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.trust.doors import Doors, doors, rebuilt

SHAPES = {
    "replacement": ("I live in Lisbon.", "I moved to Porto.", "where do I live", "Porto", "lives in Lisbon"),
    "flipped polarity": (
        "I like coffee.",
        "I don't like coffee any more.",
        "do I like coffee",
        "not like",
        "User likes coffee",
    ),
    "in Chinese": ("我喜欢吃香菜。", "我不喜欢吃香菜了。", "我喜欢吃香菜吗", "不喜欢", "用户喜欢吃香菜"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_correction_survives_reindex(tmp_path: Path, shape: str) -> None:
    said, corrected, asked, now, before = SHAPES[shape]
    with doors(tmp_path / "store") as opened:
        owner = opened.owner()
        opened.say("http", owner, said)
        opened.extract(owner, "rules")
        opened.say("http", owner, corrected)
        opened.extract(owner, "rules")
        told_first(opened, owner, asked, (now, corrected.rstrip(".。")), before)
    assert rebuilt(tmp_path / "store")["memories"] >= 3
    with doors(tmp_path / "store") as anew:
        told_first(anew, owner, asked, (now, corrected.rstrip(".。")), before)
        history = anew.app.reader.history(owner)["changes"]
        assert {"create", "negate"} <= {one["decision"] for one in history}, "the history is whole"


def told_first(of: Doors, owner: str, asked: str, either: tuple[str, str], before: str) -> None:
    found = [one["memory"] for one in of.app.reader.search(owner, asked, limit=10)["results"]]
    assert [text for text in found[:1] if either[0] in text or either[1] in text], found
    assert before not in found
