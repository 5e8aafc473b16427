"""A page of the console as a test handles it: where it is, what it says, what went wrong in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Locator, Page, Request, Response

from tests.browser.service import Service


def place(owner: str, *parts: str, **params: Any) -> str:
    """The fragment of a screen of an owner."""
    asked = f"?{urlencode(params, doseq=True)}" if params else ""
    return "/" + "/".join(quote(one, safe="") for one in ("owners", owner, *parts)) + asked


class Console:
    """One tab. Whatever a page of ours should never do is noted, and fails the test at its end."""

    def __init__(self, page: Page, service: Service) -> None:
        self.page = page
        self.service = service
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.statuses: list[int] = []
        self.allowed: set[int] = set()
        """Statuses that this test asks for on purpose."""
        page.add_init_script(
            "clicks = 0; addEventListener('pointerdown', event => event.isTrusted && (clicks += 1), true)"
        )
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("request", self._asked)
        page.on("response", self._answered)
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.faults.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        self.requests.append(f"{request.method} {request.url.removeprefix(self.service.url)}")
        if not request.url.startswith((self.service.url, "blob:", "data:")):
            self.faults.append(f"asked elsewhere: {request.url}")

    def _answered(self, response: Response) -> None:
        self.statuses.append(response.status)
        if response.status >= 400 and response.status not in self.allowed:
            self.faults.append(f"{response.status}: {response.request.method} {response.url}")

    def was_sound(self) -> None:
        """Fails where something went wrong in this tab."""
        assert not self.faults, "\n".join(self.faults)

    def go(self, to: str) -> None:
        """To another place, as a link leads there."""
        self.page.evaluate("to => { location.hash = to; }", to)
        self.settled()

    def settled(self) -> None:
        """Wait until the page is drawn and what it asked for is there."""
        self.page.wait_for_selector("h1")
        self.page.wait_for_function("() => !document.querySelector('.loading, .stale, [aria-busy=\"true\"]')")

    @property
    def clicks(self) -> int:
        """How often the mouse was pressed since the page was loaded."""
        return int(self.page.evaluate("clicks"))

    @property
    def at(self) -> str:
        """The fragment of the address."""
        return self.page.url.partition("#")[2]

    def button(self, name: str) -> Locator:
        """A button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def field(self, name: str) -> Locator:
        """A field by its label."""
        return self.page.get_by_label(name, exact=True)

    def says(self, text: str | re.Pattern[str]) -> None:
        """Wait until the page says it."""
        self.page.get_by_text(text).first.wait_for()

    def asked_for(self, *parts: str) -> Iterable[str]:
        """Requests whose address holds all these."""
        return [one for one in self.requests if all(part in one for part in parts)]

    def violations(self) -> list[str]:
        """What axe finds against WCAG and its own rules: rule, and where."""
        found = Axe().run(self.page).response["violations"]
        return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
