"""The manager, as a person works with it: find, add, edit, delete many, undo, answer what waits, take a file home."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.pages import Console, place
from tests.browser.service import Service

Opens = Callable[..., Console]


def told(story: Service, owner: str, **texts: str) -> None:
    """Memories of an owner of the test's own."""
    for name, text in texts.items():
        answer = story.ask(f"/v1/owners/{owner}/memories", {"content": text, "memory_id": name, "key": name})
        story.ask(f"/v1/owners/{owner}/profile", after=answer["position"])


def listed(console: Console) -> list[str]:
    console.settled()
    return [one for one in console.page.locator(".rows-space .row .row-link .said").all_inner_texts() if one]


def ids_of(story: Service, owner: str, mode: str = "review") -> set[str]:
    return {one["id"] for one in story.ask(f"/v1/owners/{owner}/memories?mode={mode}&limit=100")["memories"]}


def test_filters_stand_in_the_address_and_a_count_is_a_filter(page_of: Opens, story: Service) -> None:
    told(story, "filter-1", a="I like jasmine tea.", b="The kiln fires at noon.", c="I like oolong tea.")
    console = page_of(place("filter-1", "memories"))
    console.field("Text or id contains").fill("tea")
    console.page.wait_for_function("() => location.hash.includes('words=tea')")
    console.page.wait_for_function("() => document.querySelector('.manager-told').innerText.includes('2 memories')")
    console.settled()
    console.page.reload()
    console.settled()
    assert len(listed(console)) == 2
    console.field("Text or id contains").fill("no such words at all")
    console.says("No memory matches")


def test_what_is_added_is_there_at_once_and_so_is_what_is_edited_and_undone(page_of: Opens, story: Service) -> None:
    told(story, "edit-1", first="One to begin with.")
    console = page_of(place("edit-1", "memories"))
    console.button("＋ Add").click()
    console.field("Text").fill("The studio has a new wheel. 新的拉坯机。")
    console.field("Id (optional)").fill("wheel")
    assert console.violations() == []
    console.button("Add").click()
    console.says("Added.")
    console.says("The studio has a new wheel. 新的拉坯机。")
    console.go(place("edit-1", "memory", "wheel"))
    console.button("Edit").click()
    console.field("Text").fill("The studio has two new wheels.")
    console.button("Save").click()
    console.says("Saved.")
    console.says("The studio has two new wheels.")
    console.button("Undo").click()
    console.says("Undone.")
    console.page.wait_for_function(
        "() => document.querySelector('.memory-text').innerText.startsWith('The studio has a new wheel.')"
    )


def test_many_are_deleted_core_ones_are_spared_and_named_and_one_click_brings_them_back(
    page_of: Opens, story: Service
) -> None:
    told(story, "many-1", one="First thing.", two="Second thing.", three="Third thing.", name="I am called Ada.")
    story.command("edit", "many-1", "name", "--tier", "core", "--json")
    console = page_of(place("many-1", "memories"))
    console.button("Select all matches").click()
    console.says("4 selected")
    console.button("Delete").first.click()
    console.says("3 would be deleted")
    console.says("Kept: 1")
    assert ids_of(story, "many-1") == {"one", "two", "three", "name"}
    assert console.violations() == []
    console.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    console.says("3 deleted.")
    assert ids_of(story, "many-1") == {"name"}
    console.button("Undo").click()
    console.says("3 restored.")
    assert ids_of(story, "many-1") == {"one", "two", "three", "name"}


def test_the_manager_is_worked_by_keys_alone(page_of: Opens, story: Service) -> None:
    told(story, "keys-1", one="First thing.", two="Second thing.")
    console = page_of(place("keys-1", "memories"))
    keyboard = console.page.keyboard
    console.page.get_by_role("grid").focus()
    keyboard.press("ArrowDown")
    keyboard.press("Space")
    console.says("1 selected")
    reach(console, "Delete")
    keyboard.press("Enter")
    console.says("1 would be deleted")
    keyboard.press("Escape")
    console.page.wait_for_selector("dialog", state="detached")
    assert console.page.evaluate("document.activeElement.textContent") == "Delete"
    keyboard.press("Enter")
    console.says("1 would be deleted")
    reach(console, "Delete")
    keyboard.press("Enter")
    console.says("1 deleted.")
    reach(console, "Undo")
    keyboard.press("Enter")
    console.says("1 restored.")
    console.page.get_by_role("grid").focus()
    keyboard.press("Enter")
    console.page.wait_for_selector(".memory-text")


def reach(console: Console, name: str) -> None:
    """Tab until a control of this name has the focus."""
    for _ in range(200):
        console.page.keyboard.press("Tab")
        if console.page.evaluate("document.activeElement.textContent.trim()") == name:
            return
    raise AssertionError(f"no Tab leads to {name}")


@pytest.mark.parametrize(("answer", "said"), [("Accept", "No longer true."), ("Reject", "Unchanged.")])
def test_what_waits_is_answered_where_it_stands(answer: str, said: str, page_of: Opens, story: Service) -> None:
    owner = f"inbox-{answer.lower()}"
    told(story, owner, tea="I drink green tea.")
    body = {"actor": "assistant", "correction": "She drinks black tea.", "reason": "I heard it so", "key": "k"}
    story.ask(f"/v1/owners/{owner}/memories/tea/negate", body)
    console = page_of(place(owner, "memories"))
    console.page.get_by_role("main").get_by_role("button", name="Inbox").click()
    console.says("She drinks black tea.")
    console.says("I heard it so")
    item = console.page.locator(".inbox-item", has_text="would no longer be true")
    item.get_by_role("button", name=answer, exact=True).click()
    console.says(said)
    item.wait_for(state="detached")
    assert story.ask(f"/v1/owners/{owner}/memories/tea?trace=false")["is_negated"] is (answer == "Accept")


def test_everything_about_somebody_is_taken_home_as_a_file(page_of: Opens, story: Service, tmp_path: Path) -> None:
    told(story, "home-1", tea="I drink green tea. 绿茶")
    console = page_of(place("home-1", "proof"))
    console.button("Get the bundle …").click()
    with console.page.expect_download() as loaded:
        console.button("Download").click()
    loaded.value.save_as(tmp_path / "bundle.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "bundle.jsonl").read_text("utf-8").splitlines()]
    assert any("绿茶" in json.dumps(line, ensure_ascii=False) for line in lines)
    assert loaded.value.suggested_filename == "home-1-everything.jsonl"


def test_what_the_service_refuses_is_told_by_its_field_and_nothing_is_lost(page_of: Opens, story: Service) -> None:
    told(story, "refused-1", one="First thing.")
    console = page_of(place("refused-1", "memories"))
    console.allowed = {422}
    console.button("＋ Add").click()
    console.field("Text").fill("Something to keep.")
    console.field("Id (optional)").fill("not an id { }")
    console.button("Add").click()
    console.page.locator(".problem code", has_text="memory_id").first.wait_for()
    assert console.field("Text").input_value() == "Something to keep."


def test_an_empty_owner_says_what_to_do(page_of: Opens) -> None:
    console = page_of(place("nobody-yet", "memories"))
    console.says("nobody-yet has no memories here")
    console.page.get_by_role("main").get_by_role("button", name="＋ Add").last.click()
    console.field("Text").wait_for()
