"""What leads a browser to the console: a link that says where, a file of this user's, and a browser that has windows."""

from __future__ import annotations

import os
import re
import webbrowser
from collections.abc import Callable
from html import unescape
from pathlib import Path
from threading import Event as Flag
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.ops.commands import console
from engramlog_server.ops.commands.console import LEFT_SECONDS, TOLD, Leading, browser_here, link_to, opened
from tests.rows import each_row

LINK = "http://127.0.0.1:8733/#code=egc1_x&to=/owners/alice/memories"


class FakeBrowser:
    """Notes what it is given; `answer` is what it says of it."""

    name = "firefox"

    def __init__(self, answer: bool | OSError = True, come: Callable[[], None] = lambda: None) -> None:
        self.given: list[str] = []
        self._answer = answer
        self._come = come

    def open(self, address: str) -> bool:
        """Come, and say how it went."""
        self.given.append(address)
        self._come()
        if isinstance(self._answer, OSError):
            raise self._answer
        return self._answer


def found(monkeypatch: pytest.MonkeyPatch, one: object) -> None:
    monkeypatch.setattr(webbrowser, "get", lambda: one)


@given(st.text(min_size=1, max_size=20))
def test_a_link_tells_an_owner_of_any_name_as_one_segment_of_the_path(owner: str) -> None:
    try:
        owner.encode()
    except UnicodeEncodeError:
        return
    parts = urlsplit(link_to("http://127.0.0.1:8733/#code=egc1_x", owner))
    told = dict(parse_qsl(parts.fragment))
    assert told["code"] == "egc1_x"
    _, owners, segment, memories = told["to"].split("/")
    assert (owners, unquote(segment), memories) == ("owners", owner, "memories")


def test_the_file_leads_to_the_whole_link_and_is_this_user_s_alone(tmp_path: Path) -> None:
    with Leading(tmp_path, LINK) as leading:
        page = leading.path.read_text()
        assert leading.path.stat().st_mode & 0o777 == 0o600
        (told,) = re.findall('http-equiv="refresh" content="0; url=([^"]+)"', page)
        assert unescape(told) == LINK
        assert 'name="referrer" content="no-referrer"' in page
        assert unescape(re.findall('<a href="([^"]+)"', page)[0]) == LINK
    assert list(tmp_path.iterdir()) == []


def test_a_link_cannot_end_the_page_that_it_stands_in(tmp_path: Path) -> None:
    with Leading(tmp_path, 'http://x/"><script>alert(1)</script>') as leading:
        assert "<script>" not in leading.path.read_text()


def test_what_a_killed_command_left_is_taken_away_once_its_code_is_over(tmp_path: Path) -> None:
    old, new, other = (tmp_path / name for name in ("console-1.html", "console-2.html", "heads.jsonl"))
    for one in (old, new, other):
        one.write_text("x")
    for one in (old, other):
        os.utime(one, (one.stat().st_atime, one.stat().st_mtime - LEFT_SECONDS - 1))
    with Leading(tmp_path, LINK):
        assert [one.exists() for one in (old, new, other)] == [False, True, True]


def test_a_browser_is_given_the_file_and_not_the_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    came = Flag()
    fake = FakeBrowser(come=came.set)
    found(monkeypatch, fake)
    assert opened(tmp_path, LINK, lambda: "used" if came.is_set() else "waits", 300.0, Flag()) == "used"
    assert re.fullmatch(rf"file://{tmp_path}/console-[0-9a-f]{{16}}\.html", fake.given[0])
    assert list(tmp_path.iterdir()) == []


@each_row("answer", [False, OSError("no such program")])
def test_a_browser_that_cannot_be_started_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bool | OSError
) -> None:
    found(monkeypatch, FakeBrowser(answer))
    assert opened(tmp_path, LINK, lambda: "waits", 300.0, Flag()) == "not opened"
    assert list(tmp_path.iterdir()) == []


def test_one_that_does_not_come_is_waited_for_so_long_and_no_longer_than_the_service_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(monkeypatch, FakeBrowser())
    assert opened(tmp_path, LINK, lambda: "waits", 0.3, Flag()) == "not used"
    ended = Flag()
    ended.set()
    assert opened(tmp_path, LINK, lambda: "waits", 1e9, ended) == "not used"
    assert list(tmp_path.iterdir()) == []


@each_row("name", ["lynx", "/usr/bin/w3m", "www-browser", "links", "elinks"])
def test_a_browser_without_windows_is_none(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    found(monkeypatch, webbrowser.GenericBrowser(name))
    assert browser_here() is None


def test_where_there_is_no_browser_no_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert opened(tmp_path, LINK, lambda: "waits", 300.0, Flag()) == "no browser"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_file_is_told_and_the_browser_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = FakeBrowser()
    found(monkeypatch, fake)
    assert opened(tmp_path / "gone", LINK, lambda: "waits", 300.0, Flag()) == "no file"
    assert fake.given == []
    assert "no file" in TOLD


def test_a_disk_that_fills_up_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_link: str) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(console, "_page", full)
    found(monkeypatch, FakeBrowser())
    assert opened(tmp_path, LINK, lambda: "waits", 300.0, Flag()) == "no file"
    assert list(tmp_path.iterdir()) == []


def test_a_code_that_is_over_before_the_browser_came_was_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(monkeypatch, FakeBrowser())
    for became in ("over", "unknown"):
        assert opened(tmp_path, LINK, lambda became=became: became, 300.0, Flag()) == "not used"  # type: ignore[misc]
