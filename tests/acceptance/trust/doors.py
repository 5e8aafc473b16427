"""The doors by which words come in and go out, each as a caller has it: HTTP, command line, MCP, the client. Black boxes.

What is asked of a door is the same for all: remember, record talk, take back; and every place where a memory's words may show.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unittest import mock
from uuid import uuid4

from engramlog.errors import InputError
from engramlog_server.api.cli.main import run
from engramlog_server.consumers.jobs.extraction import ExtractionJob
from engramlog_server.consumers.jobs.lifecycle import LifecycleJobs
from engramlog_server.events.envelope import from_micros, utc_text
from engramlog_server.projections.access.caller import VERBS
from engramlog_server.projections.models.chat import ModelChat
from tests.doubles.model_endpoint import model_endpoint
from tests.doubles.model_reader import honest
from tests.given.client import Service, connected, service
from tests.given.mcp import Agent, in_process, talk
from tests.patience import PATIENCE

Reads = Literal["rules", "model"]
DOORS = ("http", "command", "mcp", "client")
READERS: tuple[Reads, ...] = ("rules", "model")
_UNCONFIRMED = re.compile(r"^\[(?:Unconfirmed|未经确认).*\n(?:- .*\n)*", re.MULTILINE)


class Refused(Exception):
    """A door did not take it."""


class Doors:
    """One store and its doors. An owner is named with each call."""

    def __init__(self, running: Service) -> None:
        self.running = running
        self.app = running.http.application
        self.model: Callable[[], ModelChat] | None = None
        self._keys: dict[str, str] = {}

    def owner(self) -> str:
        """An owner about whom nothing is known."""
        return f"ann-{uuid4().hex}"

    # --- in

    def remember(self, door: str, owner: str, text: str) -> str:
        """One statement; its memory's id. Raises Refused."""
        if door == "http":
            return str(self._post(f"{owner}/memories", content=text)["id"])
        if door == "command":
            return str(self.command("add", owner, text)["id"])
        if door == "client":
            with connected("sync", self.running.url, owner=owner) as memory:
                try:
                    return str(memory.add(text).id)
                except InputError as refusal:
                    raise Refused(str(refusal)) from refusal
        return str(self._tool(owner, "add_memory", content=text)["id"])

    def say(self, door: str, owner: str, *texts: str, session: str | None = None) -> None:
        """What the user says in a conversation, word for word."""
        turns = [{"role": "user", "content": text} for text in texts]
        session = session or f"s-{uuid4().hex}"
        if door == "client":
            with connected("sync", self.running.url, owner=owner) as memory:
                memory.add(turns, session=session)
        elif door == "mcp":
            self._tool(owner, "add_turns", turns=turns, session=session)
        else:
            began = utc_text(from_micros(self.app.log.now()) - timedelta(hours=1))
            chat = [{"id": session, "created_at": began, "messages": turns}]
            if door == "http":
                self._post_json(f"{owner}/chats", chat)
            else:
                self.command("import", "turns", "--shape", "auto", "-", "--owner", owner, stdin=json.dumps(chat))

    def tell(self, owner: str, *events: dict[str, Any]) -> str:
        """Raw events, folded."""
        return self.running.http.told(owner, *events)

    def refused(self, owner: str, told: dict[str, Any]) -> None:
        """A raw event that the door does not take. Raises Refused."""
        answer = self.running.http.client.post("/v1/events", json={"events": [told]})
        if answer.status_code == 422:
            raise Refused(answer.text)
        raise AssertionError(f"of {owner}: {answer.text}")

    def call(self, owner: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """An agent calls a tool. Raises Refused."""
        return self._tool(owner, tool, **arguments)

    def delete(self, owner: str, memory_id: str, **how: Any) -> Any:
        """A person deletes it by name."""
        return self._post(f"{owner}/memories/{memory_id}/delete", **how)

    def negate(self, owner: str, memory_id: str, **how: Any) -> Any:
        """A person takes it back."""
        return self._post(f"{owner}/memories/{memory_id}/negate", **how)

    def waits(self, owner: str, item: str) -> bool:
        """Whether something of that name waits for a person."""
        return any(one["item"] == item for one in self.app.inbox.page(owner, limit=100)["items"])

    def accept(self, owner: str, item: str) -> Any:
        """A person accepts it."""
        return self._post(f"{owner}/inbox/accept", item=item)

    def extract(self, owner: str, reader: Reads) -> None:
        """The turns that nobody has read yet become typed memories."""
        if reader == "rules":
            self._post(f"{owner}/extract")
            return
        job = ExtractionJob(self.app.views, LifecycleJobs(self.app.log, self.app.views), self.model)
        job.extract(owner)
        self.app.reader.list(owner, after=self._head(owner))

    def jobs(self, owner: str) -> None:
        """Every lifecycle job that the product has, now."""
        self.command("cleanup", owner)
        for job in ("merge", "link", "replay", "levels", "abstract"):
            self.command("cleanup", owner, "--job", job)
        self.extract(owner, "rules")
        self._post(f"{owner}/episodes")

    def _head(self, owner: str) -> str:
        return str(self.app.reader.list(owner)["position"])

    # --- out

    def told(self, owner: str, asked: str, *, unconfirmed: bool = True) -> dict[str, str]:
        """All that each place tells when it is asked, by place: every mode but debug, every door, the prompt's block.

        `unconfirmed` False: without the part of the block that marks its lines as not confirmed.
        """
        with connected("sync", self.running.url, owner=owner) as memory:
            places = {
                "client search": memory.search(asked, limit=20, trace=False),
                "client list": memory.get_all(),
                "client context": memory.context(asked, trace=False),
            }
            answers = {name: place.as_dict() for name, place in places.items()}
        answers["http context"] = self._post(f"{owner}/context", text=asked, trace=False)
        answers["mcp context"] = self._tool(owner, "memory_context", text=asked)
        found = {
            name: json.dumps(one if unconfirmed else confirmed(one), ensure_ascii=False, default=str)
            for name, one in answers.items()
        }
        for mode in ("normal", "review"):
            query = {"query": asked, "mode": mode, "limit": 20, "associations": True, "trace": False}
            found[f"http search {mode}"] = self._get(f"{owner}/search", **query)
            found[f"http list {mode}"] = self._get(f"{owner}/memories", mode=mode, limit=100)
            found[f"command search {mode}"] = json.dumps(
                self.command("search", owner, asked, "--mode", mode, "--associations"), ensure_ascii=False
            )
        found["http facts"] = self._get(f"{owner}/facts")
        found["mcp search"] = json.dumps(self._tool(owner, "search_memories", query=asked), ensure_ascii=False)
        return found

    def memories(self, owner: str, mode: str = "normal") -> dict[str, str]:
        """Memory id -> what it says, of what a mode shows."""
        listed = self.app.reader.list(owner, mode=mode, limit=100)
        return {one["id"]: one["memory"] for one in listed["memories"]}

    def key(self, owner: str) -> str:
        """A key that may do everything to one owner, and nothing to the store or to anybody else."""
        if owner not in self._keys:
            verbs = [verb for verb in VERBS if verb not in ("admin", "operate")]
            modes = ["normal", "review", "debug"]
            grant = {"verbs": verbs, "owners": [owner], "modes": modes, "sensitivity": 3}
            self._keys[owner] = self.app.keys.issue(owner, grants=[grant])["key"]
        return self._keys[owner]

    def tools(self, owner: str) -> dict[str, list[str]]:
        """All that an agent of an owner can call, each with what it takes."""

        async def talking(agent: Agent) -> dict[str, list[str]]:
            return {one.name: list(one.input_schema["properties"]) for one in (await agent.client.list_tools()).tools}

        return talk(in_process(self.app, owner), talking)

    def answered(self, owner: str, tool: str, arguments: dict[str, Any]) -> str:
        """All that a tool says, a refusal too."""

        async def talking(agent: Agent) -> str:
            return repr(await agent.client.call_tool(tool, arguments))

        try:
            return talk(in_process(self.app, owner), talking)
        except ExceptionGroup as group:
            return repr(_refusal(group))

    # --- how

    def _post(self, path: str, **body: Any) -> dict[str, Any]:
        return self._post_json(path, body)

    def _post_json(self, path: str, body: Any) -> dict[str, Any]:
        answer = self.running.http.client.post(f"/v1/owners/{path}", json=body)
        if answer.status_code == 422:
            raise Refused(answer.text)
        assert answer.status_code in (200, 207), answer.text
        found: dict[str, Any] = answer.json()
        return found

    def _get(self, path: str, **query: Any) -> str:
        answer = self.running.http.client.get(f"/v1/owners/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return str(answer.text)

    def command(self, *words: str, stdin: str = "") -> dict[str, Any]:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        err, given = io.StringIO(), io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        with redirect_stdout(out), redirect_stderr(err), mock.patch("sys.stdin", given):
            code = run(lambda: nullcontext(self.app), [*words, "--json"])
        if code == 2:
            raise Refused(err.getvalue())
        assert code in (0, 3), f"{words} ended with {code}: {err.getvalue()}"
        out.seek(0)
        found: dict[str, Any] = json.loads(out.read() or "{}")
        return found

    def _tool(self, owner: str, name: str, **arguments: Any) -> dict[str, Any]:
        async def talking(agent: Agent) -> dict[str, Any]:
            answer = await agent.client.call_tool(name, arguments)
            if answer.is_error:
                raise Refused(str(getattr(answer.content[0], "text", "")))
            return dict(answer.structured_content or {})

        try:
            return talk(in_process(self.app, owner), talking)
        except ExceptionGroup as group:
            raise _refusal(group) from None


def confirmed(answer: Any) -> Any:
    """The same answer without the lines of its block that are marked as unconfirmed."""
    if isinstance(answer, dict):
        return {name: confirmed(part) for name, part in answer.items() if name != "unconfirmed"}
    if isinstance(answer, list):
        return [confirmed(part) for part in answer]
    return _UNCONFIRMED.sub("", answer) if isinstance(answer, str) else answer


def _refusal(group: ExceptionGroup) -> Exception:
    found: Any = group
    while isinstance(found, ExceptionGroup):
        found = found.exceptions[0]
    return found if isinstance(found, Exception) else group


@contextmanager
def doors(folder: Path) -> Iterator[Doors]:
    """A store with all its doors open, and a scripted model beside it."""
    opened: list[ModelChat] = []
    with service(folder) as running, model_endpoint() as endpoint:
        endpoint.answers(honest)

        def chat(url: str) -> ModelChat:
            opened.append(ModelChat("scripted", url=url, timeout=10.0, tries=2, pause=lambda _seconds: None))
            return opened[-1]

        made = Doors(running)
        made.model = partial(chat, endpoint.url)
        try:
            yield made
        finally:
            for one in opened:
                one.close()


def rebuilt(folder: Path) -> dict[str, Any]:
    """Every projection of a store that nobody has open is dropped and made anew; what `verify` tells of it then."""
    place = {**os.environ, "ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_REDIS_URL": ""}
    for command in ("rebuild", "verify"):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "engramlog_server.ops.main", command, "--json"],
            env=place,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def silent_about(told: dict[str, str], words: Sequence[str]) -> list[str]:
    """Leaks: the places that tell one of these words all the same, but for the question itself."""
    return [f"{place}: {word}" for place, text in told.items() for word in words if word.casefold() in text.casefold()]
