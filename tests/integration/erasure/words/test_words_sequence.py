"""One memory of a person: written, settled, used in a prompt, erased; then all that may bring it back, one after the other. After
each step every probe of it is silent, a sibling that was drawn from the same turn is there, and the audit has the erasure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from engramlog_server.events.partitions import partition_of
from tests.acceptance.trust.doors import READERS, Doors, Reads, Refused, doors, rebuilt, silent_about
from tests.given.http import TOKEN
from tests.patience import PATIENCE

SAID = "I live in Lisbon. I own a canoe."
ALONE, WEATHER = "I live in Lisbon.", "It rains today."
ASKED = "where is home, and what do I own: a canoe"
WORD, SIBLING = "lisbon", "canoe"


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", TOKEN)
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)


def run(folder: Path, *words: str, stdin: str = "") -> tuple[int, dict[str, Any]]:
    """A command as people run it, in a process of its own: how it ended, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "engramlog_server.ops.main", *words, "--json"],
        env={**os.environ, "ENGRAMLOG_DATA": str(folder), "ENGRAMLOG_REDIS_URL": ""},
        input=stdin.encode(),
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    told: dict[str, Any] = json.loads(done.stdout or "{}")
    assert told, done.stderr.decode()
    return done.returncode, told


def named(of: Doors, owner: str, word: str) -> str:
    """The id of the one statement with a word."""
    [found] = [one for one, text in of.memories(owner).items() if word in text.casefold() and one.startswith("m-")]
    return found


def everything(of: Doors, owner: str) -> dict[str, str]:
    """What those places tell that show what others withhold: mode debug, events, the past, exports of everything."""
    client, found = of.running.http.client, dict[str, str]()
    for path, query in (
        ("search", {"query": ASKED, "mode": "debug", "trace": False}),
        ("search", {"query": "live", "mode": "debug", "trace": False}),
        ("search", {"query": ASKED, "search_mode": "keyword", "trace": False}),
        ("memories", {"mode": "debug", "limit": 100}),
        ("events", {"limit": 500}),
        ("history", {}),
        ("export", {"everything": True}),
        ("stats", {}),
        ("sources", {}),
        ("times", {}),
        ("inbox", {}),
        ("answers", {}),
        ("map", {"topic": SIBLING}),
    ):
        answer = client.get(f"/v1/owners/{owner}/{path}", params=query)
        assert answer.status_code == 200, (path, query, answer.text)
        found[f"{path} {query}"] = answer.text
    return found


def is_gone(of: Doors, owner: str, step: str, *, everywhere: bool) -> bool:
    """Whether no place has a word of it, and the sibling is where it was. `everywhere`: also where what is withheld is shown,
    as long as nobody said it again."""
    found = of.told(owner, ASKED)
    assert silent_about(found, [WORD]) == [], step
    for place in ("http search normal", "http list normal", "mcp search", "client list"):
        assert SIBLING in found[place].casefold().replace(ASKED, ""), f"{step}: {place} lost the sibling"
    if everywhere:
        assert silent_about(everything(of, owner), [WORD]) == [], step
    return True


def gone_through(of: Doors, owner: str, steps: Mapping[str, Callable[[], object]], *, everywhere: bool) -> list[str]:
    """Take the steps, looking after each of them; gives those that were refused."""
    refused = list[str]()
    for step, carry_out in steps.items():
        try:
            carry_out()
        except Refused as refusal:
            assert "erased for good" in str(refusal), (step, refusal)
            refused.append(step)
        assert is_gone(of, owner, step, everywhere=everywhere)
    return refused


def fed(of: Doors, owner: str, reader: Reads, door: str, text: str, session: str | None = None) -> None:
    of.say(door, owner, text, session=session)
    of.extract(owner, reader)


@pytest.mark.parametrize("reader", READERS)
def test_erased_and_absent_after_everything_that_may_bring_it_back(tmp_path: Path, reader: Reads) -> None:
    folder, export = tmp_path / "store", tmp_path / "before.jsonl"
    with doors(folder) as first:
        owner, other = first.owner(), first.owner()
        for one in (owner, other):
            first.say("http", one, SAID, WEATHER, session="s1")
            first.extract(one, reader)
            first.jobs(one)
        gone, sibling = named(first, owner, WORD), named(first, owner, SIBLING)
        used = first.app.contexts.context(owner, ASKED, session="s1", turn_id="asked", trace=True)
        assert WORD in used["block"].casefold(), "it was used in a prompt"
        first.command("export", owner, "--everything", "--out", str(export))
        partition = partition_of(owner, first.app.log.partitions)
        bodies = [json.loads(one.body) for one in first.app.log.read(partition, 0) if one.owner == owner]
        kept = first.memories(other)
    _, done = run(folder, "erase", owner, gone, "--ground", "consent_withdrawn", "--reason", "by letter", "--yes")
    assert (done.get("verified"), done.get("not_proven")) == (True, []), done
    same = "\n".join(json.dumps(one) for one in bodies)
    again = "\n".join(json.dumps(one | {"event_id": str(uuid4())}) for one in bodies)
    with doors(folder) as second:
        assert is_gone(second, owner, "erased", everywhere=True)
        steps = {
            "its events again": lambda: second.command("append", "-", stdin=same),
            "its events under new ids": lambda: second.command("append", "-", stdin=again),
            "its export": lambda: second.command("import", "records", str(export), "--owner", owner),
            "read": lambda: second.extract(owner, reader),
            "every job": lambda: second.jobs(owner),
        }
        refused = gone_through(second, owner, steps, everywhere=True)
        assert refused == ["its events under new ids", "its export"], "told, and nothing of it written"
    assert rebuilt(folder)["ok"]
    with doors(folder) as third:
        assert is_gone(third, owner, "rebuilt, started again", everywhere=True)
        assert third.memories(other) == kept, "an unrelated copy stays"
        assert silent_about(third.told(third.owner(), "where is home"), [WORD, SIBLING]) == [], "of a stranger nothing"
        steps = {
            "its talk again": lambda: fed(third, owner, reader, "http", SAID, "s1"),
            "in another session": lambda: fed(third, owner, reader, "client", ALONE),
            "in other words around it": lambda: fed(third, owner, reader, "mcp", "You know, I live in Lisbon."),
            "every job": lambda: third.jobs(owner),
        }
        assert gone_through(third, owner, steps, everywhere=False) == []
    assert rebuilt(folder)["ok"]
    with doors(folder) as last:
        assert is_gone(last, owner, "rebuilt once more", everywhere=False)
        decisions = {one["decision"] for one in last.app.reader.history(owner, gone)["changes"]}
        assert {"create", "reject", "erase"} <= decisions, "the audit has the erasure"
        [node, *_] = last.app.reader.provenance(owner, sibling)["provenance"]["nodes"]
        assert node["source_erased"], "its source is told as erased"
