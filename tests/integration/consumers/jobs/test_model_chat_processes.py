"""What is sent to a model goes where the settings say and nowhere else, stands in no log, and is asked in forked processes too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.doubles.model_endpoint import ModelEndpoint, Reply, completion, model_endpoint
from tests.given.model import KEY, SECRET, TOLD
from tests.patience import PATIENCE
from tests.places import ROOT

ASKING = """
import json, sys
went = []
sys.addaudithook(lambda name, given: went.append([name, str(given[-1])]) if name.startswith("socket.") else None)
from engramlog_server.projections.models.chat import ModelChat
from tests.given.model import SECRET, Verdict
chat = ModelChat("small", url=sys.argv[1], key=sys.argv[2] or None)
answer, usage = chat.ask("Judge.", SECRET, Verdict)
chat.close()
print(json.dumps({"went": went, "word": answer.word, "tokens": usage.input_tokens}))
"""
"""A process that notes every address that it looks up or connects to, from its first import on."""


LOGGING = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from engramlog_server.events.errors import ModelFailed
from tests.given.model import *
chat = ModelChat("small", url=sys.argv[1], key=sys.argv[2])
try:
    asked(chat)
except ModelFailed:
    logging.exception("no answer")
chat.close()
"""
"""A process that logs everything, with the traces of what failed."""
FORKING = """
import os, sys, warnings
from engramlog_server.projections.models.chat import ModelChat
from tests.given.model import asked
chat = ModelChat("small", url=sys.argv[1])
first = asked(chat)
warnings.simplefilter("ignore")  # newer Pythons warn of what is tested here
child = os.fork()
if child == 0:
    chat.close()
    again = asked(chat) == first
    chat.close()
    os._exit(0 if again else 1)
_, ended = os.waitpid(child, 0)
print(asked(chat) == first, os.waitstatus_to_exitcode(ended))
chat.close()
"""


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


def run(code: str, server: ModelEndpoint, key: str, surroundings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A process of its own, with these variables and none that tells libraries that they are tested."""
    variables = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_VERSION")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, server.url, key],
        cwd=ROOT,
        env=variables | {"PYTHONPATH": str(ROOT)} | surroundings,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("key", [KEY, ""])
def test_the_environment_redirects_nothing_and_adds_nothing(
    server: ModelEndpoint, elsewhere: ModelEndpoint, key: str
) -> None:
    proxies = dict.fromkeys(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"], elsewhere.url)
    ended = run(
        ASKING,
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
    ended = run(ASKING, server, KEY, {})
    port = int(server.url.split(":")[2].removesuffix("/v1"))
    went = json.loads(ended.stdout)["went"]
    assert {given for name, given in went if name == "socket.connect"} == {str(("127.0.0.1", port))}
    assert not [name for name, _ in went if name in ("socket.sendto", "socket.gethostbyname", "socket.gethostbyaddr")]


def test_a_process_that_asks_prints_nothing_by_itself_even_where_clients_are_to_log_everything(
    server: ModelEndpoint,
) -> None:
    ended = run(ASKING, server, KEY, {"OPENAI_LOG": "debug"})
    assert len(ended.stdout.splitlines()) == 1
    assert not [hidden for hidden in (KEY, SECRET, TOLD, "Judge.") if hidden in ended.stderr]


@pytest.mark.parametrize("reply", [None, Reply(status=400, body=TOLD), completion({"content": TOLD})])
def test_no_log_line_of_any_level_holds_what_was_sent_what_came_back_or_the_key(
    server: ModelEndpoint, reply: Reply | None
) -> None:
    server.replies = [reply] if reply else server.replies
    ended = run(LOGGING, server, KEY, {"OPENAI_LOG": "debug"})
    assert ("DEBUG" in ended.stderr, "ModelFailed" in ended.stderr) == (True, reply is not None)
    assert not [hidden for hidden in (KEY, SECRET, TOLD) if hidden in ended.stderr]


def test_a_process_that_never_closes_its_chat_ends_without_a_word(server: ModelEndpoint) -> None:
    asking = "import sys; from tests.given.model import *; asked(ModelChat('small', url=sys.argv[1], key=sys.argv[2]))"
    ended = run(asking, server, KEY, {})
    assert (ended.stdout, ended.stderr, len(server.asked)) == ("", "", 1)


def test_a_forked_process_asks_over_connections_of_its_own(server: ModelEndpoint) -> None:
    ended = run(FORKING, server, KEY, {})
    assert (ended.stdout, len(server.asked)) == ("True 0\n", 3)
