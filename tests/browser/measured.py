"""How fast the console is in a browser of this machine: `make bench-browser` prints JSON.

Milliseconds are the browser's own, from the beginning of a navigation, in a context without a cache: until anything was
painted, until a text or picture was, and until what the screen is for could be read. Openings are interleaved with those of a
tiny answer of the same service (`/health`), which is what the browser and the machine take by themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.large import id_of, told_many
from tests.browser.pages import place
from tests.browser.service import Service, served
from tests.patience import PATIENCE

FEW, MANY = "few", "many"
"""Two owners of one store."""
SETTLED = "() => !document.querySelector('.loading, .stale, [aria-busy=\"true\"]')"
READABLE = """holds => { window.readable = null;
    const look = () => {
        if (window.readable !== null || !document.querySelector(holds)) return;
        window.readable = 0;
        requestAnimationFrame(() => setTimeout(() => { window.readable = performance.now(); }));
    };
    new MutationObserver(look).observe(document, {subtree: true, childList: true, attributes: true});
    addEventListener('DOMContentLoaded', look); }"""
"""Once something stands in the document, the time at which the frame that shows it is done."""
PAINTED = """() => ({
    first_paint_ms: performance.getEntriesByName('first-paint')[0]?.startTime,
    first_contentful_paint_ms: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    readable_ms: window.readable })"""
WATCHED = """() => {
    const told = window.watched = {frames: [], tasks: [], on: true};
    new PerformanceObserver(list => told.tasks.push(...list.getEntries().map(one => one.duration))).observe({type: 'longtask'});
    let was = null;
    const frame = now => { if (was !== null) told.frames.push(now - was); was = now; if (told.on) requestAnimationFrame(frame); };
    requestAnimationFrame(frame); }"""
SCROLLED = """([frames, rows]) => new Promise(resolve => {
    const box = document.querySelector('.rows');
    const step = rows === null ? (box.scrollHeight - box.clientHeight) / frames : rows * 56;
    let number = 0;
    const frame = () => {
        number += 1;
        if (step) box.scrollTop = number * step;
        if (number < frames) requestAnimationFrame(frame); else resolve();
    };
    requestAnimationFrame(frame); })"""


class Opening(NamedTuple):
    """A screen, and what stands on it once it can be read."""

    to: str | None
    """None: `/health`."""
    holds: str


def screens(owner: str) -> dict[str, Opening]:
    """The nine, in their order."""
    question = "What did they say about the garden?"
    return {
        "memories": Opening(place(owner, "memories"), ".rows-space .row-link"),
        "ask": Opening(place(owner, "ask", q=question, mode="review"), ".card"),
        "memory": Opening(place(owner, "memory", id_of(77)), ".mark"),
        "whatif": Opening(place(owner, "whatif"), "main .panel"),
        "answers": Opening(place(owner, "answers"), ".answers li"),
        "log": Opening(place(owner, "log"), ".log tbody tr"),
        "proof": Opening(place(owner, "proof"), ".hash code"),
        "operate": Opening("/operate", ".tight tbody tr"),
        "map": Opening(place(owner, "map"), ".map-picture .node"),
    }


def measure(folder: Path, few: int, many: int, rounds: int, frames: int = 300) -> dict[str, Any]:
    """Everything, on a new store in this folder."""
    began = datetime.now(UTC)
    before, start = os.getloadavg(), perf_counter()
    told_many(folder, {FEW: few, MANY: many})
    made = perf_counter() - start
    openings = {"health": Opening(None, "pre"), "memories of many": screens(MANY)["memories"], **screens(FEW)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENGRAMLOG_JOB_WORKERS", "0")  # daily work on so many memories would be measured too
        with served(folder) as service, _browser() as browser:
            _answer(service)
            first = {owner: _first_question(service, owner) for owner in (FEW, MANY)}
            for opening in openings.values():
                _opened(browser, service, opening)  # what the service makes at first use
            found: dict[str, list[dict[str, float]]] = {name: [] for name in openings}
            for number in range(rounds):
                print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
                for name, opening in openings.items():
                    found[name].append(_opened(browser, service, opening))
            smooth = _smooth(browser, service, frames)
            version = browser.version
    floor = median(one["first_contentful_paint_ms"] for one in found["health"])
    return {
        "at": began.isoformat(timespec="seconds"),
        "load": {"before": before, "after": os.getloadavg()},
        "cores": os.cpu_count(),
        "browser": version,
        "memories": {FEW: few, MANY: many},
        "store_made_s": round(made, 1),
        "first_question": first,
        "rounds": rounds,
        "openings": {name: _told(rows, floor) for name, rows in found.items()},
        "smooth": smooth,
    }


@contextmanager
def _browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        sys.exit("no chromium on PATH")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=found, args=arguments)
        yield started
        started.close()


def _answer(service: Service) -> None:
    """A turn whose prompt held memories, so that there is an answer to look at."""
    turn = {"turn_id": "asked", "role": "user", "text": "What about the garden?"}
    event = {
        "event_id": str(uuid5(NAMESPACE_URL, "measured")),
        "type": "TurnRecorded",
        "owner": FEW,
        "occurred_at": "2026-01-01T08:00:00Z",
        "actor": "user",
        "data": turn,
    }
    receipt = service.ask("/v1/events", [event])["receipts"][0]
    service.ask(f"/v1/owners/{FEW}/profile", after=receipt["position"])
    service.ask(f"/v1/owners/{FEW}/context", {"text": "the garden", "turn_id": "asked", "trace": True})


def _first_question(service: Service, owner: str) -> dict[str, float]:
    """What loading all of an owner's memories takes, and what the first count of them makes."""
    told = dict[str, float]()
    for name in ("memories", "counts"):
        used, start = _cpu(service), perf_counter()
        service.ask(f"/v1/owners/{owner}/{name}?mode=review")
        told[f"{name}_ms"] = round((perf_counter() - start) * 1e3)
        told[f"{name}_service_cpu_ms"] = _cpu(service) - used
    return told


