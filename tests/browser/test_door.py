"""Who gets in: by a code that works once, into this tab and others of the same origin; nothing is left where others read."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Browser

from tests.browser.pages import Console, place
from tests.browser.service import Service
from tests.browser.story import OWNER

Opens = Callable[..., Console]


def test_a_link_opens_where_it_leads_and_its_code_stays_in_no_address_or_cookie(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memories", sort="weight"))
    assert console.at == place(OWNER, "memories", sort="weight")
    assert console.page.evaluate("document.cookie") == ""
    assert console.page.context.cookies() == []
    assert console.page.evaluate("Object.keys(localStorage).filter(name => localStorage[name].includes('egs1_'))") == []
    assert console.page.evaluate("sessionStorage.getItem('engramlog.session')").startswith("egs1_")
    assert not [one for one in console.requests if "egc1_" in one or "egs1_" in one]


def test_a_code_opens_once_and_the_second_page_is_told_that_it_was_used(browser: Browser, story: Service) -> None:
    link = story.link()
    first, second = browser.new_context(), browser.new_context(locale="en-GB")
    try:
        for context, opened in ((first, True), (second, False)):
            console = Console(context.new_page(), story)
            console.allowed = {403}
            console.page.goto(link)
            console.settled()
            assert (console.page.locator(".door").count() == 0) is opened
            console.was_sound()
        console.says("This code was used already")
        assert console.violations() == []
    finally:
        first.close()
        second.close()


def test_another_tab_of_the_same_browser_needs_no_second_code(page_of: Opens, story: Service) -> None:
    console = page_of(place(OWNER, "memories"))
    other = Console(console.page.context.new_page(), story)
    other.page.goto(f"{story.url}/#{place(OWNER, 'ask')}")
    other.settled()
    assert other.page.locator("h1").inner_text() == "Ask"
    other.was_sound()


def test_who_signs_out_is_at_the_door_and_his_token_is_worth_nothing(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memories"))
    shown = console.page.evaluate("sessionStorage.getItem('engramlog.session')")
    console.button("Sign out").click()
    console.page.wait_for_selector(".door")
    status = "async token => (await fetch('/v1/status', {headers: {authorization: `Bearer ${token}`}})).status"
    console.allowed = {401}
    assert console.page.evaluate(status, shown) == 401
    assert console.page.evaluate("sessionStorage.length") == 0


def test_without_a_session_a_link_waits_at_the_door_and_then_leads_where_it_was_to(
    browser: Browser, story: Service
) -> None:
    context = browser.new_context(locale="en-GB")
    try:
        console = Console(context.new_page(), story)
        console.page.goto(f"{story.url}/#{place(OWNER, 'ask', q='coffee')}")
        console.page.wait_for_selector(".door")
        assert console.violations() == []
        console.field("Or paste a code").fill(story.link())
        console.button("Open").click()
        console.page.wait_for_selector(".ask-bar")
        assert console.at == place(OWNER, "ask", q="coffee")
        console.was_sound()
    finally:
        context.close()


def test_an_address_that_leads_nowhere_says_so(page_of: Opens) -> None:
    console = page_of(place(OWNER, "memories"))
    console.page.evaluate("location.hash = '/owners/mei/nosuch'")
    console.says("Page not found")
    console.page.get_by_role("link", name="All owners").click()
    console.says("Choose an owner")


def test_a_link_with_a_code_works_in_a_tab_that_shows_the_console_already(page_of: Opens, story: Service) -> None:
    console = page_of(place(OWNER, "memories"))
    console.page.goto(story.link(place(OWNER, "ask")))
    console.page.wait_for_selector(".ask-bar")
    assert console.at == place(OWNER, "ask")


def test_who_signed_out_is_not_let_in_again_by_another_tab(page_of: Opens, story: Service) -> None:
    console = page_of(place(OWNER, "memories"))
    console.button("Sign out").click()
    console.page.wait_for_selector(".door")
    other = Console(console.page.context.new_page(), story)
    other.page.goto(story.link(place(OWNER, "ask")))
    other.page.wait_for_selector(".ask-bar")
    assert console.page.locator(".door").count() == 1
    other.was_sound()
