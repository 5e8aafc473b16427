"""Five tasks from an owner's first screen, with every press of the mouse counted; what is typed is typed by keys."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.browser.pages import Console, place
from tests.browser.service import Service
from tests.browser.story import OWNER
from tests.browser.test_tasks import told

Opens = Callable[..., Console]


def to_screen(console: Console, name: str) -> None:
    """By the navigation, where the first field has the focus."""
    console.page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
    console.settled()


def test_why_the_first_is_first_in_two_clicks(page_of: Opens) -> None:
    console = page_of(place(OWNER, "overview"))
    to_screen(console, "Ask")
    console.page.keyboard.type("green tea in the morning, studio, weekends")
    console.page.keyboard.press("Enter")
    console.button("Why above the next?").first.click()
    console.page.locator(".sentence").first.wait_for()
    assert console.clicks <= 2


def test_a_correction_in_three_clicks(page_of: Opens, story: Service) -> None:
    told(story, "clicks-1", car="The car is parked on level B2.")
    console = page_of(place("clicks-1", "overview"))
    console.page.get_by_role("link", name="The car is parked on level B2.").first.click()
    console.button("Negate").click()
    console.page.get_by_role("dialog").wait_for()
    console.page.keyboard.type("The car is parked on level B3.")
    console.page.get_by_role("dialog").get_by_role("button", name="Negate").click()
    console.says("Negated.")
    assert console.clicks <= 3


def test_deleted_and_undone_in_three_clicks(page_of: Opens, story: Service) -> None:
    told(story, "clicks-2", one="First thing.", two="Second thing.")
    console = page_of(place("clicks-2", "overview"))
    to_screen(console, "Memories")
    console.page.get_by_role("button", name="Delete: one").click()
    console.page.get_by_role("dialog").get_by_label("Why (kept in the log)").wait_for()
    console.page.keyboard.type("no longer needed")
    console.page.keyboard.press("Enter")
    console.says(re.compile("withheld here: 1 deleted"))
    console.button("Undo").click()
    console.says("2 memories")
    assert console.clicks <= 3


def test_a_look_back_in_two_clicks(page_of: Opens) -> None:
    console = page_of(place(OWNER, "overview"))
    console.page.get_by_role("button", name="Time: now").click()
    console.page.locator(".track").first.click(position={"x": 60, "y": 10})
    console.says(re.compile("what had happened by"))
    assert console.clicks <= 2


def test_two_days_compared_in_three_clicks(page_of: Opens) -> None:
    console = page_of(place(OWNER, "overview"))
    to_screen(console, "Compare")
    assert console.page.evaluate("document.activeElement.type") == "date", "the first day is typed without a click"
    console.field("From").fill("2025-04-20")
    console.page.get_by_role("main").get_by_role("button", name="Compare", exact=True).click()
    console.page.locator(".between li").first.wait_for()
    assert console.clicks <= 3


def test_no_ring_frames_the_page_and_a_button_reached_by_tab_has_one(page_of: Opens) -> None:
    console = page_of(place(OWNER, "overview"))
    console.page.get_by_role("navigation").get_by_role("link", name="Proof").press("Enter")
    console.settled()
    ring = "element => getComputedStyle(element).outlineStyle"
    assert console.page.evaluate("document.activeElement.id") == "content"
    assert console.page.locator("#content").evaluate(ring) == "none"
    console.page.keyboard.press("Tab")
    assert console.page.locator(":focus").evaluate(ring) == "solid"
