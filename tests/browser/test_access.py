"""Whoever has a key signs in with it, sees what it lets him, and is told the rest; administrators make and revoke keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.pages import Console, place
from tests.browser.service import Service
from tests.browser.story import OWNER

READS = {"verbs": ["read"], "owners": [OWNER]}
ADMIN = {"verbs": ["admin"], "owners": ["*"]}
SESSION = "sessionStorage.getItem('engramlog.session')"
RUN = count(1)
Signs = Callable[..., Console]


def signed_in(console: Console, key: str, *, chinese: bool = False) -> None:
    """Type a key at the door, and wait until it opened."""
    console.page.wait_for_selector(".door")
    console.field("密钥" if chinese else "Key").fill(key)
    console.button("登录" if chinese else "Sign in").click()
    console.page.wait_for_selector(".top")
    console.settled()


@pytest.fixture
def at_door(browser: Browser, story: Service) -> Iterator[Signs]:
    """Opens the page where nobody is signed in, and looks at the end that nothing went wrong in it."""
    opened: list[Any] = []

    def open_one(to: str = "/", *, chinese: bool = False, width: int = 1280, allowed: tuple[int, ...] = ()) -> Console:
        context = browser.new_context(
            locale="zh-CN" if chinese else "en-GB", viewport={"width": width, "height": 844}, reduced_motion="reduce"
        )
        console = Console(context.new_page(), story)
        console.allowed = set(allowed)
        opened.append((context, console))
        console.page.goto(f"{story.url}/#{to}")
        console.page.wait_for_selector(".door")
        return console

    yield open_one
    for context, _ in opened:
        context.close()
    for _, console in opened:
        console.was_sound()


@pytest.fixture
def key_of(story: Service, request: pytest.FixtureRequest) -> Callable[..., Any]:
    """A key of a principal of this run of this test alone: one that is run again has no key left over."""
    name = re.sub(r"[^a-z]+", "-", request.node.name.lower())[:40].strip("-")
    name += f"-{next(RUN)}"
    return lambda *grants, **told: story.key(name, *grants, **told)


def test_whoever_has_a_key_signs_in_by_keys_alone_and_the_page_keeps_none_of_it(
    at_door: Signs, key_of: Callable[..., Any]
) -> None:
    key = key_of(READS, expires_at="2099-03-01T00:00:00Z")["key"]
    console = at_door()
    field = console.field("Key")
    assert (field.get_attribute("type"), field.get_attribute("autocomplete")) == ("password", "off")
    field.focus()
    console.page.keyboard.type(key)
    console.page.keyboard.press("Enter")
    console.page.wait_for_selector(".topic a")
    assert console.at == place(OWNER, "overview")
    assert console.page.evaluate(SESSION).startswith("egs1_")
    kept = (
        "[...Object.values(localStorage), ...Object.values(sessionStorage), document.cookie, location.href].join(' ')"
    )
    assert "egl_" not in console.page.evaluate(kept)
    assert "egl_" not in console.page.content()
    me = console.page.get_by_role("link", name=re.compile("Signed in: .*, until 2099-03-01"))
    assert "until 2099-03-01" in me.inner_text()
    console.button("Sign out").click()
    console.page.wait_for_selector(".door")
    assert console.page.evaluate("sessionStorage.length") == 0


@pytest.mark.parametrize("chinese", [False, True])
def test_why_a_key_does_not_open_is_told_and_read_out(
    chinese: bool, at_door: Signs, story: Service, key_of: Callable[..., Any]
) -> None:
    revoked = key_of(READS)
    story.ask("/v1/keys/revoke", {"key_id": revoked["key_id"]})
    told = {
        "egl_k7m2p9qa_wrong": ("This is not a key of this service", "这不是本服务的密钥"),
        revoked["key"]: ("This key was revoked", "此密钥已被吊销"),
    }
    console = at_door(chinese=chinese, allowed=(403,))
    for key, words in told.items():
        console.field("密钥" if chinese else "Key").fill(key)
        console.button("登录" if chinese else "Sign in").click()
        console.says(re.compile(words[chinese]))
        assert console.page.evaluate("document.activeElement.getAttribute('role')") == "status"
        assert console.field("密钥" if chinese else "Key").input_value() == ""
        assert console.violations() == []
    assert console.overflow() == 0


@pytest.mark.parametrize("told", [(False, 1280), (True, 390)])
def test_a_narrower_key_is_offered_what_it_lets_and_nothing_else(
    told: tuple[bool, int], at_door: Signs, key_of: Callable[..., Any]
) -> None:
    chinese, width = told
    console = at_door(chinese=chinese, width=width)
    signed_in(console, key_of(READS)["key"], chinese=chinese)
    console.go(place(OWNER, "memories"))
    console.page.wait_for_selector(".rows-space .row a")
    shown = console.page.locator(".rows-space .row a").first.get_attribute("href")
    tabs = console.page.locator(".top nav a").all_inner_texts()
    assert tabs == (
        ["概览", "提问", "记忆", "图谱", "证明", "权限"]
        if chinese
        else ["Overview", "Ask", "Memories", "Map", "Proof", "Access"]
    )
    mode = console.field("显示" if chinese else "Mode")
    assert mode.locator("option").count() == 1
    assert console.page.get_by_role("button", name=re.compile("添加|Add")).is_disabled()
    assert shown
    console.go(shown.removeprefix("#"))
    console.page.wait_for_selector(".memory-head")
    verbs = console.page.locator(".screen-head .actions button")
    assert verbs.count() >= 3
    assert [one.is_disabled() for one in verbs.all()] == [True] * verbs.count()
    assert verbs.first.get_attribute("title")
    for screen in ("ask", "proof", "map"):
        console.go(place(OWNER, screen))
        console.settled()
    console.go(place(OWNER, "ask", q="早上喝咖啡"))
    console.page.wait_for_selector(".card")
    console.go("/access")
    console.page.wait_for_selector(".verb-list li")
    assert console.violations() == []
    assert console.overflow() == 0


def test_a_screen_that_a_key_does_not_open_says_what_it_needs_and_asks_nothing(
    at_door: Signs, key_of: Callable[..., Any]
) -> None:
    console = at_door()
    signed_in(console, key_of(READS)["key"])
    for to, words in {
        place("lin", "memories"): "It needs the verb “read” on lin.",
        place(OWNER, "log"): f"It needs the verb “audit” on {OWNER}.",
        "/operate": "It needs the verb “operate” on the store as a whole.",
    }.items():
        console.go(to)
        console.says(words)
        assert console.violations() == []
    assert list(console.asked_for("owners/lin")) == []
    assert list(console.asked_for("/v1/status")) == []
    assert list(console.asked_for("/v1/alarms")) == []


def test_what_is_refused_all_the_same_is_told_as_what_it_is(
    at_door: Signs, story: Service, key_of: Callable[..., Any]
) -> None:
    made = key_of({**READS, "modes": ["normal", "review"]})
    console = at_door(place(OWNER, "ask", q="咖啡", mode="review"), allowed=(403,))
    signed_in(console, made["key"])
    console.page.wait_for_selector(".ask-bar")
    story.ask("/v1/grants", {"principal": made["principal"], "grants": [READS]})
    console.field("Question").fill("早上")
    console.button("Ask").click()
    console.says("Your key may not do this here.")
    console.says(f"It needs the verb “read” on {OWNER}, in the mode “review”.")


def test_a_key_that_is_revoked_while_it_is_open_leads_to_the_door_which_says_so(
    at_door: Signs, story: Service, key_of: Callable[..., Any]
) -> None:
    made = key_of(READS)
    console = at_door(allowed=(401,))
    signed_in(console, made["key"])
    console.go(place(OWNER, "memories"))
    console.page.wait_for_selector(".live.open")
    story.ask("/v1/keys/revoke", {"key_id": made["key_id"]})
    console.page.wait_for_selector(".door")
    console.says("You were signed out: your key was revoked.")
    assert console.page.evaluate("sessionStorage.length") == 0
    assert console.at == place(OWNER, "memories")


def test_an_administrator_makes_a_key_that_is_shown_once_and_revokes_it(
    at_door: Signs, story: Service, key_of: Callable[..., Any]
) -> None:
    console = at_door("/access")
    signed_in(console, key_of(ADMIN)["key"])
    console.button("＋ Make a key").click()
    console.field("Principal").fill("made-in-the-console")
    console.field("Owners").fill(f"{OWNER}\nteam/*")
    assert console.violations() == []
    console.page.locator("dialog").get_by_role("button", name="Make a key").click()
    code = console.page.locator(".key-once code")
    code.wait_for()
    key = code.inner_text()
    assert console.violations() == []
    assert story.status_of(key, f"/v1/owners/{OWNER}/memories") == 200
    console.page.keyboard.press("Escape")
    console.says("After this window closes, the key cannot be shown again")
    console.button("I have saved it").click()
    console.page.wait_for_selector("dialog", state="detached")
    assert key not in console.page.content()
    panel = console.page.get_by_role("region", name="made-in-the-console")
    assert "all that start with team/" in panel.inner_text()
    panel.get_by_role("button", name=re.compile("Revoke the key")).click()
    console.page.locator("dialog").get_by_label("Why (kept in the log)").fill("it was a test")
    console.page.locator("dialog .danger").click()
    panel.get_by_text("revoked").wait_for()
    assert story.status_of(key, f"/v1/owners/{OWNER}/memories") == 401
    console.go("/access?view=said")
    console.says("it was a test")


def test_what_changes_stands_there_before_it_is_done(
    at_door: Signs, story: Service, key_of: Callable[..., Any]
) -> None:
    story.key("to-be-changed", READS)
    console = at_door("/access", chinese=True)
    signed_in(console, key_of(ADMIN)["key"], chinese=True)
    console.button("更改 to-be-changed 的授权").click()
    dialog = console.page.locator("dialog")
    go = dialog.get_by_role("button", name="使其生效")
    assert go.is_disabled()
    dialog.get_by_text("没有变更。").wait_for()
    dialog.get_by_label(re.compile("^删除 ")).check()
    changes = dialog.locator(".touches")
    assert ["取消" in changes.inner_text(), "新增" in changes.inner_text()] == [True, True]
    assert console.violations() == []
    go.click()
    console.page.wait_for_selector("dialog", state="detached")
    told = story.ask("/v1/access?principal=to-be-changed")["principals"][0]["grants"]
    assert [sorted(one["verbs"]) for one in told] == [["delete", "read"]]


def test_who_may_do_what_is_told_of_any_day_and_nothing_is_changed_there(
    at_door: Signs, key_of: Callable[..., Any]
) -> None:
    console = at_door("/access?as_of=2020-01-01")
    signed_in(console, key_of(ADMIN)["key"])
    console.says("There were no keys then.")
    assert console.button("＋ Make a key").is_disabled()
    console.button("Back to now").click()
    console.page.wait_for_selector(".principal")
    assert console.button("＋ Make a key").is_enabled()


def test_beyond_this_machine_what_is_of_the_store_says_where_it_is_answered(
    at_door: Signs, key_of: Callable[..., Any]
) -> None:
    console = at_door("/access", allowed=(403,))
    body = (
        '{"type":"urn:engramlog:problem:Forbidden","title":"Forbidden","status":403,"error":"Forbidden",'
        '"detail":"path: got \'/v1/access\'; allowed: on the operating listener alone"}'
    )
    console.page.route(
        "**/v1/access", lambda route: route.fulfill(status=403, content_type="application/problem+json", body=body)
    )
    signed_in(console, key_of(ADMIN)["key"])
    console.says(re.compile("Not available at this address"))
    console.says("Your rights")
    assert console.violations() == []
