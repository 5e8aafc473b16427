"""An owner is erased while a process has it in memory: every face that is asked refuses, none is empty as if nothing had been."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest import mock

import pytest

from engramlog_server.api.cli.main import run
from engramlog_server.ops.erasure.machine import ErasureCertificate, carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from tests.faces import FACES
from tests.given.events import created
from tests.given.faces import ENGLISH, OWNER, World, tell_all, untold_world
from tests.given.http import event
from tests.given.mcp import Agent, in_process, talk
from tests.rows import each_row

SIBLING, SONG = "bob", "The kestrel sings at noon"
ERASED = "was erased: its key was destroyed"
OF_NOBODY = ("/v1/partitions/", "/v1/status", "/v1/stats", "/v1/laws", "/v1/parameters", "/v1/schema", "/v1/dead", "/v1/alarms",
             "/v1/heads", "/v1/jobs", "/v1/capacity", "/v1/models", "/v1/me", "/v1/access", "/v1/reads", "/health", "/ready",
             "/metrics")  # fmt: skip
"""Routes that ask for no owner."""
ELSEWHERE = {"cli events (5)": "asks a partition"}
"""Faces that ask for no owner, with the reason."""


class Said(NamedTuple):
    """What a face answered: whether it was refused, and all it told."""

    status: int | str
    text: str


@dataclass
class Asking(World):
    """The same, and a refusal is an answer."""

    def _told(self, answer: Any) -> str:
        return repr(Said(answer.status_code, answer.text))

    def tool(self, name: str, **arguments: Any) -> str:
        async def talking(agent: Agent) -> str:
            answer = await agent.client.call_tool(name, arguments)
            texts = [getattr(one, "text", "") for one in answer.content]
            told = json.dumps([texts, answer.structured_content], ensure_ascii=False)
            return repr(Said("refused" if answer.is_error else "told", told))

        return talk(in_process(self.app, OWNER), talking)

    def resource(self, uri: str) -> str:
        async def talking(agent: Agent) -> str:
            try:
                return repr(Said("told", json.dumps(await agent.read(uri), ensure_ascii=False)))
            except Exception as error:
                return repr(Said("refused", str(error)))

        return talk(in_process(self.app, OWNER), talking)

    def command(self, *words: str, stdin: str = "") -> str:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        err, given = io.StringIO(), io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        with redirect_stdout(out), redirect_stderr(err), mock.patch("sys.stdin", given):
            code = run(lambda: nullcontext(self.app), [*words, "--json"])
        out.flush()
        return repr(Said(code, out.buffer.getvalue().decode() + err.getvalue()))  # type: ignore[attr-defined]


class Silence(NamedTuple):
    """A store in which an owner was erased, by another process."""

    made: Asking
    done: ErasureCertificate
    before: dict[str, str]
    """What each face said while the owner was there."""
    after: dict[str, str]


@pytest.fixture(scope="module")
def silence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Silence]:
    folder = tmp_path_factory.mktemp("silence") / "store"
    with untold_world(folder, ENGLISH) as world:
        tell_all(world)
        world.store.tell(SIBLING, created(SONG, "s1", world.store.yesterday, category="fact"))
        made = Asking(**vars(world))
        before = {name: face.ask(made) for name, face in FACES.items()}
        settings = Settings(
            redis_url=made.url,
            data=folder.parent / "another",
            sealed_by=str(folder / "master-key"),
            keys=str(folder / "keys.db"),
        )
        with open_the_store(settings) as another:
            done = carry_out(another, settings, ErasurePlan(OWNER, (), "consent_withdrawn"))
        yield Silence(made, done, before, {name: face.ask(made) for name, face in FACES.items()})


def said(raw: str) -> Said:
    found: Said = eval(raw, {"Said": Said})
    return found


def heads(silence: Silence) -> list[int]:
    """Of the log's partitions."""
    return [silence.made.app.log.head(number) for number in range(2)]


def asks_for_the_owner(name: str) -> bool:
    return name not in ELSEWHERE and not any(f" {one}" in name for one in OF_NOBODY)


def test_it_is_certified(silence: Silence) -> None:
    assert (silence.done.verified, silence.done.differences, silence.done.not_proven) == (True, [], [])


@each_row("name", [one for one in FACES if asks_for_the_owner(one) and one != "http GET /v1/owners (1)"])
def test_every_face_that_is_asked_for_the_owner_refuses(silence: Silence, name: str) -> None:
    assert said(silence.before[name]).status in (200, 207, 0, 3, "told"), silence.before[name]
    status, text = said(silence.after[name])
    assert status in (410, 1, "refused"), silence.after[name][:1000]
    assert ERASED in text


@each_row("name", [one for one in FACES if not asks_for_the_owner(one)])
def test_a_face_that_asks_for_nobody_answers(silence: Silence, name: str) -> None:
    assert said(silence.after[name]).status in (200, 207, 0, "told"), silence.after[name][:1000]


