"""An owner of 100,000 memories: only what is seen exists, and every place of the table is reached without all that lies between."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Error, Route

from tests.browser.large import TAGGED, id_of, told_many
from tests.browser.pages import Console, place
from tests.browser.service import Service, served
from tests.patience import PATIENCE

OWNER = "archive"
MANY = 100_000
PAGES = MANY // 100
MOST_BUILT = 60
"""Rows in the document: those that are seen at 800 pixels, and some above and below."""
Opens = Callable[..., Console]
ROWS = """() => [...document.querySelectorAll('.rows-space .row')].map(row => ({
    index: Number(row.getAttribute('aria-rowindex')),
    id: row.querySelector('.row-link')?.dataset.id ?? null,
    top: row.getBoundingClientRect().top,
    tall: row.getBoundingClientRect().height,
}))"""
SEEN = """() => { const box = document.querySelector('.rows').getBoundingClientRect();
    const head = document.querySelector('.rows-head').getBoundingClientRect();
    return {top: head.bottom, bottom: box.bottom}; }"""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the owner. Its tests change nothing that another one looks at."""
    folder = tmp_path_factory.mktemp("scale") / "store"
    told_many(folder, {OWNER: MANY})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENGRAMLOG_JOB_WORKERS", "0")  # they would append 80,000 events about what has faded since
        with served(folder) as service:
            service.ask(f"/v1/owners/{OWNER}/counts?mode=review")
            yield service


@pytest.fixture
def opened(open_console: Opens, archive: Service) -> Opens:
    return lambda to, **told: open_console(archive, to, **told)


def by_id(opened: Opens, **params: Any) -> Console:
    """The table in the order of ids: the row of each number is known."""
    console = opened(place(OWNER, "memories", sort="id", order="ascending", **params))
    shows(console, 0)
    return console


def shows(console: Console, number: int) -> None:
    """Wait until the row of this memory is there with its words, and nothing more is waited for."""
    console.page.wait_for_selector(f'.row-link[data-id="{id_of(number)}"]')
    console.settled()


def right_rows(console: Console, first: int, last: int) -> list[dict[str, Any]]:
    """Rows as they stand: each at its place and once, those that are seen filled, and these two among those that are seen."""
    rows: list[dict[str, Any]] = console.page.evaluate(ROWS)
    seen = console.page.evaluate(SEEN)
    assert len(rows) <= MOST_BUILT
    assert [row["index"] for row in rows] == list(range(rows[0]["index"], rows[0]["index"] + len(rows)))
    assert [row["id"] for row in rows] == [id_of(row["index"] - 2) for row in rows]
    assert all(below["top"] == pytest.approx(row["top"] + row["tall"], abs=1) for row, below in pairwise(rows))
    whole = [r["index"] - 2 for r in rows if r["top"] >= seen["top"] - 1 and r["top"] + r["tall"] <= seen["bottom"] + 1]
    assert whole, "no row is seen"
    assert first <= whole[0], (first, whole)
    assert whole[-1] <= last, (whole, last)
    return rows


def scrolled(console: Console, share: float) -> None:
    """As a scroll bar that is let go at this share of its way."""
    console.page.evaluate(
        "share => { const box = document.querySelector('.rows'); box.scrollTop = share * (box.scrollHeight - box.clientHeight); }",
        share,
    )


def listings(console: Console) -> list[str]:
    """Pages that were asked for."""
    return [one for one in console.requests if re.match(rf"GET /v1/owners/{OWNER}/memories\?", one)]


