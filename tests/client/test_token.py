"""How the client finds the service's token, and to whom alone it tells it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from platformdirs import user_data_path

from engramlog import AsyncMemory, InputError, Memory, TokenRefused
from engramlog.home import LOOK_MICROS, data_folder, other_user_on, token_for
from engramlog.wire import Edge
from engramlog_server.api.http.serve import serve
from engramlog_server.ops.token import TokenFile, make_token, rotate_token
from tests.given.client import KINDS, connected
from tests.given.http import TOKEN, created, http_store
from tests.rows import each_row

OTHER = "another-token-0123456789-0123456789"
LOCAL = (
    "http://127.0.0.1:8733", "http://localhost:8733", "http://[::1]:8733", "http://127.9.9.9:1", "https://localhost",
)  # fmt: skip
ELSEWHERE = (
    "https://example.org",
    "https://127.0.0.1.example.org",
    "https://localhost.example.org",
    "https://0.0.0.0",
    "https://10.0.0.1",
)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that the environment names; of a token it says nothing."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(folder))
    monkeypatch.delenv("ENGRAMLOG_TOKEN", raising=False)
    return folder


@contextmanager
def watched(url: str, answers: list[httpx2.Response], **options: Any) -> Iterator[tuple[Memory, list[httpx2.Request]]]:
    """A client whose requests are answered so, and the requests."""
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return answers.pop(0) if answers else httpx2.Response(404, json={"detail": "none", "error": "NotFound"})

    with Memory(url, owner="alice", transport=httpx2.MockTransport(answer), **options) as memory:
        yield memory, asked


def shown(url: str, **options: Any) -> str | None:
    """The header that a client of this address sends."""
    with watched(url, [], **options) as (memory, asked):
        with pytest.raises(InputError):
            memory.get("coffee")
    header: str | None = asked[0].headers.get("authorization")
    return header


@pytest.mark.parametrize("url", LOCAL)
def test_a_service_of_this_machine_is_told_the_token_of_the_data_folder(url: str, data: Path) -> None:
    assert shown(url) is None
    lies = make_token(data)
    assert shown(url) == f"Bearer {lies}"


@pytest.mark.parametrize("url", ELSEWHERE)
def test_a_service_elsewhere_is_told_no_token_but_one_that_is_given(
    url: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_token(data)
    assert shown(url) is None
    assert shown(url, token=OTHER) == f"Bearer {OTHER}"
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)
    assert shown(url) == f"Bearer {TOKEN}"


def test_the_argument_goes_before_the_environment_and_that_before_the_folder(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lies = make_token(data)
    assert shown(LOCAL[0]) == f"Bearer {lies}"
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)
    assert shown(LOCAL[0]) == f"Bearer {TOKEN}"
    assert shown(LOCAL[0], token=OTHER) == f"Bearer {OTHER}"


@each_row("url", [one.replace("https", "http") for one in ELSEWHERE])
def test_over_http_no_other_machine_is_told_a_token(url: str) -> None:
    with pytest.raises(InputError, match="anybody on the way would read the token") as refusal:
        Memory(url, token=OTHER)
    assert OTHER not in str(refusal.value)


@each_row("url", ["https://127.0.0.1@example.org", "http://me:hunter2@127.0.0.1:8733", "http://@[::1]"])
def test_an_address_with_a_user_in_it_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InputError, match="url: got 'one with a user in it'") as refusal:
        Memory(url, token=OTHER)
    assert url not in str(refusal.value)


@each_row("status", [301, 302, 303, 307, 308])
@each_row("location", ["https://example.org/v1", "http://127.0.0.1:9/v1", "//example.org/v1", "/elsewhere"])
def test_a_redirect_is_not_followed_and_nobody_else_sees_the_token(status: int, location: str) -> None:
    answers = [httpx2.Response(status, headers={"location": location})]
    with watched(LOCAL[0], answers, token=OTHER) as (memory, asked), pytest.raises(Exception, match=str(status)):
        memory.get("coffee")
    assert [one.url.host for one in asked] == ["127.0.0.1"]


@each_row("memory_id", ["//example.org/x", "https://example.org", "@example.org", "..//..", "a?b#c\\d"])
def test_no_id_leads_a_request_elsewhere(memory_id: str) -> None:
    with watched(LOCAL[0], [], token=OTHER) as (memory, asked), pytest.raises(InputError):
        memory.get(memory_id)
    assert [(one.url.host, one.url.port) for one in asked] == [("127.0.0.1", 8733)]


@each_row("token", ["", "with space", "two\nlines", "密码", "x" * 8_193, "a\rb", "a\x00b"])
def test_a_token_that_cannot_be_sent_is_refused_and_not_repeated(token: str) -> None:
    with pytest.raises(InputError, match="token: got a value that is not shown") as refusal:
        Memory(token=token)
    assert not token or token not in str(refusal.value)


@pytest.mark.parametrize("harm", ["readable", "link", "folder", "pipe"])
def test_a_file_that_others_could_have_put_there_or_read_is_not_used(data: Path, harm: str) -> None:
    token = make_token(data)
    (data / "token").rename(data / "there")
    if harm == "link":
        (data / "token").symlink_to(data / "there")
    elif harm == "folder":
        (data / "token").mkdir(mode=0o700)
    elif harm == "pipe":
        os.mkfifo(data / "token", 0o600)
    else:
        (data / "there").rename(data / "token")
        (data / "token").chmod(0o644)
    with (
        watched(LOCAL[0], []) as (memory, asked),
        pytest.raises(InputError, match="engramlog token --rotate") as refusal,
    ):
        memory.get("coffee")
    assert (asked, token in str(refusal.value)) == ([], False)


def test_nothing_that_can_be_printed_of_a_client_tells_the_token(data: Path) -> None:
    with watched(LOCAL[0], [httpx2.Response(401, json={"detail": "no", "error": "Unauthorized"})], token=OTHER) as (
        one,
        _,
    ):
        with pytest.raises(TokenRefused) as refusal:
            one.get("coffee")
        seen = [one, vars(one), one.scope, one._http, one._http.headers, refusal.value, vars(refusal.value)]
        assert [told for told in seen if OTHER in f"{told!r} {told}"] == []


def test_the_platforms_own_folder_is_that_of_the_service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ENGRAMLOG_DATA")
    assert data_folder() == user_data_path("engramlog")
    for told in (str(tmp_path / "xdg"), "rel", "", " "):
        monkeypatch.setenv("XDG_DATA_HOME", told)
        assert data_folder() == user_data_path("engramlog")


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_goes_on_with_a_new_token_and_is_refused_with_an_old_one(
    kind: str, data: Path, tmp_path: Path
) -> None:
    with http_store(tmp_path / "store") as http:
        from engramlog_server.api.http.app import create_app

        http.told("alice", created("coffee"))
        running = serve(create_app(http.application, admits=TokenFile(data)), "127.0.0.1", 0)
        try:
            given = make_token(data)
            with connected(kind, running.url, owner="alice") as found:
                assert found.get("coffee").id == "coffee"
                rotate_token(data)
                assert found.get("coffee").id == "coffee"
            with (
                connected(kind, running.url, owner="alice", token=given) as old,
                pytest.raises(TokenRefused) as refusal,
            ):
                old.get("coffee")
            assert "engramlog token" in refusal.value.message
        finally:
            running.stop()


def test_both_kinds_take_a_token() -> None:
    async def refused() -> None:
        async with AsyncMemory("https://example.org", token=OTHER, transport=httpx2.MockTransport(_refuse)) as memory:
            await memory.get("coffee", owner="alice")

    with pytest.raises(TokenRefused):
        asyncio.run(refused())


def _refuse(request: httpx2.Request) -> httpx2.Response:
    assert request.headers["authorization"] == f"Bearer {OTHER}"
    return httpx2.Response(401, json={"detail": "no", "error": "Unauthorized"})


LISTENERS = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:{port:04X} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  {user}        0 4711 1
"""


