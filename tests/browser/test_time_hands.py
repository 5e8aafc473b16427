"""The time bar: the past is amber and read-only, the moment stands in the address, hands are moved by mouse and by keys."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.browser.pages import Console, place
from tests.browser.service import Service
from tests.browser.story import OWNER

Opens = Callable[..., Console]


def test_the_past_is_told_and_nothing_can_be_changed_there(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memories", as_of="2025-04-20"))
    console.says("what had happened by 2025-04-20")
    assert "past" in (console.page.locator("html").get_attribute("class") or "")
    assert console.button("＋ Add").is_disabled()
    assert console.page.locator(".row-actions button:enabled").count() == 0
    console.button("Back to now").click()
    console.settled()
    assert console.at == place(OWNER, "memories")
    assert console.button("＋ Add").is_enabled()


def test_a_link_to_a_moment_shows_that_moment_and_other_screens_keep_it(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memory", "coffee", as_of="2025-04-20"))
    assert console.page.locator(".memory-small .chip").count() == 0, "a live memory has no chip"
    console.page.get_by_role("link", name="Ask", exact=True).click()
    console.settled()
    assert "as_of=2025-04-20" in console.at
    console.go(place(OWNER, "memory", "coffee"))
    console.page.wait_for_function(
        "() => document.querySelector('.memory-small .chip')?.textContent === 'kept version'"
    )


def test_a_hand_is_moved_by_keys_and_the_question_is_asked_once_when_they_rest(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memories", as_of="2025-04-20"))
    hand = console.page.get_by_role("slider", name="A, Happened")
    before = hand.get_attribute("aria-valuetext")
    asked = len(list(console.asked_for("/memories?")))
    hand.focus()
    for _ in range(5):
        console.page.keyboard.press("ArrowRight")
    console.page.wait_for_function("() => !location.hash.includes('2025-04-20')")
    console.settled()
    assert hand.get_attribute("aria-valuetext") != before
    assert len(list(console.asked_for("/memories?"))) == asked + 1
    console.page.keyboard.press("End")
    console.page.wait_for_function("() => !location.hash.includes('as_of')")


def test_a_moment_may_be_typed_as_a_day_an_instant_or_a_position(page_of: Opens, story: Service) -> None:
    console = page_of(place(OWNER, "memories", as_of="2025-04-20"))
    typed = console.page.get_by_label(re.compile("A, Happened: instant"))
    for told, stands in (
        ("2025-05-10", "2025-05-10"),
        ("2025-05-10 08:00", "2025-05-10T08:00:00Z"),
        ("10:12", "10:12"),
    ):
        typed.fill(told)
        typed.press("Enter")
        console.page.wait_for_function(
            "stands => decodeURIComponent(location.hash).includes(`as_of=${stands}`)", arg=stands
        )
        console.settled()
    typed.fill("yesterday, perhaps")
    typed.press("Enter")
    assert typed.input_value() == "10:12"


def test_ranks_follow_the_hand_where_it_rests_and_stay_where_it_is_let_go(page_of: Opens) -> None:
    console = page_of(place(OWNER, "ask", q="早上喝咖啡", mode="review", as_of="2025-04-20"))
    console.page.wait_for_selector(".card")
    first = console.page.locator(".card-text").first.inner_text()
    hand = console.page.get_by_role("slider", name="A, Happened").bounding_box()
    assert hand is not None
    mouse, middle = console.page.mouse, hand["y"] + hand["height"] / 2
    console.requests.clear()
    mouse.move(hand["x"] + hand["width"] / 2, middle)
    mouse.down()
    for step in range(20):
        mouse.move(hand["x"] + 30 + 5 * step, middle)
    console.page.wait_for_function("first => document.querySelector('.card-text').innerText !== first", arg=first)
    assert "as_of=2025-04-20" in console.at
    mouse.up()
    console.page.wait_for_function("() => !location.hash.includes('as_of=2025-04-20')")
    console.settled()
    asked = list(console.asked_for("/search?"))
    assert len(asked) < 20
    assert re.findall(r"as_of=([^&]+)", asked[-1]) == re.findall(r"as_of=([^&]+)", console.at)
    assert console.page.locator(".card-text").first.inner_text() != first