def test_all_are_counted_and_only_those_that_are_seen_exist(opened: Opens) -> None:
    console = by_id(opened)
    console.says("100,000 memories")
    grid = console.page.get_by_role("grid")
    assert grid.get_attribute("aria-rowcount") == "100001"  # with the head
    assert console.page.locator(".rows-head .row").get_attribute("aria-rowindex") == "1"
    rows = right_rows(console, 0, 20)
    assert rows[0]["index"] == 2
    for share, number in ((0.5, MANY // 2), (1.0, MANY - 1)):
        scrolled(console, share)
        shows(console, number)
        right_rows(console, number - 20, number + 20)
    assert console.page.evaluate("document.querySelectorAll('*').length") < 3_000
    assert console.violations() == []


def test_keys_reach_the_last_row_and_the_first_and_a_page_further(opened: Opens) -> None:
    console = by_id(opened)
    grid, press = console.page.get_by_role("grid"), console.page.keyboard.press
    grid.focus()
    for key, number in (("End", MANY - 1), ("ArrowUp", MANY - 2), ("Home", 0)):
        press(key)
        shows(console, number)
        active = console.page.locator(".row.active")
        assert active.get_attribute("aria-rowindex") == str(number + 2)
        assert active.get_attribute("id") == grid.get_attribute("aria-activedescendant")
        right_rows(console, max(number - 20, 0), min(number + 20, MANY - 1))
    press("PageDown")
    further = int(console.page.locator(".row.active").get_attribute("aria-rowindex") or 0) - 2
    assert 5 <= further <= 20
    for step in range(2, 60):  # into the sixth page
        press("PageDown")
        console.page.wait_for_function(
            "index => document.querySelector('.row.active')?.getAttribute('aria-rowindex') === String(index)",
            arg=further * step + 2,
        )
    shows(console, further * 59)
    press("Enter")
    console.page.wait_for_selector(".memory-text")
    assert console.at.endswith(id_of(further * 59))


def test_the_wheel_goes_from_row_to_row_and_asks_for_no_page_twice(opened: Opens) -> None:
    console = by_id(opened)
    box = console.page.get_by_role("grid").bounding_box()
    assert box is not None
    console.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tall, top = 56, 0.0
    while top < 350 * tall:
        console.page.mouse.wheel(0, 40 * tall)
        was, top = (
            top,
            float(
                console.page.wait_for_function(
                    "was => { const top = document.querySelector('.rows').scrollTop; return top > was && top; }",
                    arg=top,
                ).json_value()
            ),
        )
        console.page.wait_for_function(
            "() => [...document.querySelectorAll('.rows-space .row')].every(row => row.querySelector('.row-link'))"
        )
        assert top > was
    console.settled()
    rows = console.page.evaluate(ROWS)
    right_rows(console, rows[0]["index"] - 2, rows[-1]["index"] - 2)
    offsets = [int(parse_qs(urlsplit(one).query)["offset"][0]) for one in listings(console)]
    assert sorted(offsets) == [100 * number for number in range(len(offsets))]


def test_the_scroll_bar_is_dragged_far_and_what_lies_between_is_not_asked_for(opened: Opens) -> None:
    console = by_id(opened)
    asked = len(listings(console))
    for step in range(1, 101):
        scrolled(console, 0.8 * step / 100)
    number = MANY * 8 // 10
    shows(console, number)
    right_rows(console, number - 20, number + 20)
    assert len(listings(console)) - asked <= 100 < 0.8 * PAGES


def test_while_a_fling_lasts_only_a_few_questions_are_on_their_way_and_the_place_it_ends_at_is_asked_for(
    opened: Opens,
) -> None:
    console = by_id(opened)
    held: list[Route] = []
    holds = True
    console.page.route(
        re.compile(rf"/v1/owners/{OWNER}/memories\?"), lambda route: held.append(route) if holds else route.continue_()
    )
    asked = len(listings(console))
    stalls = console.page.evaluate(
        """async frames => {
            const box = document.querySelector('.rows');
            const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
            let was = await frame();
            let stalls = 0;
            for (let number = 1; number <= frames; number += 1) {
                box.scrollTop = (box.scrollHeight - box.clientHeight) * number / frames;
                const now = await frame();
                stalls += now - was > 100 ? 1 : 0;
                was = now;
            }
            return stalls;
        }""",
        200,
    )
    console.page.wait_for_function("() => document.querySelector('.row-link') === null")
    assert len(listings(console)) - asked <= 2 * (stalls + 2), "a rest of the hand, or one of the machine, may ask anew"
    holds = False
    for one in held:
        with suppress(Error):  # what was given up is no longer there
            one.continue_()
    shows(console, MANY - 1)
    right_rows(console, MANY - 30, MANY - 1)


def test_filter_order_and_picking_are_as_with_few(opened: Opens) -> None:
    console = by_id(opened)
    scrolled(console, 0.5)
    shows(console, MANY // 2)
    console.page.locator(".facet-button", has_text="rare").click()
    console.page.wait_for_function("() => document.querySelector('.manager-told').innerText.includes('100 memories')")
    shows(console, 0)
    assert console.page.get_by_role("grid").get_attribute("aria-rowcount") == "101"
    assert console.page.get_by_role("grid").evaluate("box => box.scrollTop") == 0
    ids = [row["id"] for row in console.page.evaluate(ROWS)]
    assert ids == [id_of(TAGGED * number) for number in range(len(ids))]
    console.button("Select all matches").click()
    console.says("100 selected")
    console.field("Order").select_option("descending")
    shows(console, MANY - TAGGED)
    console.says("100 selected")
    console.button("Clear all filters").click()
    shows(console, MANY - 1)
    assert console.page.locator(".row.picked").count() == 0  # the newest of them lies further down
    console.button("Select all matches").click()
    console.says("1,000 selected")
    console.says("At most 1,000 at once")
    assert console.page.locator(".row.picked").count() == console.page.locator(".rows-space .row").count()
    console.field("Text or id contains").fill(id_of(4_321))
    shows(console, 4_321)
    assert console.page.locator(".rows-space .row").count() == 1


def test_a_moment_of_the_past_is_asked_for_once_and_not_row_by_row(opened: Opens) -> None:
    console = by_id(opened)
    console.page.set_default_timeout(PATIENCE * 1000)
    console.allowed = {429}  # each of these questions takes seconds: what there is no room for at once is asked again
    console.page.get_by_role("button", name=re.compile("^◷")).click()
    # Before it is known when all began, the track is of the last day.
    console.page.wait_for_function("() => /\\d{4}-\\d\\d-\\d\\d/.test(document.querySelector('.span-told')?.innerText)")
    track = console.page.locator(".track").first.bounding_box()
    assert track is not None
    mouse, middle = console.page.mouse, track["y"] + track["height"] / 2
    console.requests.clear()
    mouse.move(track["x"] + track["width"] * 0.8, middle)
    mouse.down()
    for step in range(30):
        mouse.move(track["x"] + track["width"] * (0.8 - 0.02714 * step), middle)
    assert [one for one in console.requests if f"/owners/{OWNER}/" in one and "/feed" not in one] == []
    mouse.up()
    console.page.wait_for_function("() => location.hash.includes('as_of=')")
    console.settled()
    shows(console, 0)
    total = int(console.page.get_by_role("grid").get_attribute("aria-rowcount") or 0) - 1
    assert 0 < total < MANY
    right_rows(console, 0, 20)
    asked = [one.split("?")[0] for one in console.requests if f"/owners/{OWNER}/" in one]
    assert len(set(asked)) <= 5, asked
    refused = console.statuses.count(429)
    assert asked.count(f"GET /v1/owners/{OWNER}/memories") <= 1 + refused
    assert len(asked) <= 5 + refused, asked


@pytest.mark.parametrize(
    ("to", "holds"),
    [
        (place(OWNER, "memory", id_of(77_777)), ".mark"),
        (place(OWNER, "map"), ".map-picture .node"),
        (place(OWNER, "memories", view="stats"), ".figure-box"),
        (place(OWNER, "log"), ".log tbody tr"),
        (place(OWNER, "ask", q="What did they say about the garden?", mode="review"), ".card"),
        (place(OWNER, "proof"), ".hash code"),
        ("/operate", ".tight tbody tr"),
    ],
    ids=["curves", "map", "statistics", "log", "ask", "proof", "operate"],
)
def test_another_screen_of_such_an_owner_opens(to: str, holds: str, opened: Opens) -> None:
    console = opened(to)
    console.page.wait_for_selector(holds)
    console.settled()
    assert console.page.evaluate("document.querySelectorAll('*').length") < 6_000


def test_more_rows_than_a_browser_can_make_an_element_for_are_reached_all_the_same(opened: Opens) -> None:
    """Two million rows of 38 pixels, five times the tallest element: the service's pages, told again under further numbers."""
    count = 2_000_000

    def more(route: Route) -> None:
        asked = urlsplit(route.request.url)
        offset = int(parse_qs(asked.query)["offset"][0])
        address = route.request.url.replace(f"offset={offset}", f"offset={offset % MANY}")
        answer = route.fetch(url=address)
        told = answer.json() | {"total": count}
        for number, row in enumerate(told["memories"]):
            row["id"] = id_of(offset + number)
        route.fulfill(response=answer, body=json.dumps(told))

    console = opened("/owners")
    console.page.route(re.compile(rf"/v1/owners/{OWNER}/memories\?"), more)
    console.go(place(OWNER, "memories", sort="id", order="ascending"))
    shows(console, 0)
    right_rows(console, 0, 20)
    grid = console.page.get_by_role("grid")
    grid.focus()
    for key, number in (("End", count - 1), ("PageUp", count - 9), ("Home", 0)):
        console.page.keyboard.press(key)
        shows(console, number)
        right_rows(console, max(number - 20, 0), min(number + 20, count - 1))
    scrolled(console, 0.5)
    shows(console, count // 2)
    right_rows(console, count // 2 - 20, count // 2 + 20)
    scrolled(console, 1)
    shows(console, count - 1)
    assert right_rows(console, count - 20, count - 1)[-1]["index"] == count + 1