@each_row("name", FACES)
def test_no_face_tells_a_word_of_it(silence: Silence, name: str) -> None:
    told = silence.after[name].casefold()
    assert [word for word in ("zuleika", "hedgehog", "evening", "kiln") if word in told] == []


def body(of: str) -> dict[str, Any]:
    return {"memory_id": "w1", "content": f"again {of}", "category": "fact", "kind": "fact", "source": "user"}


WRITES: dict[str, tuple[str, Any]] = {
    "memories": ("/memories", {"content": "I drink tea again"}),
    "edit": ("/memories/tea/edit", {"content": "again"}),
    "mention": ("/memories/tea/mention", {}),
    "negate": ("/memories/tea/negate", {"never": True}),
    "restore": ("/memories/typed/restore", {}),
    "sensitivity": ("/memories/tea/sensitivity", {"level": 1, "reason": "said so"}),
    "confirm": ("/memories/tea/confirm", {}),
    "unmerge": ("/memories/both/unmerge", {}),
    "grade": ("/memories/tea/grade", {"grade": 4}),
    "reinforce": ("/memories/tea/reinforce", {}),
    "delete": ("/memories/tea/delete", {}),
    "merge": ("/merge", {"sources": ["tea", "typed"], "summary": "both"}),
    "accept": ("/inbox/accept", {"item": "memory:tea"}),
    "reject": ("/inbox/reject", {"item": "memory:tea"}),
    "synonyms": ("/synonyms", {"word": "tea", "synonym": "brew"}),
    "set aside": ("/set-aside", {"session": "s1"}),
    "bring back": ("/bring-back", {"session": "s1"}),
    "profile": ("/profile", {"profile": "weighted"}),
    "records": ("/import/records", [{"id": "r1", "content": "I drink tea", "created_at": "2026-01-05T08:00:00Z"}]),
    "chats": ("/chats", [{"id": "c1", "created_at": "2026-01-05T08:00:00Z",
                          "messages": [{"role": "user", "content": "I drink tea"}]}]),
    "extract": ("/extract", {}),
    "episodes": ("/episodes", {}),
    "cleanup": ("/cleanup", {}),
    "retract": ("/retract", {"without_sessions": ["s1"], "dry_run": True}),
}  # fmt: skip


@each_row("name", WRITES)
def test_nothing_is_written_under_its_name_over_http(silence: Silence, name: str) -> None:
    path, told = WRITES[name]
    before = heads(silence)
    answer = silence.made.client.post(f"/v1/owners/{OWNER}{path}", json=told)
    assert answer.status_code == 410, answer.text
    assert answer.json()["type"].endswith("OwnerErased") or ERASED in answer.text
    assert heads(silence) == before


def test_nothing_is_appended_under_its_name_and_who_is_beside_it_is(silence: Silence) -> None:
    """One batch with both: nothing of it is written; the other's alone is."""
    mine = event("MemoryCreated", owner=OWNER, **body("mine"))
    other = event("MemoryCreated", owner=SIBLING, **body("other"))
    answer = silence.made.client.post("/v1/events", json=[mine])
    assert answer.status_code == 410 or "OwnerErased" in answer.text, answer.text
    assert ERASED in answer.text
    answer = silence.made.client.post("/v1/events", json=[other])
    assert answer.status_code == 200
    assert answer.json()["appended"] == 1


@each_row(
    ("words", "stdin"),
    [
        (("add", OWNER, "I drink tea"), ""),
        (("append", "-"), json.dumps(event("MemoryCreated", owner=OWNER, **body("c")))),
        (("import", "turns", "-"), json.dumps({"conversation": OWNER, "turn_id": "x", "session": "s", "speaker": "user",
                                               "occurred_at": "2026-01-05T08:00:00Z", "text": "I drink tea"})),
        (("import", "records", "-", "--owner", OWNER),
         json.dumps({"id": "r1", "content": "I drink tea", "created_at": "2026-01-05T08:00:00Z"})),
        (("import", "turns", "--shape", "auto", "-", "--owner", OWNER),
         json.dumps([{"id": "c", "created_at": "2026-01-05T08:00:00Z", "messages": [{"role": "user", "content": "tea"}]}])),
        (("negate", OWNER, "tea"), ""),
        (("cleanup", OWNER, "--job", "embed"), ""),
    ],
)  # fmt: skip
def test_no_command_writes_under_its_name(silence: Silence, words: tuple[str, ...], stdin: str) -> None:
    before = heads(silence)
    code, text = said(silence.made.command(*words, stdin=stdin))
    assert code in (1, 3), text
    assert ERASED in text or "OwnerErased" in text, text
    assert heads(silence) == before


def test_the_sibling_keeps_everything(silence: Silence) -> None:
    answer = silence.made.client.get(f"/v1/owners/{SIBLING}/search", params={"query": "kestrel"})
    assert SONG in answer.text
