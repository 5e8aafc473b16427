"""Commands speak for whoever has the folder: by its token alone, at its socket alone; a key opens nothing of that."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from engramlog_server.api.cli.main import run
from engramlog_server.api.http.app import create_app
from engramlog_server.api.http.routes.commands import ADDRESS, SERVED
from engramlog_server.api.http.serve import serve_on
from engramlog_server.api.operations.table import entries
from engramlog_server.events.errors import EngramlogError
from engramlog_server.ops import running_service as asking
from engramlog_server.ops.commands.console import FolderService
from engramlog_server.ops.environment import KEY
from engramlog_server.ops.listeners import FolderSocket
from engramlog_server.ops.running_service import SOCKET, NoService, ask_service
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.token import TokenFile
from engramlog_server.projections.access.caller import VERBS
from engramlog_server.projections.access.keys import make_token
from tests.given.access import everybody as given
from tests.given.access.everybody import FOREIGN
from tests.given.http import HttpStore, http_store
from tests.integration.ops.test_asking import COMMANDS, OTHERS, TELLING
from tests.patience import PATIENCE
from tests.places import ROOT


class Folder:
    """A service at the socket of its data folder."""

    def __init__(self, http: HttpStore, folder: Path) -> None:
        self.http = http
        self.folder = folder

    def posted(self, shown: str | None, path: str, body: Any, method: str = "POST") -> httpx2.Response:
        """What is answered at the socket to whoever shows this."""
        headers = {} if shown is None else {"authorization": f"Bearer {shown}"}
        headers |= {"engramlog-request": "1"}
        line = httpx2.HTTPTransport(uds=str(self.folder / SOCKET))
        with httpx2.Client(transport=line, base_url="http://localhost", headers=headers, timeout=PATIENCE) as client:
            return client.request(method, path, json=body)


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    with http_store(tmp_path_factory.mktemp("cmd") / "s") as http:
        http.told(FOREIGN, *given.history_of(FOREIGN, "I keep a hedgehog named Zuleika"))
        assert http.store.embedded is not None
        folder = http.store.embedded.folder
        app = create_app(http.application, admits=TokenFile(folder), answers_for=lambda _asked: True)
        claimed = FolderSocket.claim(folder)
        assert claimed is not None
        with closing(claimed):
            server = serve_on(app, claimed.listener)
            try:
                yield Folder(http, folder)
            finally:
                server.stop()


@pytest.fixture(scope="module")
def strangers(at: Folder) -> Mapping[str, str | None]:
    return {who: shown for who, shown in given.strangers(at.http) if shown is None or len(shown) < 16_000}


def told_by(route: tuple[str, str]) -> dict[str, Any]:
    """What a command at the store would send."""
    return {"code": "x", "settings": {}, "place": [], "route": list(route), "given": {"owner": FOREIGN}}


def test_a_key_is_nobody_at_the_door_of_commands_whatever_it_may(at: Folder) -> None:
    key = given.whole(at.http, "whole-at-the-door")
    every = [given.grant(*VERBS, owners=["*"])]
    token = make_token(key, every, now=at.http.application.log.now() // 1_000_000, seconds=60)
    before = at.http.application.log.owner_head(FOREIGN)
    for route in SERVED:
        found = [at.posted(shown, ADDRESS, told_by(route)) for shown in (key, token)]
        assert [one.status_code for one in found] == [404, 404], route
        assert not any(word in one.text for one in found for word in given.CANARIES)
    assert at.http.application.log.owner_head(FOREIGN) == before


def test_what_opens_nothing_opens_no_command(at: Folder, strangers: Mapping[str, str | None]) -> None:
    body = told_by(("GET", "/v1/owners/{owner}/memories"))
    found = {who: at.posted(shown, ADDRESS, body).status_code for who, shown in strangers.items()}
    assert found == dict.fromkeys(strangers, 401)


def test_who_shows_the_folder_s_token_is_answered_there(at: Folder) -> None:
    """So the refusals above are of the key, not of the question."""
    body = told_by(("GET", "/v1/owners/{owner}/memories"))
    answer = at.posted((at.folder / "token").read_text().strip(), ADDRESS, body)
    assert answer.status_code == 200, answer.text
    assert "Zuleika" in answer.text


def test_at_the_folder_s_socket_a_key_is_no_wider_than_elsewhere(at: Folder) -> None:
    http = at.http
    http.told("own", *given.history_of("own"))
    narrow = given.issued(http, "narrow-at-the-socket", "read", owners=["own"])

    def status(path: str, method: str = "GET", body: Any = None) -> int:
        answer = at.posted(narrow, path, body, method)
        assert "Zuleika" not in answer.text
        return answer.status_code

    assert status("/v1/owners/own/memories") == 200
    assert status(f"/v1/owners/{FOREIGN}/memories") == 403
    assert [status(path) for path in ("/v1/status", "/metrics", "/v1/access", "/v1/heads")] == [403] * 4
    assert status("/v1/keys", "POST", {"principal": "x", "grants": given.GRANTS}) == 403
    assert status("/v1/console/codes", "POST", {}) in (401, 403, 404)


ASKS = {**COMMANDS, **TELLING, **OTHERS}
"""Every command that asks a running service: `test_asking` sees that they are all."""


class Opened(AssertionError):
    """A command opened the store."""


def opens_nothing() -> Any:
    raise Opened


def test_a_command_that_asks_shows_the_folder_s_token_and_never_a_key(
    at: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.upper().startswith("ENGRAMLOG_")]:
        monkeypatch.delenv(name)
    key = given.whole(at.http, "in-the-environment")
    monkeypatch.setenv("ENGRAMLOG_DATA", str(at.folder))
    monkeypatch.setenv(KEY, key)
    monkeypatch.setenv(KEY.lower(), key)
    shown: list[tuple[str, str, bytes]] = []

    def heard(path: Path, token: str, address: str, body: bytes, **_patience: float) -> bytes:
        assert path == at.folder / SOCKET
        shown.append((token, address, body))
        raise NoService("to be asked by itself")

    monkeypatch.setattr(asking, "exchanged", heard)
    for words in ASKS.values():
        with suppress(Opened):
            run(opens_nothing, [word.replace("OWNER", "own").replace("ITEM", "0:1") for word in words], ask=ask_service)
    folder_s = (at.folder / "token").read_text().strip()
    assert {(token, address) for token, address, _ in shown} == {(folder_s, ADDRESS)}
    assert len({tuple(json.loads(body)["route"]) for _, _, body in shown}) >= len(COMMANDS) + len(TELLING)
    assert [body for _, _, body in shown if key.encode() in body or key[13:40].encode() in body] == []


def test_a_code_of_the_console_is_asked_for_with_the_folder_s_token_alone(
    at: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = given.whole(at.http, "asks-for-a-code")
    monkeypatch.setenv(KEY, key)
    with pytest.raises(EngramlogError):
        FolderService(Settings(data=at.folder, token=SecretStr(key))).code()
    assert FolderService(Settings(data=at.folder)).code() is not None


READS_KEY = {
    "ops/clients/installation.py": "writes it into a client's MCP entry, and reads none",
    "ops/commands/keys.py": "`engramlog key narrow`, which asks nobody",
    "ops/environment.py": "where it is named, and left out of what is told",
    "ops/processes/mcp.py": "`engramlog mcp`, which confines itself to it",
    "api/mcp/connection.py": "the refusal of it",
    "ops/settings.py": "the setting of `engramlog mcp`",
}
"""Files that name the key of the environment."""
SENDS = {"ops/running_service.py", "ops/commands/console.py"}
"""Files of commands that speak to a service."""


def test_only_what_confines_itself_to_the_key_of_the_environment_reads_it() -> None:
    found = {
        str(file.relative_to(ROOT))
        for folder in ("api", "consumers", "events", "ops", "projections")
        for file in (ROOT / folder).rglob("*.py")
        if re.search(r"ENGRAMLOG_KEY(?!S)|import .*\bKEY\b.*|settings\.key\b", file.read_text(encoding="utf-8"))
        and re.search(
            r"ENGRAMLOG_KEY(?!S)|ops\.environment import .*\bKEY\b|settings\.key\b", file.read_text(encoding="utf-8")
        )
    }
    assert found <= set(READS_KEY)
    assert {"ops/commands/keys.py", "ops/processes/mcp.py"} <= found


def test_no_command_of_the_table_speaks_to_a_service_but_by_the_folder_s_socket() -> None:
    """A client of HTTP in a command's own modules would be another way, with another secret."""
    clients = re.compile(
        r"^\s*(?:from|import) (?:httpx2|urllib\.request|http\.client|requests|engramlog)\b", re.MULTILINE
    )
    modules = {one.module for one in entries().values()}
    assert len(modules) > 10
    files = {
        ROOT / "ops/running_service.py",
        *(ROOT / "api/cli").rglob("*.py"),
        *(ROOT / "ops/commands").rglob("*.py"),
    }
    files |= {*(ROOT / "api/operations").rglob("*.py")}
    names = {f"engramlog_server.{file.relative_to(ROOT)}".removesuffix(".py").replace("/", ".") for file in files}
    names |= {name.removesuffix(".__init__") for name in names}
    assert modules - names == set(), "each command's module is looked into"
    found = {str(file.relative_to(ROOT)) for file in files if clients.search(file.read_text(encoding="utf-8"))}
    assert found <= SENDS
