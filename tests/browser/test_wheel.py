"""The wheel, installed into an empty environment: its console opens in a browser, every screen, and nothing comes from the tree."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser

from tests.browser.pages import Console
from tests.browser.story import OWNER
from tests.browser.test_screens import SCREENS
from tests.integration.live import wait_until
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.wheels import Installed, built

NINE = ("memories", "ask", "memory", "what if", "answers", "log", "proof", "operate", "map")
MARK = "<!-- of the installed copy -->"
WHERE = """
import json, sys
from engramlog_server import consumers, events, projections
from engramlog_server.api.http import document
from engramlog_server.ops import main
modules = [one.__file__ for one in (document, consumers, events, main, projections)]
print(json.dumps([modules, sys.path]))
"""
TOLD_A_MODEL = """async owner => (await fetch(`/v1/owners/${owner}/context`, {
  method: "POST",
  headers: {
    authorization: `Bearer ${sessionStorage.getItem("engramlog.session")}`,
    "content-type": "application/json",
  },
  body: JSON.stringify({ text: "早上喝咖啡", turn_id: "turn-1", trace: true }),
})).status"""
"""Of the demo no answer is told: this is what one would be given."""


class Running(NamedTuple):
    """`engramlog console --demo` of an installation."""

    process: subprocess.Popen[bytes]
    url: str
    to: str
    """The link as it was printed."""


@contextmanager
def running(installed: Installed, folder: Path) -> Iterator[Running]:
    """It serves until the end of the block, and is killed where it does not end by itself."""
    elsewhere, scratch = folder / "elsewhere", folder / "scratch"
    elsewhere.mkdir()
    scratch.mkdir()
    told = {"ENGRAMLOG_DATA": str(folder / "own"), "ENGRAMLOG_PORT": "0", "TMPDIR": str(scratch)}
    out, log = folder / "out", folder / "log"
    with out.open("wb") as printed, log.open("wb") as logged:
        process = subprocess.Popen(
            [str(installed.folder / "bin" / "engramlog"), "console", "--demo", "--no-open", "--json"],
            cwd=elsewhere,
            env=installed.environment(**told),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=logged,
        )

    def printed_link() -> str:
        assert process.poll() is None, log.read_text()
        return out.read_text()

    try:
        link = json.loads(wait_until(printed_link))["url"]
        yield Running(process, link.partition("/#")[0], link)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0, log.read_text()
        assert [*scratch.iterdir(), *elsewhere.iterdir()] == []
    finally:
        process.kill()
        process.wait(PATIENCE)


def opened_in_both_languages(console: Console) -> None:
    """Each screen, first in English and then in Chinese, with what stands on it only when its data are there."""
    for language, title in (("en", "english"), ("zh-CN", "chinese")):
        for name in NINE:
            shown = SCREENS[name]
            console.go(shown.to)
            console.page.wait_for_selector(shown.holds)
            console.settled()
            assert console.page.locator("h1").inner_text() == getattr(shown, title)
            assert console.page.locator("html").get_attribute("lang") == language
        if language == "en":
            console.button("中文: change the language").click()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel of this tree, installed; its page has a mark that the tree's has not."""
    folder = tmp_path_factory.mktemp("wheel")
    found = Installed([built(ROOT, folder), built(ROOT / "client", folder)], folder / "environment")
    page = found.packages / "engramlog_server" / "api" / "console" / "index.html"
    page.write_text(page.read_text("utf-8") + MARK, "utf-8")
    return found


def test_the_wheel_in_an_empty_environment_opens_every_screen_in_a_browser(
    browser: Browser, installed: Installed, tmp_path: Path
) -> None:
    with running(installed, tmp_path) as served:
        # when a browser opens what `engramlog console --demo` printed
        context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
        context.set_default_timeout(PATIENCE * 1000 / 3)
        console = Console(context.new_page(), served)
        first = console.page.goto(served.to)
        console.settled()
        # then it is the installed page, with every file that the tree has, and each screen shows the demo's people
        assert first is not None
        assert MARK in first.text()
        folder = ROOT / "api" / "console"
        kinds = {".js", ".css", ".svg"}
        files = [one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.suffix in kinds]
        answered = {one: context.request.get(f"{served.url}/console/{one}").status for one in files}
        assert answered == dict.fromkeys(files, 200)
        assert console.page.evaluate(TOLD_A_MODEL, OWNER) == 200
        opened_in_both_languages(console)
        console.was_sound()
        context.close()


def test_an_installation_has_what_its_wheel_asks_for_and_nothing_of_the_tree(installed: Installed) -> None:
    """What tests and checks need, the environment of the tests has; who installs the wheel has not."""
    modules, path = json.loads(installed.asked(WHERE, installed.folder))
    assert [one for one in modules if not Path(one).is_relative_to(installed.folder)] == []
    assert [one for one in path if (Path(one) / "pyproject.toml").exists() or (Path(one) / "tests").exists()] == []
    there = {one.name for one in installed.packages.iterdir()}
    assert {"fastapi", "redis", "engramlog_server", "engramlog"} <= there
    assert there & {"pytest", "playwright", "hypothesis", "hatchling", "tests", "events", "api", "ops"} == set()
