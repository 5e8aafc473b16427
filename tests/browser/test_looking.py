"""Asking, one memory, what if, answers and the log: what looks changes nothing, what is opened leads on."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.browser.pages import Console, place
from tests.browser.service import Service
from tests.browser.story import HOSTILE, OWNER, SECRET, STRANGE
from tests.browser.test_manager import told
from tests.integration.live import wait_until

Opens = Callable[..., Console]


def test_looking_leaves_the_log_as_it_is_and_asking_as_the_agent_does_not(page_of: Opens, story: Service) -> None:
    told(story, "looked-1", tea="I drink green tea in the morning.")
    before = story.events("looked-1")
    console = page_of(place("looked-1", "ask"))
    console.field("Question").fill("what tea in the morning?")
    console.button("Ask").click()
    console.page.wait_for_selector(".card")
    for screen in ("memories", "map", "log", "proof"):
        console.go(place("looked-1", screen))
    console.go(place("looked-1", "memory", "tea"))
    console.page.wait_for_selector(".mark")
    assert story.events("looked-1") == before
    console.go(place("looked-1", "ask", q="what tea in the morning?"))
    console.button("Ask as the agent").click()
    console.says(re.compile("Asked as the agent: 1 memory was"))
    wait_until(lambda: story.events("looked-1") > before)


def test_why_one_stands_above_the_next_is_a_sentence_in_the_language_of_the_page(page_of: Opens) -> None:
    for chinese, button, words in (
        (False, "Why above the next?", "stands above"),
        (True, "为何高于下一条？", "高于|排在|之前|位于"),
    ):
        console = page_of(place(OWNER, "ask", q="早上喝咖啡", mode="review"), chinese=chinese)
        console.button(button).first.click()
        assert re.search(words, console.page.locator(".sentence").first.inner_text())


def test_other_owners_are_asked_too_and_each_card_leads_to_its_own_owner(page_of: Opens, story: Service) -> None:
    told(story, "shared-1", tea="I drink green tea in the morning.")
    told(story, "shared-2", milk="I drink milk in the morning.")
    console = page_of(place("shared-1", "ask", q="what in the morning?"))
    console.page.wait_for_selector(".card")
    field = console.field("Also ask")
    field.press_sequentially("shared-")
    console.page.wait_for_selector("datalist option[value='shared-2']", state="attached")
    field.press_sequentially("2")
    field.press("Enter")
    link = console.page.locator(".card a", has_text="milk")
    link.wait_for()
    assert "with=shared-2" in console.at
    assert "/owners/shared-2/memory/" in str(link.get_attribute("href"))
    assert console.page.locator(".card", has_text="tea").locator(".chip.cool").inner_text() == "shared-1"
    assert console.page.get_by_label("Compare with", exact=True).count() == 0
    console.button("Context block").click()
    console.says(re.compile(r"\[Shared memory of shared-2"))
    lines = console.page.locator(".context .figure").all_inner_texts()
    sizes = [
        re.search(rf"^{owner}: stable (\d+), this turn (\d+)$", "\n".join(lines), re.MULTILINE)
        for owner in ("shared-1", "shared-2")
    ]
    assert all(sizes), lines
    whole = sum(int(figure) for found in sizes if found for figure in found.groups())
    used = [int(line.removesuffix(" of 1,500 tokens")) for line in lines if line.endswith(" of 1,500 tokens")]
    assert (sum(used[:2]), len(used)) == (whole, 3), "each half's tokens, and of both"
    assert abs(used[2] - whole) <= 1, "an estimate of both is rounded once"
    console.button("Do not ask shared-2").click()
    console.page.wait_for_function("() => !location.hash.includes('with=')")
    assert console.field("Compare with").count() == 1


def test_what_is_withheld_stands_on_the_shelf_and_leads_to_the_mode_that_shows_it(page_of: Opens) -> None:
    console = page_of(place(OWNER, "ask", q="早上喝咖啡 coffee latte PIN"))
    console.page.wait_for_selector(".shelf")
    console.button("Ask in review mode").first.click()
    console.page.wait_for_function("() => location.hash.includes('mode=review')")
    console.page.wait_for_selector(".card")


def test_a_secret_is_shown_only_when_asked_for_with_a_reason_and_that_is_in_the_log(
    page_of: Opens, story: Service
) -> None:
    console = page_of(place(OWNER, "memory", "locker"))
    assert SECRET not in console.page.content()
    before = story.events(OWNER)
    console.button("Show the secret …").click()
    console.field("Why (recorded)").fill("asked at the desk")
    assert console.violations() == []
    console.button("Record and show").click()
    console.says(SECRET)
    wait_until(lambda: story.events(OWNER) > before)
    newest = story.ask(f"/v1/owners/{OWNER}/events?types=MemoriesRevealed&order=newest&limit=1")["events"][0]
    assert "locker" in str(newest["data"])
    console.go(place(OWNER, "memory", "m-hike"))
    console.page.locator(".memory-text[title=m-hike]").wait_for()
    assert SECRET not in console.page.content()
    console.go(place(OWNER, "memory", "locker"))
    assert SECRET not in console.page.content()


def test_a_mark_of_the_curves_opens_its_event_with_who_and_why(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memory", "coffee"))
    mark = console.page.locator(".mark[data-kind=negate]").first
    mark.focus()
    console.page.keyboard.press("Enter")
    console.says("the user said so")
    dialog = console.page.get_by_role("dialog")
    dialog.locator("tr.differs").first.wait_for()
    assert "No longer true" in dialog.inner_text()
    assert console.violations() == []
    console.button("Go to this time").click()
    console.page.wait_for_function("() => location.hash.includes('as_of=10')")


def test_a_negation_tells_first_what_it_would_touch_and_is_undone(page_of: Opens, story: Service) -> None:
    told(story, "negate-1", tea="I drink green tea.")
    console = page_of(place("negate-1", "memory", "tea"))
    console.button("Negate").click()
    console.page.locator(".touches li").first.wait_for()
    assert re.search(r"I drink green tea\.\s*: weight \d\.\d+ → \d\.\d+", console.page.locator(".touches").inner_text())
    assert story.ask("/v1/owners/negate-1/memories/tea?trace=false")["is_negated"] is False
    console.field("Why (kept in the log)").fill("she said so")
    console.page.get_by_role("dialog").get_by_role("button", name="Negate").click()
    console.says("Negated.")
    assert story.ask("/v1/owners/negate-1/memories/tea?trace=false")["is_negated"] is True
    console.button("Confirm: it is true").click()
    console.says("Confirmed.")
    assert story.ask("/v1/owners/negate-1/memories/tea?trace=false")["is_negated"] is False


def test_what_if_is_a_link_and_a_strike_shows_what_would_rank_instead(page_of: Opens) -> None:
    console = page_of(place(OWNER, "log", memory="coffee", types="MemoryNegated"))
    console.page.locator(".log tbody button.as-link").first.click()
    console.button("What if it had not happened?").click()
    console.page.wait_for_selector(".whatif tbody tr")
    assert "without=" in console.at
    questions = console.page.get_by_role("textbox", name="Questions to rank, one per line")
    questions.fill("早上喝什么")
    questions.blur()
    console.page.wait_for_function("() => location.hash.includes('q=')")
    console.settled()
    console.says("coffee")


def test_from_an_answer_to_its_memories_to_their_events(page_of: Opens) -> None:
    console = page_of(place(OWNER, "answers"))
    console.page.get_by_role("link", name=re.compile("早上喝什么")).first.click()
    console.page.wait_for_selector("pre")
    console.says("identical to what was sent")
    console.page.locator("tbody a").first.click()
    console.page.wait_for_selector(".memory-text")
    console.page.locator(".changes button.as-link").first.click()
    console.page.get_by_role("dialog").get_by_role("link").first.click()
    console.page.wait_for_selector("dialog pre")


def test_a_hostile_text_stays_text_on_every_screen(page_of: Opens) -> None:
    visible = HOSTILE.replace("\u202e", "\\u202E").replace("\u200b", "\\u200B")
    for to in ((STRANGE, "memories"), (STRANGE, "memory", "hostile"), (STRANGE, "log"), (STRANGE, "map")):
        console = page_of(place(*to))
        console.settled()
        assert console.page.title().endswith("Engramlog")
        assert console.page.locator("main script, main img, main iframe, main svg[onload]").count() == 0
        assert "\u202e" not in console.page.locator("main").inner_text()
    console.go(place(STRANGE, "memory", "hostile"))
    assert visible in console.page.locator(".memory-text").inner_text()


def test_a_hash_of_before_is_checked_and_a_wrong_one_is_told(page_of: Opens, story: Service) -> None:
    line = story.ask("/v1/heads")["line"]
    console = page_of(place(OWNER, "proof"))
    console.field("Heads").fill(line)
    console.button("Check").click()
    console.says("The heads agree: nothing before them was changed.")
    found = re.search(r"[0-9a-f]{64}", line)
    assert found is not None
    console.field("Heads").fill(line.replace(found[0], "0" * 64))
    console.button("Check").click()
    console.page.wait_for_selector(".verdict.bad, .problem")
    console.allowed = {422}
    console.field("Heads").fill("no heads at all")
    console.button("Check").click()
    console.says(re.compile("Field"))