def _opened(browser: Browser, service: Service, opening: Opening) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    try:
        context.set_default_timeout(PATIENCE * 1000)
        context.add_init_script(f"({READABLE})({json.dumps(opening.holds)})")
        page = context.new_page()
        address = f"{service.url}/health" if opening.to is None else service.link(opening.to)
        used = _cpu(service)
        page.goto(address)
        page.wait_for_function("() => window.readable && performance.getEntriesByName('first-contentful-paint').length")
        page.wait_for_function(SETTLED)
        return {**page.evaluate(PAINTED), "service_cpu_ms": _cpu(service) - used}
    finally:
        context.close()


def _told(rows: Sequence[dict[str, float]], floor: float) -> dict[str, float]:
    told = {name: round(median(row[name] for row in rows)) for name in rows[0]}
    worst = round(max(row["readable_ms"] for row in rows))
    ratio = round(median(row["readable_ms"] for row in rows) / floor, 1)
    return {**told, "readable_worst_ms": worst, "readable_to_health": ratio}


def _smooth(browser: Browser, service: Service, frames: int) -> dict[str, Any]:
    """How evenly frames come: at rest, while rows pass, and while a hand of the time bar is dragged."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    found: dict[str, Any] = {}
    page.goto(service.link(screens(MANY)["memories"].to or ""))
    page.wait_for_selector(".rows-space .row-link")
    for name, rows in (("at rest", 0), ("three rows a frame", 3), ("all rows in one fling", None)):
        page.wait_for_function(SETTLED)
        found[name] = _watched(page, lambda rows=rows: page.evaluate(SCROLLED, [frames, rows]))  # type: ignore[misc]
    for owner in (FEW, MANY):
        page.evaluate("to => { location.hash = to; }", screens(owner)["ask"].to)
        page.wait_for_selector(".card")
        page.wait_for_function(SETTLED)
        if not page.locator(".track").count():
            page.locator(".timebar-lead button").first.click()
        found[f"a hand is dragged: {owner}"] = _watched(page, lambda: _dragged(page, frames))
        page.wait_for_function(SETTLED)
    context.close()
    return found


def _dragged(page: Page, steps: int) -> None:
    box = page.locator(".track").first.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.8, middle)
    page.mouse.down()
    page.wait_for_timeout(1_000)  # what is asked as it begins to move
    for step in range(steps):
        share = 0.1 + 0.7 * abs(1 - 2 * step / steps)
        page.mouse.move(box["x"] + box["width"] * share, middle)
    page.keyboard.press("Escape")
    page.mouse.up()


def _watched(page: Page, work: Callable[[], object]) -> dict[str, float]:
    page.evaluate(WATCHED)
    work()
    told = page.evaluate("() => { window.watched.on = false; return window.watched; }")
    frames, tasks = told["frames"], told["tasks"]
    cuts = quantiles(frames, n=100)
    return {
        "frames": len(frames),
        "p50_ms": round(cuts[49], 1),
        "p95_ms": round(cuts[94], 1),
        "p99_ms": round(cuts[98], 1),
        "dropped": sum(max(round(one / (1_000 / 60)) - 1, 0) for one in frames),
        "long_tasks": len(tasks),
        "longest_task_ms": round(max(tasks, default=0)),
    }


def _cpu(service: Service) -> int:
    """Milliseconds of CPU that the service has taken with all its processes, Redis among them; the clock ticks in tens."""
    parents, ticks = dict[int, int](), dict[int, int]()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)], ticks[int(entry.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    family = {service.process.pid}
    while more := {one for one, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(ticks.get(one, 0) for one in family) * 1_000 // os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -P -m tests.browser.measured", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="openings of each screen, of which the median is told")
    parser.add_argument("--few", type=int, default=10_000, help="memories of the owner whose nine screens are opened")
    parser.add_argument("--many", type=int, default=100_000, help="memories of the other owner")
    asked = parser.parse_args()
    with TemporaryDirectory(prefix="engramlog-console-") as folder:
        print(json.dumps(measure(Path(folder) / "store", asked.few, asked.many, asked.rounds), indent=2))


if __name__ == "__main__":
    main()
