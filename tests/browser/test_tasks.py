"""Five tasks as somebody does them who sees the console for the first time, by what stands on the page; keys where natural."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.pages import Console, place
from tests.browser.service import Service
from tests.browser.story import OWNER

Opens = Callable[..., Console]


def told(story: Service, owner: str, **texts: str) -> None:
    """Memories of an owner of the test's own, said in 2026."""
    for name, text in texts.items():
        body = {"content": text, "memory_id": name, "key": name, "occurred_at": "2026-03-01T08:00:00Z"}
        answer = story.ask(f"/v1/owners/{owner}/memories", body)
        story.ask(f"/v1/owners/{owner}/profile", after=answer["position"])


def test_find_why_a_memory_weighs_what_it_weighs(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memories"))
    console.page.get_by_text("I love strong coffee in the morning").click()
    console.says(re.compile("Why it weighs"))
    console.says("weight = time × mentions × conflict × importance × user × momentum")
    row = console.page.locator("tr", has=console.page.get_by_role("rowheader", name="mentions", exact=True)).first
    assert "newest mention" in (row.get_by_role("rowheader").get_attribute("title") or "")
    console.requests.clear()
    console.page.locator(".mark").nth(1).press("Enter")
    console.page.get_by_role("dialog").get_by_text("Mentioned again").wait_for()
    asked = [*console.asked_for("/events?", "limit=1"), *console.asked_for("/history?", "limit=20")]
    assert len(asked) == 2, "one event is found by its position, without reading the change log"


def test_correct_a_wrong_memory_by_typing_at_once(page_of: Opens, story: Service) -> None:
    told(story, "task-2", car="The car stands on level B2.")
    console = page_of(place("task-2", "memories"))
    console.page.get_by_text("The car stands on level B2.").click()
    console.button("Negate").click()
    console.page.get_by_role("dialog").wait_for()
    console.page.keyboard.type("The car stands on level B3.")
    assert console.field("What is true now? (optional, saved as a new memory)").input_value().endswith("B3.")
    console.page.get_by_role("dialog").get_by_role("button", name="Negate").click()
    console.says("Negated.")
    console.page.get_by_role("link", name="The car stands on level B3.").first.click()
    console.page.locator(".memory-text", has_text="B3").wait_for()


def test_delete_several_and_undo_it_with_one_note_each(page_of: Opens, story: Service) -> None:
    told(story, "task-3", one="First thing.", two="Second thing.", three="Third thing.")
    console = page_of(place("task-3", "memories"))
    for name in ("one", "two"):
        console.page.get_by_label(f"Select {name}", exact=True).click()
    console.button("Delete").first.click()
    console.says("2 would be deleted")
    console.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    console.says("1 memory · withheld here: 2 deleted")
    console.button("Undo").click()
    console.says("2 restored.")
    assert console.page.locator(".note").count() == 1
    console.says("3 memories")


def test_look_back_at_a_day_and_see_what_changed_since(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memories"))
    console.page.get_by_role("link", name="Compare", exact=True).click()
    console.says("Choose two times")
    console.field("From").fill("2025-04-20")
    console.page.get_by_role("main").get_by_role("button", name="Compare", exact=True).click()
    console.settled()
    console.says("Changes since 2025-04-20, on the time line Happened.")
    changed = console.page.locator(".between li", has_text="I love strong coffee in the morning")
    changed.get_by_text("live → kept version").wait_for()
    changed.get_by_text("No longer true").wait_for()
    assert console.violations() == []
    changed.locator("a.row-link").click()
    console.settled()
    assert ("as_of" in console.at.replace("b.as_of", ""), "b.as_of=2025-04-20" in console.at) == (False, True)
    console.page.go_back()
    console.settled()
    changed.locator(".between-cause a").first.click()
    console.page.get_by_role("dialog").wait_for()
    assert "/log?at=" in console.at


def test_what_changed_is_told_on_the_line_recorded_too_and_by_both_hands(page_of: Opens, story: Service) -> None:
    told(story, "task-4", one="First thing.")
    first = story.ask("/v1/owners/task-4/events?limit=10")["events"][-1]["position"]
    told(story, "task-4", two="Second thing.", three="Third thing.")
    console = page_of(place("task-4", "compare", known=first, b="now"))
    console.says(f"Changes since {first}, on the time line Recorded.")
    console.says("2 new")
    console.page.get_by_role("link", name="Second thing.").wait_for()
    console.go(place("task-4", "compare", b="now"))
    console.says("Choose two times")
    console.go(place("task-4", "compare", known=first, **{"b.as_of": "2026-04-01"}))
    console.says("A and B differ on both time lines")


def test_compare_two_moments_and_two_laws(page_of: Opens) -> None:
    console = page_of(place(OWNER, "compare", as_of="2025-04-20"))
    console.button("Compare with B").click()
    console.says("Changes since 2025-04-20, on the time line Happened.")
    console.page.get_by_role("link", name="Log", exact=True).click()
    console.says("B is used on Ask, Compare and a memory")
    assert console.page.get_by_role("slider", name=re.compile("^B, ")).count() == 0
    console.page.get_by_role("link", name="Ask", exact=True).click()
    console.settled()
    console.field("Question").fill("早上喝咖啡")
    console.field("Question").press("Enter")
    console.says("A: 2025-04-20")
    console.says("B: now")
    console.field("Compare with").select_option("law:ebbinghaus")
    console.says("Under the Ebbinghaus law")
    console.field("Compare with").select_option("")
    console.page.wait_for_selector(".card")


# --- on the way ----------------------------------------------------------------------------------------------------


def test_what_is_picked_is_exported_alone_in_whatever_state(page_of: Opens, story: Service, tmp_path: Path) -> None:
    told(story, "task-6", one="First thing.", two="Second thing.", three="Third thing.")
    story.ask("/v1/owners/task-6/memories/two/negate", {"key": "negate-two"})
    console = page_of(place("task-6", "memories"))
    console.page.get_by_role("main").get_by_role("button", name="Export", exact=True).click()
    console.says("Excludes deleted, merged, negated and pending memories. Select rows to export only those.")
    console.page.keyboard.press("Escape")
    for name in ("one", "two"):
        console.page.get_by_label(f"Select {name}", exact=True).click()
    console.button("Export: 2").click()
    chosen = console.field("What").locator("option:checked")
    assert chosen.inner_text() == "Selected: 2 memories"
    for form, name in (("jsonl", "task-6-picked.jsonl"), ("text", "task-6-picked.md")):
        if form == "text":
            console.button("Export: 2").click()
        console.field("Format").select_option(form)
        with console.page.expect_download() as loaded:
            console.button("Download").click()
        assert loaded.value.suggested_filename == name
        loaded.value.save_as(tmp_path / name)
    lines = (tmp_path / "task-6-picked.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["memory_id"] for line in lines} == {"one", "two"}
    assert "Second thing." in (tmp_path / "task-6-picked.md").read_text("utf-8")


def test_names_that_a_browser_takes_out_of_addresses_are_explained(page_of: Opens) -> None:
    console = page_of(place(".", "memories"))
    console.says("Browsers remove the names . and .. from addresses")
    console.go("/owners/mei/memory/..")
    console.says("Browsers remove the names . and .. from addresses")


def test_an_inbox_of_many_is_paged(page_of: Opens, story: Service) -> None:
    told(story, "task-7", **{f"m{n}": f"Thing number {n} is kept in drawer {n}." for n in range(53)})
    for n in range(53):
        story.ask(
            f"/v1/owners/task-7/memories/m{n}/negate",
            {"actor": "assistant", "reason": f"reason {n}", "key": f"negate/{n}"},
        )
    console = page_of(place("task-7", "memories", view="inbox"))
    console.says("1 to 50 of 53")
    console.button("Next").click()
    console.says("51 to 53 of 53")
    assert console.button("Next").is_disabled()
    for left in (2, 1, 50):  # the last of the page leads back to the page before
        console.page.locator(".inbox-item").first.get_by_role("button", name="Reject").click()
        console.page.wait_for_function("left => document.querySelectorAll('.inbox-item').length === left", arg=left)


def test_a_page_that_nobody_touches_says_so_and_one_that_is_touched_does_not(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memories"))
    told_of: list[tuple[str, str | None]] = []
    console.page.on("request", lambda one: told_of.append((one.url, one.headers.get("engramlog-unattended"))))
    console.page.evaluate("() => { const now = Date.now(); Date.now = () => now + 61_000; }")
    console.go(place(OWNER, "answers"))
    console.page.keyboard.press("Shift")
    console.go(place(OWNER, "log"))
    assert {header for url, header in told_of if "/answers?" in url} == {"1"}
    assert {header for url, header in told_of if "/events?" in url} == {None}


@pytest.mark.parametrize("chinese", [False, True])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_what_changed_is_sound_in_every_look(page_of: Opens, chinese: bool, dark: bool, width: int) -> None:
    look = page_of(place(OWNER, "compare", **{"from": "2025-04-20"}), width=width, chinese=chinese, dark=dark)
    look.page.wait_for_selector(".between li")
    assert (look.violations(), look.overflow()) == ([], 0)
