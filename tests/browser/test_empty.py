"""Screens without data say what to do, with an example that one click tries; axe finds nothing on them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.pages import Console, place

Opens = Callable[..., Console]
NOBODY = "nobody-yet"
EMPTY = {
    "overview": (place(NOBODY, "overview"), "Memories", "/memories"),
    "memories": (place(NOBODY, "memories", words="nothing"), "Clear all filters", "/memories"),
    "inbox": (place(NOBODY, "memories", view="inbox"), "Table", "/memories"),
    "ask": (place(NOBODY, "ask"), "What does the user like?", "q=What+does+the+user+like"),
    "answers": (place(NOBODY, "answers"), "See a context block", "tab=context"),
    "log": (place(NOBODY, "log", actor="judge"), "Clear all filters", "/log"),
    "compare": (place(NOBODY, "compare"), "Since a week ago", "from=2"),
    "what if": (place(NOBODY, "whatif"), "Under the Ebbinghaus law", "law=ebbinghaus"),
    "map": (place(NOBODY, "map", topic="tea"), "Draw everything", "/map"),
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("width", [1280, 390])
def test_an_empty_screen_has_an_example_that_one_click_tries(name: str, width: int, page_of: Opens) -> None:
    to, words, leads = EMPTY[name]
    console = page_of(to, width=width)
    example = console.page.locator(".empty").get_by_role("button", name=words)
    example.wait_for()
    assert (console.violations(), console.overflow()) == ([], 0)
    example.click()
    console.settled()
    assert leads in console.at
    assert console.at != to
    assert console.violations() == []
