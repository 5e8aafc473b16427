"""The five lines, the chat loop and the LangGraph node, run against the real service and a scripted model endpoint."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pytest

from engramlog import AsyncMemory, Memory
from tests.doubles.embeddings_endpoint import Endpoint, Reply, endpoint
from tests.given.client import Service, new_owner
from tests.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def model() -> Iterator[Endpoint]:
    """An OpenAI-compatible endpoint whose replies are given beforehand."""
    with endpoint() as scripted:
        yield scripted


def example(name: str) -> ModuleType:
    path = ROOT / "client" / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_chat_loop_without_a_model_says_how_it_is_called() -> None:
    loop = ROOT / "client" / "examples" / "openai_loop.py"
    asked = [sys.executable, str(loop), "http://127.0.0.1:8000/v1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "client")}
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "`python openai_loop.py http://127.0.0.1:8000/v1 MODEL`" in done.stderr


def says(text: str) -> Reply:
    """A chat completion."""
    return Reply(body={"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]})


def prompt(model: Endpoint, at: int) -> str:
    """Everything that the model was sent, as one text."""
    return "\n".join(one["content"] for one in model.asked[at].body["messages"])


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/client.md", "client/README.md"])
def test_the_five_lines_end_with_a_block_that_has_the_right_fact(
    page: str, running: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    code = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)[0]
    assert len([line for line in code.splitlines() if line]) == 5
    names: dict[str, Any] = {}
    exec(code.replace("Memory()", f"Memory({running.url!r})").replace('"alice"', repr(new_owner())), names)
    names["memory"].close()
    assert "My daughter Nora is 7 and allergic to peanuts" in capsys.readouterr().out


def test_the_chat_loop_brings_to_a_later_reply_what_was_said_earlier(running: Service, model: Endpoint) -> None:
    talk, owner = example("openai_loop"), new_owner()
    model.replies = [says("Noted."), says("Tea, as you told me.\n[used: none]"), says("")]
    with (
        Memory(running.url, owner=owner, timeout=PATIENCE) as memory,
        httpx2.Client(base_url=model.url, timeout=PATIENCE) as http,
    ):
        talk.reply(memory, http, "any", "In the morning I always drink green tea")
        answer = talk.reply(memory, http, "any", "What do I drink in the morning?")
    assert (answer, "green tea" in prompt(model, 1)) == ("Tea, as you told me.", True)
    assert "green tea" not in model.asked[0].body["messages"][0]["content"]


def test_only_what_the_model_says_it_used_is_reinforced(running: Service, model: Endpoint) -> None:
    talk, owner = example("openai_loop"), new_owner()
    with (
        Memory(running.url, owner=owner, timeout=PATIENCE) as memory,
        httpx2.Client(base_url=model.url, timeout=PATIENCE) as http,
    ):
        tea = memory.add("I drink green tea in the morning", memory_id="tea").id
        memory.add("In the morning I run")
        model.replies = [says(f"Green tea. [used: {tea}, m-that-does-not-exist]")]
        talk.reply(memory, http, "any", "What do I drink in the morning?")
        reinforced = [one.memory for one in memory.history().changes if one.event == "MemoryReinforced"]
    assert reinforced == [tea]


def test_a_graphs_node_stores_and_finds_what_it_is_told(running: Service, model: Endpoint) -> None:
    base = pytest.importorskip("engramlog.langgraph", reason="langgraph-checkpoint is not installed")
    node, user = example("langgraph_store"), new_owner().replace("/", "-")
    model.replies = [says("I will."), says("At nine.")]

    async def two_turns() -> list[dict[str, Any]]:
        async with (
            AsyncMemory(running.url) as asynchronous,
            httpx2.AsyncClient(base_url=model.url, timeout=PATIENCE) as http,
        ):
            with Memory(running.url) as memory:
                store = base.EngramlogStore(memory, asynchronous=asynchronous)
                state = {"user": user, "messages": [{"role": "user", "content": "记住：每天九点开会"}]}
                state = await node.talk(state, store=store, model=http, model_name="any")
                state["messages"].append({"role": "user", "content": "几点开会？"})
                return list((await node.talk(state, store=store, model=http, model_name="any"))["messages"])

    assert [one["content"] for one in asyncio.run(two_turns())][1::2] == ["I will.", "At nine."]
    assert model.asked[1].body["messages"][0]["content"].count("每天九点开会") == 1
