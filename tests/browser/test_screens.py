"""Every screen opens with real data, in both languages, light and dark, wide and narrow, without a fault that one would meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.browser.pages import Console, place
from tests.browser.story import OWNER, STRANGE

Opens = Callable[..., Console]


class Shown(NamedTuple):
    """A screen, its title in both languages, and something that stands on it only when its data are there."""

    to: str
    english: str
    chinese: str
    holds: str


SCREENS = {
    "owners": Shown("/owners", "Choose an owner", "看谁的记忆？", ".owners li a"),
    "overview": Shown(place(OWNER, "overview"), "Overview", "概览", ".topic a"),
    "memories": Shown(place(OWNER, "memories"), "Memories", "记忆", ".rows-space .row a"),
    "inbox": Shown(place(OWNER, "memories", view="inbox"), "Memories", "记忆", ".inbox-item"),
    "statistics": Shown(place(OWNER, "memories", view="stats"), "Memories", "记忆", ".figure-box"),
    "ask": Shown(place(OWNER, "ask", q="早上喝咖啡", mode="review"), "Ask", "提问", ".card"),
    "context": Shown(place(OWNER, "ask", q="早上喝咖啡", tab="context"), "Ask", "提问", ".context pre"),
    "several owners": Shown(
        place(OWNER, "ask", **{"q": "早上喝咖啡 coffee", "with": ["lin", STRANGE]}), "Ask", "提问", ".card .chip.cool"
    ),
    "context of several owners": Shown(
        place(OWNER, "ask", **{"q": "早上喝咖啡 coffee", "with": "lin", "tab": "context"}),
        "Ask",
        "提问",
        ".context pre",
    ),
    "two moments": Shown(
        place(
            OWNER,
            "ask",
            q="早上喝咖啡",
            mode="review",
            as_of="2025-04-20",
            beside="moment",
            **{"b.as_of": "2025-05-10"},
        ),
        "Ask",
        "提问",
        ".rank-lines path",
    ),
    "another law": Shown(
        place(OWNER, "ask", q="早上喝咖啡", mode="review", beside="law:tiered"), "Ask", "提问", ".rank-column.right li"
    ),
    "memory": Shown(place(OWNER, "memory", "coffee"), "Memory", "一条记忆", ".mark"),
    "compare": Shown(
        place(OWNER, "compare", **{"from": "2025-04-20", "to": "2025-05-10"}), "Compare", "比较", ".between li"
    ),
    "what if": Shown(place(OWNER, "whatif", without_actors="user", q="早上喝什么"), "What if", "假如", "tbody tr"),
    "answers": Shown(place(OWNER, "answers"), "Answers", "回答", ".answers li"),
    "answer": Shown(place(OWNER, "answers", "ask-1"), "Answers", "回答", "pre"),
    "log": Shown(place(OWNER, "log"), "Log", "日志", ".log tbody tr"),
    "partition": Shown("/partitions/10", "Log", "日志", ".log tbody tr"),
    "proof": Shown(place(OWNER, "proof"), "Proof", "证明", ".hash code"),
    "map": Shown(place(OWNER, "map"), "Map", "图谱", ".map-picture .node"),
    "map as a list": Shown(place(OWNER, "map", **{"as": "list"}), "Map", "图谱", ".columns .panel a"),
    "access": Shown("/access", "Access", "权限", ".grants li"),
    "what was said of access": Shown("/access?view=said", "Access", "权限", ".log tbody tr"),
    "reads": Shown("/access?view=reads", "Access", "权限", ".log tbody tr"),
    "operate": Shown("/operate", "Operate", "运维", ".tight tbody tr"),
    "sealing": Shown("/operate", "Operate", "运维", ".sealing"),
    "strange owner": Shown(place(STRANGE, "memories"), "Memories", "记忆", ".rows-space .row a"),
    "hostile memory": Shown(place(STRANGE, "memory", "hostile"), "Memory", "一条记忆", ".hidden-sign"),
}
LOOKS = {
    "English, light, wide": {"width": 1280},
    "Chinese, dark, wide": {"width": 1280, "chinese": True, "dark": True},
    "English, dark, narrow": {"width": 390, "height": 844, "dark": True},
    "Chinese, light, narrow": {"width": 390, "height": 844, "chinese": True},
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_shows_its_data_and_axe_finds_nothing(name: str, look: str, page_of: Opens) -> None:
    shown, told = SCREENS[name], LOOKS[look]
    console = page_of(shown.to, **told)
    console.page.wait_for_selector(shown.holds)
    console.settled()
    title = shown.chinese if told.get("chinese") else shown.english
    assert console.page.locator("h1").inner_text() == title
    assert console.page.locator("html").get_attribute("lang") == ("zh-CN" if told.get("chinese") else "en")
    assert console.overflow() == 0
    assert console.violations() == []
