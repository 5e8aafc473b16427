"""What is sent to a model goes where the settings say and nowhere else, and stands in no log."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.given_model import KEY, SECRET, TOLD, Chats, asked, chats, failure
from tests.model_endpoint import ModelEndpoint, Reply, completion, model_endpoint

ROOT = Path(__file__).resolve().parents[2]
ASKING = """
import json, sys
went = []
sys.addaudithook(lambda name, given: went.append([name, str(given[-1])]) if name.startswith("socket.") else None)
from projections.model_chat import ModelChat
from tests.given_model import SECRET, Verdict
chat = ModelChat("small", url=sys.argv[1], key=sys.argv[2] or None)
answer, usage = chat.ask("Judge.", SECRET, Verdict)
chat.close()
print(json.dumps({"went": went, "word": answer.word, "tokens": usage.input_tokens}))
"""
"""A process that notes every address that it looks up or connects to, from its first import on."""


@pytest.fixture
def server() -> Iterator[ModelEndpoint]:
    with model_endpoint() as running:
        running.says({"word": TOLD})
        yield running


@pytest.fixture
def elsewhere() -> Iterator[ModelEndpoint]:
    """Where nothing is to go."""
    with model_endpoint() as running:
        yield running


@pytest.fixture
def opened(server: ModelEndpoint) -> Iterator[Chats]:
    with chats(server) as made:
        yield made


def a_process(server: ModelEndpoint, key: str, surroundings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """One question asked in a process of its own, with these variables."""
    variables = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_VERSION")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", ASKING, server.url, key],
        cwd=ROOT,
        env=variables | {"PYTHONPATH": str(ROOT)} | surroundings,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )


@pytest.mark.parametrize("key", [KEY, ""])
def test_the_environment_redirects_nothing_and_adds_nothing(
    server: ModelEndpoint, elsewhere: ModelEndpoint, key: str
) -> None:
    proxies = dict.fromkeys(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"], elsewhere.url)
    ended = a_process(
        server,
        key,
        {
            **proxies,
            "NO_PROXY": "",
            "OPENAI_BASE_URL": elsewhere.url,
            "OPENAI_API_KEY": "sk-of-the-environment",
            "OPENAI_ADMIN_KEY": "sk-of-the-environment",
            "OPENAI_ORG_ID": "org-of-the-environment",
            "OPENAI_PROJECT_ID": "project-of-the-environment",
            "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer sk-of-the-environment\nX-More: of-the-environment",
            "LOGFIRE_TOKEN": "of-the-environment",
            "OTEL_EXPORTER_OTLP_ENDPOINT": elsewhere.url,
        },
    )
    assert json.loads(ended.stdout)["word"] == TOLD
    [asked_here] = server.asked
    assert elsewhere.asked == []
    assert sorted(asked_here.headers) == sorted(
        ["host", "content-type", "content-length", "accept", "accept-encoding", *(["authorization"] if key else [])]
    )
    assert asked_here.headers.get("authorization") == (f"Bearer {KEY}" if key else None)
    assert "of-the-environment" not in json.dumps([asked_here.headers, asked_here.body])


def test_nothing_is_looked_up_or_connected_to_but_the_endpoint(server: ModelEndpoint) -> None:
    ended = a_process(server, KEY, {})
    port = int(server.url.split(":")[2].removesuffix("/v1"))
    went = json.loads(ended.stdout)["went"]
    assert {given for name, given in went if name == "socket.connect"} == {str(("127.0.0.1", port))}
    assert not [name for name, _ in went if name in ("socket.sendto", "socket.gethostbyname", "socket.gethostbyaddr")]


def test_a_process_that_asks_prints_nothing_by_itself_even_where_clients_are_to_log_everything(
    server: ModelEndpoint,
) -> None:
    ended = a_process(server, KEY, {"OPENAI_LOG": "debug"})
    assert len(ended.stdout.splitlines()) == 1
    assert not [hidden for hidden in (KEY, SECRET, TOLD, "Judge.") if hidden in ended.stderr]


@pytest.mark.parametrize("reply", [None, Reply(status=400, body=TOLD), completion({"content": TOLD})])
def test_no_log_line_of_any_level_holds_what_was_sent_what_came_back_or_the_key(
    server: ModelEndpoint, opened: Chats, caplog: pytest.LogCaptureFixture, reply: Reply | None
) -> None:
    caplog.set_level(logging.DEBUG)
    if reply is None:
        assert asked(opened()) == TOLD
    else:
        server.replies = [reply]
        failure(opened())
    lines = [f"{record.getMessage()} {record.args} {record.exc_text}" for record in caplog.records]
    assert lines
    assert not [line for line in lines if any(hidden in line for hidden in (KEY, SECRET, TOLD))]
