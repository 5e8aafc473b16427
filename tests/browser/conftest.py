"""A browser, a service with a story, and pages that fail the test by themselves where anything goes wrong in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.pages import Console
from tests.browser.service import Service, served
from tests.browser.story import tell_access, tell_more, told_demo
from tests.patience import PATIENCE
from tests.servers import NO_BROWSER

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium of this machine, without a window. Its driver keeps an event loop in this thread, which other suites cannot have."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        # Root runs it in CI, where its own sandbox cannot be set up.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=found, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the story; tests that change something change an owner or a memory of their own."""
    folder = tmp_path_factory.mktemp("console") / "store"
    told_demo(folder)
    with served(folder) as service:
        tell_more(service)
        tell_access(service)
        yield service


@pytest.fixture
def open_console(browser: Browser) -> Iterator[Callable[..., Console]]:
    """Opens pages of a service, each in a context of its own, and looks at the end that nothing went wrong in any."""
    opened: list[tuple[BrowserContext, Console]] = []

    def open_one(
        service: Service,
        to: str = "/",
        *,
        width: int = 1280,
        height: int = 800,
        chinese: bool = False,
        dark: bool = False,
    ) -> Console:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            locale="zh-CN" if chinese else "en-GB",
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            accept_downloads=True,
        )
        context.set_default_timeout(PATIENCE * 1000 / 3)
        console = Console(context.new_page(), service)
        opened.append((context, console))
        console.page.goto(service.link(to))
        console.settled()
        return console

    yield open_one
    for context, _ in opened:
        context.close()
    for _, console in opened:
        console.was_sound()


@pytest.fixture
def page_of(open_console: Callable[..., Console], story: Service) -> Callable[..., Console]:
    """Opens a page of the story."""
    return lambda to="/", **told: open_console(story, to, **told)
