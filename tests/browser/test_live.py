"""What comes, comes in: the log and the table are live, also after a worker was killed and the service came again."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Route

from tests.browser.pages import Console, place
from tests.browser.service import Service, served
from tests.integration.live import wait_until

Opens = Callable[..., Console]
OWNER = "live-1"
LISTED = re.compile(rf"/v1/owners/{OWNER}/memories\?")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of these tests' own, whose processes may be killed."""
    with served(tmp_path_factory.mktemp("live") / "store") as service:
        yield service


def add(service: Service, name: str) -> None:
    service.ask(f"/v1/owners/{OWNER}/memories", {"content": f"{name} came in.", "memory_id": name, "key": name})


def test_an_empty_store_says_what_to_do_and_its_first_memory_is_told_there(open_console: Opens, tmp_path: Path) -> None:
    with served(tmp_path / "store") as empty:
        console = open_console(empty)
        console.says("No memories yet")
        console.says("engramlog console --demo")
        assert console.violations() == []
        console.field("Owner").fill(OWNER)
        console.field("Memory").fill("The first of all.")
        console.button("Add a first memory").click()
        console.says("The first of all.")


def test_events_come_in_while_a_worker_is_killed_and_another_goes_on(open_console: Opens, alone: Service) -> None:
    add(alone, "before")
    log, table = open_console(alone, place(OWNER, "log")), open_console(alone, place(OWNER, "memories"))
    add(alone, "while-it-lives")
    for console in (log, table):
        console.says("while-it-lives came in.")
    killed = alone.workers()[-1]
    os.kill(killed, signal.SIGKILL)
    add(alone, "while-it-is-dead")
    for console in (log, table):
        console.says("while-it-is-dead came in.")
    assert alone.workers()[-1] != killed


def test_news_that_come_faster_than_answers_give_up_none_of_them(open_console: Opens, alone: Service) -> None:
    add(alone, "there-before")
    console = open_console(alone, place(OWNER, "memories"))
    console.says("there-before came in.")
    held: list[Route] = []
    given_up: list[str] = []
    holds = True
    console.page.on("requestfailed", lambda request: given_up.append(request.url))
    console.page.route(LISTED, lambda route: held.append(route) if holds else route.continue_())
    before = len([*console.asked_for("/memories?")])
    for number in range(3):
        with console.page.expect_request(re.compile(r"/inbox\?")):  # asked for with every news, and answered
            add(alone, f"news-{number}")
    assert len([*console.asked_for("/memories?")]) == before + 1
    assert given_up == []
    holds = False
    for one in held:
        one.continue_()
    console.says("news-2 came in.")
    console.settled()
    assert given_up == []


def test_what_the_service_has_no_room_for_is_asked_again_and_no_problem_is_shown(
    open_console: Opens, alone: Service
) -> None:
    add(alone, "waits-for-room")
    console = open_console(alone, "/owners")
    console.allowed = {429}
    left = [1, 2]
    busy = {"title": "Too many requests", "status": 429, "detail": "as much is in hand as may be"}

    def refuse(route: Route) -> None:
        if left and left.pop():
            route.fulfill(status=429, headers={"retry-after": "1"}, json=busy)
        else:
            route.continue_()

    console.page.route(LISTED, refuse)
    console.go(place(OWNER, "memories"))
    console.says("waits-for-room came in.")
    assert left == []
    assert console.page.locator(".problem").count() == 0


def test_a_held_log_stays_as_it_is_until_it_goes_on(open_console: Opens, alone: Service) -> None:
    add(alone, "here-already")
    console = open_console(alone, place(OWNER, "log"))
    console.says("here-already came in.")
    console.button("Pause").click()
    before = console.page.locator(".log tbody tr").count()
    add(alone, "not-shown-yet")
    wait_until(lambda: alone.ask(f"/v1/owners/{OWNER}/memories/not-shown-yet?trace=false"))
    assert console.page.locator(".log tbody tr").count() == before
    console.button("Resume").click()
    console.says("not-shown-yet came in.")


def test_a_service_that_comes_again_has_new_sessions_and_the_page_stays_where_it_was(
    open_console: Opens, tmp_path: Path
) -> None:
    first = Service(tmp_path / "store")
    try:
        add(first, "kept")
        console = open_console(first, place(OWNER, "memories"))
        console.says("kept came in.")
        port = int(first.url.rpartition(":")[2])
    finally:
        first.stop()
    console.allowed = {401, 403}
    with served(tmp_path / "store", port=port) as second:
        console.page.wait_for_selector(".door")
        console.says("The session has ended")
        console.field("Or paste a code").fill(second.link())
        console.button("Open").click()
        console.says("kept came in.")
        assert console.at == place(OWNER, "memories")
    console.faults = [one for one in console.faults if "401" not in one]
