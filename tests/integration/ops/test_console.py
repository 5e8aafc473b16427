"""`engramlog console` as people run it: beside a service and without one, with browsers that come, fail, or are not there."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.integration.live import wait_until
from tests.integration.ops.test_up import Up, running
from tests.patience import PATIENCE

BROWSER = """#!{python}
import html, json, re, sys, urllib.parse, urllib.request
from pathlib import Path

told = {{"arguments": sys.argv[1:]}}
path = Path(urllib.parse.unquote(urllib.parse.urlsplit(sys.argv[1]).path))
page = path.read_text()
told |= {{"path": str(path), "mode": path.stat().st_mode & 0o777, "folder": path.parent.stat().st_mode & 0o777}}
told["link"] = link = html.unescape(re.search('http-equiv="refresh" content="0; url=([^"]+)"', page)[1])
base, _, fragment = link.partition("/#")
asked = urllib.request.Request(
    base + "/v1/console/session",
    json.dumps({{"code": urllib.parse.parse_qs(fragment)["code"][0]}}).encode(),
    {{"content-type": "application/json"}},
)
told["session"] = json.load(urllib.request.urlopen(asked))
Path({record!r}).write_text(json.dumps(told))
"""
SECRETS = ("egc1_", "egs1_", "egt1_")


class Browser:
    """A program that stands in for a browser: it follows the file, and notes what it saw."""

    def __init__(self, folder: Path, text: str = BROWSER) -> None:
        self.record = folder / "seen.json"
        self.path = folder / "browser"
        self.path.write_text(text.format(python=sys.executable, record=str(self.record)))
        self.path.chmod(0o700)

    def seen(self) -> Any:
        """What it noted; None as long as it has not come."""
        return json.loads(self.record.read_text()) if self.record.exists() else None


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with running(tmp_path_factory.mktemp("console") / "store") as started:
        started.ready()
        yield started


def here(environment: dict[str, str], browser: Path | None, **more: str) -> dict[str, str]:
    """The environment of a command: without a desktop, and with this browser."""
    hidden = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"}
    told = {name: value for name, value in environment.items() if name not in hidden} | more
    return told | ({"BROWSER": str(browser)} if browser else {})


def console(up: Up, *words: str, browser: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", "console", *words],
        env=here(up.environment, browser, **more),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@contextmanager
def staying(
    folder: Path, *words: str, browser: Path | None = None, **more: str
) -> Iterator[tuple[subprocess.Popen[bytes], Path, Path]]:
    """A console that serves by itself: the process, and the files of what it prints and logs."""
    out, log = folder / "out", folder / "log"
    environment = here(dict(os.environ), browser, **{"ENGRAMLOG_PORT": "0", **more})
    with out.open("wb") as printed, log.open("wb") as logged:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "engramlog_server.ops.main", "console", *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=logged,
        )
    try:
        yield process, out, log
    finally:
        process.kill()
        process.wait(PATIENCE)


def left(folder: Path) -> list[Path]:
    """Files that lead a browser on."""
    return [*folder.glob("console-*")]


def ask(base: str, path: str, token: str) -> Any:
    with urlopen(Request(base + path, headers={"authorization": f"Bearer {token}"}), timeout=PATIENCE) as answer:
        return json.load(answer)


def test_beside_a_service_a_browser_is_led_to_it_by_a_file_of_this_user_s(up: Up, tmp_path: Path) -> None:
    browser = Browser(tmp_path)
    done = console(up, "猫/x+1", browser=browser.path)
    assert done.returncode == 0, done.stderr
    (link,) = done.stdout.split()
    seen = browser.seen()
    assert (seen["link"], seen["mode"], seen["folder"]) == (link, 0o600, 0o700)
    assert [one.startswith("file://") for one in seen["arguments"]] == [True]
    assert [one for one in SECRETS if one in str(seen["arguments"])] == []
    where = urlsplit(link)
    assert f"{where.scheme}://{where.netloc}" == up.ready()
    assert (where.path, where.query) == ("/", "")
    assert parse_qs(where.fragment)["to"] == ["/owners/%E7%8C%AB%2Fx%2B1/memories"]
    assert ask(up.ready(), "/v1/status", seen["session"]["token"])["lag"] == 0
    assert left(Path(up.environment["ENGRAMLOG_DATA"])) == []
    assert [one for one in SECRETS if one in up.log.read_text() + done.stderr] == []


def test_the_link_alone_is_printed_where_nothing_is_to_be_opened(up: Up, tmp_path: Path) -> None:
    browser = Browser(tmp_path)
    done = console(up, "--no-open", browser=browser.path)
    assert (done.returncode, done.stdout.startswith(f"{up.ready()}/#code=egc1_")) == (0, True)
    told = json.loads(console(up, "--no-open", "--json", browser=browser.path).stdout)
    assert (told.keys(), told["ends_in"]) == ({"url", "ends_in"}, 600)
    assert "&to=" not in told["url"]
    assert (browser.seen(), left(Path(up.environment["ENGRAMLOG_DATA"]))) == (None, [])


@pytest.mark.parametrize(
    ("text", "words"), [("#!/bin/sh\nexit 1\n", "could not be started"), (None, "no browser was found")]
)
def test_without_a_browser_the_link_is_the_way_and_the_exit_code_says_so(
    up: Up, tmp_path: Path, text: str | None, words: str
) -> None:
    browser = None if text is None else Browser(tmp_path, text).path
    done = console(up, "alice", browser=browser)
    assert (done.returncode, words in done.stderr, "/#code=egc1_" in done.stdout) == (3, True, True)
    assert left(Path(up.environment["ENGRAMLOG_DATA"])) == []


def test_a_service_of_another_token_gives_no_code_and_the_command_says_why(up: Up) -> None:
    done = console(up, "--no-open", ENGRAMLOG_TOKEN="0123456789abcdef0123456789abcdef")
    assert (done.returncode, done.stdout) == (1, "")
    assert "ENGRAMLOG_TOKEN" in done.stderr


@pytest.mark.parametrize("owner", ["", "a" * 1_000, "a\nb"])
def test_an_owner_that_nobody_can_have_is_refused_before_anything(up: Up, owner: str) -> None:
    done = console(up, "--no-open", "--", owner)
    assert (done.returncode, done.stdout, "owner: got" in done.stderr) == (2, "", True)


def test_where_nobody_serves_the_command_does_until_it_is_interrupted(tmp_path: Path) -> None:
    browser, data = Browser(tmp_path), tmp_path / "store"
    with staying(tmp_path, "mei", browser=browser.path, ENGRAMLOG_DATA=str(data)) as (process, out, log):
        seen = wait_until(lambda: browser.seen() or _ended(process, log))
        (link,) = out.read_text().split()
        assert (seen["link"], seen["mode"], link.endswith("&to=/owners/mei/memories")) == (link, 0o600, True)
        base, token = link.partition("/#")[0], seen["session"]["token"]
        assert ask(base, "/v1/status", token)["events"] == 0
        wait_until(lambda: not left(data))
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert [one for one in SECRETS if one in log.read_text()] == []
        facts = [json.loads(line)["event"] for line in log.read_text().splitlines() if line.startswith("{")]
        life = ["service started", "service drained", "service stopped"]
        assert [one for one in facts if one in life] == life


def test_its_file_goes_with_it_where_no_browser_comes(tmp_path: Path) -> None:
    idle = Browser(tmp_path, "#!/bin/sh\nsleep 600 & echo $! > {record}\n")
    data = tmp_path / "store"
    with staying(tmp_path, browser=idle.path, ENGRAMLOG_DATA=str(data)) as (process, _, log):
        wait_until(lambda: idle.record.exists() or _ended(process, log))
        (file,) = left(data)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        os.kill(int(idle.record.read_text()), signal.SIGKILL)
        assert left(data) == []


def test_what_a_client_started_on_no_port_makes_room_for_the_console(tmp_path: Path) -> None:
    browser, data = Browser(tmp_path), tmp_path / "store"
    environment = {**os.environ, "ENGRAMLOG_DATA": str(data)}
    first = subprocess.Popen(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", "up", "--idle", "600", "--json"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until((data / "api.sock").exists)
        with staying(tmp_path, browser=browser.path, ENGRAMLOG_DATA=str(data)) as (process, _, log):
            seen = wait_until(lambda: browser.seen() or _ended(process, log))
            assert ask(seen["link"].partition("/#")[0], "/health", "")["status"] == "alive"
            assert first.wait(PATIENCE) == 0
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
    finally:
        first.kill()
        first.wait(PATIENCE)


def test_the_demo_s_people_are_shown_on_a_free_port_and_nothing_of_it_stays(tmp_path: Path) -> None:
    browser, place = Browser(tmp_path), tmp_path / "tmp"
    place.mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        more = {"TMPDIR": str(place), "ENGRAMLOG_DATA": str(tmp_path / "own"), "ENGRAMLOG_PORT": str(port)}
        with staying(tmp_path, "--demo", "--json", browser=browser.path, **more) as (process, out, log):
            seen = wait_until(lambda: browser.seen() or _ended(process, log))
            link = json.loads(out.read_text())["url"]
            assert (seen["link"], f":{port}/" in link) == (link, False)
            owners = ask(link.partition("/#")[0], "/v1/owners", seen["session"]["token"])["owners"]
            assert [one["owner"] for one in owners] == ["lin", "mei"]
            assert list(place.iterdir()) != []
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
            assert list(place.iterdir()) == []
    assert not (tmp_path / "own").exists()


def _ended(process: subprocess.Popen[bytes], log: Path) -> bool:
    """Never: the test fails where it has."""
    assert process.poll() is None, log.read_text()
    return False
