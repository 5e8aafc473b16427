"""Written, settled, used in a prompt, erased; then all that may bring it back, one after the other: every step is refused, every
probe is silent, and a sibling keeps everything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from events.door.of_the_store import ERASURES
from events.partitions import partition_of
from ops.erasing.owner import ErasurePlan, carry_out
from ops.settings import Settings
from tests.acceptance.trust.doors import Doors, doors, rebuilt
from tests.given.client import connected
from tests.given.http import TOKEN
from tests.patience import PATIENCE

LISBON, CANOE = "I live in Lisbon.", "I own a canoe."
ASKED = "where is home, and what do I own"
ERASED = "was erased: its key was destroyed"
WORDS = ("lisbon", "canoe")


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)


def command(folder: Path, *words: str, stdin: str = "") -> tuple[int, str]:
    """A command as people run it; how it ended, and all it told."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ops.main", *words, "--json"],
        env={**os.environ, "ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_REDIS_URL": ""},
        input=stdin.encode(),
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout.decode() + done.stderr.decode()


def probes(of: Doors, owner: str) -> dict[str, str]:
    """What each door answers when it is asked for the owner."""
    http = of.running.http.client
    found = {
        f"http {path} {query}": f"{answer.status_code} {answer.text}"
        for path, query in (
            ("search", {"q": ASKED}),
            ("search", {"q": ASKED, "mode": "review"}),
            ("search", {"q": ASKED, "mode": "debug"}),
            ("memories", {}),
            ("facts", {}),
            ("events", {}),
            ("history", {}),
            ("export", {}),
            ("stats", {}),
            ("times", {}),
        )
        if (answer := http.get(f"/v1/owners/{owner}/{path}", params=query))
    }
    answer = http.post(f"/v1/owners/{owner}/context", json={"text": ASKED, "trace": False})
    found["http context"] = f"{answer.status_code} {answer.text}"
    with connected("sync", of.running.url, owner=owner) as memory:
        for name, ask in {
            "client search": lambda: memory.search(ASKED, limit=20, trace=False),
            "client list": memory.get_all,
            "client context": lambda: memory.context(ASKED, trace=False),
        }.items():
            try:
                found[name] = f"200 {ask()!r}"
            except Exception as error:
                found[name] = f"410 {type(error).__name__}: {error}"
    for tool, arguments in (("search_memories", {"query": ASKED}), ("memory_context", {"text": ASKED})):
        found[f"mcp {tool}"] = f"410 {of.answered(owner, tool, arguments)}"
    return found


def is_silent(of: Doors, owner: str) -> bool:
    """Whether every door refuses by name, and tells no word."""
    for place, text in probes(of, owner).items():
        assert text.startswith("410 "), (place, text[:300])
        assert ERASED in text, (place, text[:300])
        assert not [word for word in WORDS if word in text.casefold()], (place, text[:300])
    return True


def heads_of(of: Doors, number: int) -> int:
    return of.app.log.head(number)


def test_erased_and_absent_after_everything_that_may_bring_it_back(tmp_path: Path) -> None:
    folder, export, noted = tmp_path / "store", tmp_path / "before.jsonl", tmp_path / "heads.json"
    with doors(folder) as first:
        owner, sibling = first.owner(), first.owner()
        for one in (owner, sibling):
            first.say("http", one, LISBON, CANOE)
            first.extract(one, "rules")
        assert "Lisbon" in first.told(owner, ASKED)["http context"], "it was used in a prompt"
        kept = first.memories(sibling)
        first.command("export", owner, "--out", str(export))
        noted.write_text(first.running.http.client.get("/v1/heads").json()["line"] + "\n")
        number = partition_of(owner, first.app.log.partitions)
        bodies = [one.body.decode() for one in first.app.log.read(number, 0) if one.owner == owner]
        done = carry_out(
            first.running.http.store, Settings(data=folder), ErasurePlan(owner, "consent_withdrawn", "by letter")
        )
        assert (done.verified, done.events) == (True, len(bodies))
        assert is_silent(first, owner)
        head = heads_of(first, number)
        turns = {"conversation": owner, "turn_id": "x", "session": "s", "speaker": "user", "text": LISBON}
        chats = [{"id": "c", "created_at": "2026-11-20T08:00:00Z", "messages": [{"role": "user", "content": LISBON}]}]
        turn = json.dumps(turns | {"occurred_at": "2026-11-20T08:00:00Z"})
        fed = {
            "its events again": ("append", "\n".join(bodies)),
            "turns": ("import turns", turn),
            "a chat": ("chat-import", json.dumps(chats)),
            "its export": ("import records", export.read_text()),
        }
        client = first.running.http.client
        for step, (_, text) in fed.items():
            answer = client.post(f"/v1/owners/{owner}/memories", json={"content": text[:100]})
            assert (step, answer.status_code) == (step, 410)
        for job in ("extract", "episodes", "cleanup"):
            assert client.post(f"/v1/owners/{owner}/{job}", json={}).status_code == 410, job
        assert is_silent(first, owner)
        assert heads_of(first, number) == head, "nothing was written"
    for step, (words, text) in fed.items():
        more = [] if words in ("append", "import turns") else ["--owner", owner]
        code, told = command(folder, *words.split(), "-", *more, stdin=text)
        assert (step, code) != (step, 0), told
        assert ERASED in told or "OwnerErased" in told, (step, told[:500])
    assert rebuilt(folder)["ok"]
    code, told = command(folder, "verify", "--against", str(noted))
    assert code == 0, told
    assert json.loads(told)["heads"]["compared"] > 0
    with doors(folder) as restarted:
        assert is_silent(restarted, owner)
        assert restarted.memories(sibling) == kept, "a sibling keeps everything"
        stranger = restarted.owner()
        assert not restarted.memories(stranger)
        told_of = [
            json.loads(one.body)["data"]
            for one in restarted.app.log.read(partition_of(ERASURES, restarted.app.log.partitions), 0)
            if one.owner == ERASURES
        ]
        assert [(one["step"], one["ground"], one["reason"]) for one in told_of] == [
            ("began", "consent_withdrawn", "by letter"),
            ("ended", "consent_withdrawn", "by letter"),
        ]
        assert (told_of[1]["chain"], told_of[1]["events"]) == (done.chain, done.events)
        assert owner not in str(told_of)
