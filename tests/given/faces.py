"""A store in which one turn says a rare word and much was made of that turn; and every face that can be asked about it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

from fastapi.testclient import TestClient

from engramlog_server.api.application import Application
from engramlog_server.api.cli.main import run
from engramlog_server.consumers.fold.worker import FoldWorker
from engramlog_server.events.catalogue import FactAsserted, ToolResultRecorded, TurnRecorded
from engramlog_server.ops.catch_up import FoldCatchUp
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.wiring import JoinedApplication
from engramlog_server.projections.embedding.choosing import Embedders
from engramlog_server.projections.redis.vectors import Meanings
from tests.acceptance.helpers.store import Store
from tests.doubles.embedding import WordEmbedder
from tests.given.events import Told, created, linked, merged, negated, parameters
from tests.given.http import app_of, client_of
from tests.given.mcp import Agent, in_process, talk

OWNER = "alice"


@dataclass(frozen=True)
class Language:
    """What the turn says, and what its neighbours say."""

    word: str
    """Rare: only the turn says it, and what is made of the turn."""
    asks: str
    """A question that finds the turn without the word."""
    said: str
    other: str
    """Another turn, which shares a word with it."""


ENGLISH = Language(
    "Zuleika", "hedgehog adopted", "I adopted a hedgehog named Zuleika", "I drink tea with the hedgehog keeper"
)
CHINESE = Language("祖莱卡", "养刺猬", "我养了一只刺猬叫祖莱卡", "我和刺猬饲养员喝茶")


@dataclass
class World:
    """One store, its faces, and everything that was logged."""

    store: Store
    client: TestClient
    language: Language
    logged: list[str]
    cursor: str = ""
    position: str = ""
    """Before anything was deleted."""
    before: str = ""
    """The instant of it."""
    url: str = ""
    """Of its Redis."""
    keys: Callable[[], dict[bytes, bytes]] = field(default=dict[bytes, bytes])
    """Everything that Redis holds, by key."""
    vectors: Callable[[], int] = field(default=int)
    """How many vectors of contents it holds."""

    @property
    def app(self) -> Application:
        return self.store.app

    def get(self, path: str, **query: Any) -> str:
        """What a GET of the owner answers, in UTF-8."""
        return self._told(self.client.get(f"/v1/owners/{OWNER}{path}", params=query))

    def post(self, path: str, **body: Any) -> str:
        return self._told(self.client.post(f"/v1/owners/{OWNER}{path}", json=body))

    def plain(self, path: str) -> str:
        """What a GET beside the owners answers."""
        return self._told(self.client.get(path))

    def _told(self, answer: Any) -> str:
        assert answer.status_code in (200, 207) or "was purged" in answer.text, answer.text
        return f"{answer.headers} {answer.text} {json.dumps(_parsed(answer.text), ensure_ascii=False)}"

    def tool(self, name: str, **arguments: Any) -> str:
        """All that a tool answers, text and structure."""

        async def talking(agent: Agent) -> str:
            answer = await agent.client.call_tool(name, arguments)
            texts = [getattr(one, "text", "") for one in answer.content]
            return json.dumps([texts, answer.structured_content], ensure_ascii=False)

        return talk(in_process(self.app, OWNER), talking)

    def resource(self, uri: str) -> str:
        async def talking(agent: Agent) -> str:
            return json.dumps(await agent.read(uri), ensure_ascii=False)

        return talk(in_process(self.app, OWNER), talking)

    def command(self, *words: str) -> str:
        """The JSON that a command prints, from which tables are made too, and its errors."""
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        err = io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run(lambda: nullcontext(self.app), [*words, "--json"])
        assert code in (0, 1, 3) or "was purged" in err.getvalue(), f"{words} ended with {code}: {err.getvalue()}"
        out.flush()
        printed = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
        return f"{printed} {err.getvalue()} {json.dumps(_parsed(printed), ensure_ascii=False)}"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


@contextmanager
def world(folder: Path, language: Language, **settings: Any) -> Iterator[World]:
    """The store with everything told, folded, embedded and asked once."""
    with untold_world(folder, language, **settings) as made:
        tell_all(made)
        yield made


@contextmanager
def untold_world(folder: Path, language: Language, **settings: Any) -> Iterator[World]:
    """The store with what it holds already, and a worker that folds it."""
    stop, logged = Flag(), list[str]()

    def tell(fact: str, **facts: Any) -> None:
        logged.append(f"{fact} {facts}")

    with open_the_store(Settings(data=folder, partitions=2, **settings)) as opened:
        catch_up = FoldCatchUp(opened, tell)
        meanings = Meanings(Embedders.alone(lambda: embedder), opened.vectors)
        embedder = WordEmbedder()
        application = JoinedApplication(opened, catch_up, tell, meanings=meanings).join()
        worker = FoldWorker(opened.client, opened.identity.tags, "tester")
        thread = Thread(target=worker.run, args=(stop,))
        thread.start()
        try:
            with client_of(app_of(application)) as client:
                made = World(
                    Store(application),
                    client,
                    language,
                    logged,
                    url=opened.url,
                    keys=lambda: everything(opened.client),
                    vectors=lambda: sum(opened.client.hlen(one) for one in opened.client.scan_iter(match="*:vec:*")),
                )
                yield made
        finally:
            stop.set()
            thread.join()
            catch_up.close()


def tell_all(made: World) -> None:
    """A session of four messages, what was made of them, and memories that stand by themselves."""
    word, said, other = made.language.word, made.language.said, made.language.other
    day = made.store.yesterday
    session = {"session_id": "s1"}
    turns = {"t1": said, "t2": other, "t3": "How nice of you", "t4": "The kiln is cold today"}
    events: list[Told] = []
    for number, (turn, text) in enumerate(turns.items()):
        role, when = ("assistant" if turn == "t3" else "user"), day + number / 100
        events.append(Told(TurnRecorded(turn_id=turn, role=role, text=text), when, extra=session))  # type: ignore[arg-type]
        fields = {"kind": "episode", "tier": "fact", "category": "fact", "source": role, "source_turns": (turn,)}
        events.append(Told(created(text, turn, **fields).data, when, extra=session))
    events.append(
        Told(ToolResultRecorded(tool="vet", text=f"{word} weighs 300 g", turn_id="t1"), day + 0.05, "system", session)
    )

    def typed(content: str, of: str, *sources: str, **data: Any) -> Told:
        made_by = {"source": "judge", "tier": "fact", "category": "fact", "source_turns": sources} | data
        return created(content, of, day + 0.06, "operator" if made_by["tier"] == "core" else "judge", **made_by)

    events += [
        typed(f"User: {said}", "typed", "t1", keywords=(word.lower(), "pet"), summary=f"has {word}"),
        typed(f"The pet of the user is {word}", "core", "t1", tier="core"),
        typed(f"User feeds {word}", "one", "t1"),
        typed(f"User: {other}", "two", "t2"),
        merged("one", "two", into="both", day=day + 0.07, summary=f"{other}; {word}"),
        typed(f"[2026-01-01 08:00] {said}. {other}", "episode-1", *turns, source="system", kind="episode", tier="episode"),
        typed("User keeps no pet", "old", "t2"),
        typed(f"User keeps {word}", "fix", "t1", corrects="old"),
        negated("old", day + 0.08, replaced_by="fix", turn_id="t1", correction=f"User keeps {word}", reason=f"{word} came"),
        created("I drink tea in the evening", "tea", day, category="fact"),
        linked("typed", "tea", day + 0.09, 0.9),
        Told(FactAsserted(subject="User", predicate="adopted", object=word, evidence=("typed",)), day + 0.09, "judge"),
        parameters(day + 0.09, deleted_kept_days=30.0),
    ]  # fmt: skip
    made.position = made.store.tell(OWNER, *events)
    made.before = str(made.app.reader.get(OWNER, "tea", trace=False)["created_at"])
    made.app.synonyms.define(OWNER, "tea", "brew")
    made.app.embeddings.embed(OWNER)
    made.app.contexts.context(OWNER, f"{made.language.asks}?", session="s1", turn_id="t4", trace=True)
    made.store.flushed()
    found = json.loads(
        made.client.get(
            f"/v1/owners/{OWNER}/search", params={"query": made.language.asks, "limit": 1, "search_mode": "keyword"}
        ).text
    )
    made.cursor = found["next"]


def everything(client: Any) -> dict[bytes, bytes]:
    """Every key of a Redis with all that it holds."""
    return {key: _held(client, key) for key in client.scan_iter(count=1_000)}


def _held(client: Any, key: bytes) -> bytes:
    kind = client.type(key)
    read: dict[bytes, Callable[[], Any]] = {
        b"string": lambda: [client.get(key)],
        b"hash": lambda: [part for pair in client.hgetall(key).items() for part in pair],
        b"list": lambda: client.lrange(key, 0, -1),
        b"set": lambda: list(client.smembers(key)),
        b"zset": lambda: client.zrange(key, 0, -1),
        b"stream": lambda: [part for _, fields in client.xrange(key) for pair in fields.items() for part in pair],
    }
    return b"\n".join(read[kind]())