def listeners(folder: Path, user: int, state: str = "0A") -> Path:
    """The kernel's table of who listens, with one line."""
    (folder / "tcp").write_text(LISTENERS.format(port=8733, state=state, user=user))
    return folder


def test_the_kernel_tells_when_another_user_listens_on_the_port(tmp_path: Path) -> None:
    stranger = os.geteuid() + 4711
    assert other_user_on(8733, listeners(tmp_path, stranger)) == stranger
    assert other_user_on(8734, tmp_path) is None
    assert other_user_on(8733, listeners(tmp_path, stranger, state="01")) is None
    assert other_user_on(8733, listeners(tmp_path, os.geteuid())) is None
    assert other_user_on(8733, listeners(tmp_path, 0)) is None
    assert other_user_on(8733, tmp_path / "no-such-system") is None


def test_another_user_who_listens_is_not_shown_the_folders_token(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token = make_token(data)
    monkeypatch.setattr("engramlog.home.other_user_on", lambda port: 4711 if port == 8733 else None)
    with (
        watched(LOCAL[0], []) as (memory, asked),
        pytest.raises(InputError, match="user 4711 listens there") as refusal,
    ):
        memory.get("coffee")
    assert (asked, token in str(refusal.value)) == ([], False)
    assert shown("http://127.0.0.1:9") == f"Bearer {token}"
    assert shown(LOCAL[0], token=OTHER) == f"Bearer {OTHER}"


@each_row(
    "line", ["", "7:", "   0: 0100007F 00000000:0000 0A", "   0: 0100007F:zzzz a 0A b c d me", "\xff \xff \xff \xff"]
)
def test_a_line_of_the_kernels_table_that_is_none_is_passed_over(tmp_path: Path, line: str) -> None:
    stranger = os.geteuid() + 4711
    table = listeners(tmp_path, stranger) / "tcp"
    head, listens = table.read_text().splitlines()
    table.write_bytes("\n".join([head, line, listens]).encode("latin-1"))
    assert other_user_on(8733, tmp_path) == stranger


def test_who_listens_is_looked_for_once_in_some_seconds_and_each_time_where_it_is_another(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_token(data)
    looks, found, now = list[int](), list[int | None]([None]), [0]

    def looked(port: int) -> int | None:
        looks.append(port)
        return found[0]

    monkeypatch.setattr("engramlog.home.other_user_on", looked)
    told = token_for(LOCAL[0], None, Edge(now=lambda: now[0]))
    assert told() == told() is not None
    assert len(looks) == 1
    found[0] = 4711
    now[0] = LOOK_MICROS
    for _ in range(2):
        with pytest.raises(InputError, match="user 4711 listens there"):
            told()
    assert len(looks) == 3
    found[0], now[0] = None, 0
    assert (told() is not None, len(looks)) == (True, 4)
    now[0] = -1
    assert (told() is not None, len(looks)) == (True, 5)
