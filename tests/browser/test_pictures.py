"""Pictures of the screens: made of the story, for the docs where `CONSOLE_PICTURES` names a folder (`make pictures`)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.browser.pages import Console, place
from tests.browser.story import OWNER

DOCS = Path(__file__).parents[2] / "docs"
Opens = Callable[..., Console]


class Picture(NamedTuple):
    """A screen as the docs show it, and what must stand on it before."""

    to: str
    holds: str
    width: int = 1280
    height: int = 800


COMPARED = {"q": "早上喝咖啡", "mode": "review", "as_of": "2025-04-20", "b.as_of": "2025-05-10", "beside": "moment"}
PICTURES = {
    "overview": Picture(place(OWNER, "overview"), ".topic a"),
    "memories": Picture(place(OWNER, "memories"), ".facet li"),
    "changes": Picture(place(OWNER, "compare", **{"from": "2025-04-20", "to": "2025-05-10"}), ".between li"),
    "ask": Picture(place(OWNER, "ask", q="早上喝什么 what does she drink", mode="review"), ".card"),
    "compare": Picture(place(OWNER, "ask", **COMPARED), ".rank-lines path"),
    "memory": Picture(place(OWNER, "memory", "coffee"), ".mark", height=900),
    "whatif": Picture(place(OWNER, "whatif", without="10:21", q="早上喝什么", as_of="2025-05-10"), "tbody tr"),
    "answer": Picture(place(OWNER, "answers", "ask-1"), "pre"),
    "log": Picture(place(OWNER, "log"), ".log tbody tr"),
    "proof": Picture(place(OWNER, "proof"), ".hash code"),
    "access": Picture("/access", ".grants li"),
    "operate": Picture("/operate", ".tight tbody tr"),
    "map": Picture(place(OWNER, "map"), ".map-picture .node", height=900),
    "memories-390": Picture(place(OWNER, "memories"), ".rows-space .row a", 390, 844),
    "memory-390": Picture(place(OWNER, "memory", "coffee"), ".mark", 390, 844),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_the_screen_is_made(name: str, page_of: Opens, tmp_path: Path) -> None:
    picture = PICTURES[name]
    console = page_of(picture.to, width=picture.width, height=picture.height)
    console.page.wait_for_selector(picture.holds)
    console.settled()
    folder = Path(os.environ.get("CONSOLE_PICTURES") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    console.page.screenshot(path=folder / f"{name}.png")
    assert (folder / f"{name}.png").stat().st_size > 10_000


def test_the_docs_show_the_pictures_that_are_made_and_no_others() -> None:
    shown = set(re.findall(r"pictures/console/([\w-]+)\.png", (DOCS / "how-to" / "console.md").read_text("utf-8")))
    assert shown == set(PICTURES)
    assert {file.stem for file in (DOCS / "pictures" / "console").glob("*.png")} == set(PICTURES)
