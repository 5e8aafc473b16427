"""Every way into a store, each with canaries of its own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from engramlog_server.events.catalogue import MemoryPurged, TurnRecorded
from tests.integration.encryption.aviary import NOW, OTHERS, OWNER, Aviary
from tests.integration.encryption.canaries import Canaries
from tests.integration.live import wait_until

PARKED, PURGED, LARGE = OTHERS
LEAST_CANARIES = 40


def created(words: Canaries, name: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    """A memory of nothing but its content and these fields."""
    content = fields.pop("content", None) or f"I like {words.word(f'content of {name}')}"
    told = {"memory_id": name, "content": content, "category": "fact"}
    return "MemoryCreated", {**told, "kind": "fact", "source": "user", **fields}


def tell_the_story(at: Aviary) -> None:
    """Put canaries through every way, and have jobs done with them."""
    words = at.canaries
    _conversation(at, words)
    _memories(at, words)
    _decisions(at, words)
    _relations(at, words)
    _secrets(at, words)
    _brought(at, words)
    _asked(at, words)
    _operated(at, words)
    _kept(at, words)
    at.folded()
    assert len(words) >= LEAST_CANARIES


def _conversation(at: Aviary, words: Canaries) -> None:
    for number in range(12):
        text = f"I use {words.word('turn')} and {words.han('turn in Chinese')}" if number < 2 else f"so it is, {number}"
        told = {"turn_id": f"t{number}", "role": "user" if number % 2 == 0 else "assistant", "text": text}
        if number == 0:
            told["speaker"] = words.word("speaker of a turn")
        at.append(("TurnRecorded", told))
    result = {"text": words.word("tool result"), "tool": words.word("name of a tool"), "turn_id": "t1"}
    at.append(("ToolResultRecorded", result))
    at.append(
        ("TurnRecorded", {"turn_id": "ep", "role": "user", "text": f"My dog is called {words.word('extracted')}"})
    )


def _memories(at: Aviary, words: Canaries) -> None:
    whole = {
        "summary": words.word("summary"),
        "speaker": words.word("speaker"),
        "keywords": [words.word("keyword"), words.han("keyword in Chinese")],
        "tags": [words.word("tag")],
        "project": words.word("project"),
        "task": words.word("task"),
        "because": words.word("because"),
        "grounds": [{"uri": f"https://w.example.org/{words.word('ground')}", "digest": "sha256:9f86d081"}],
        "metadata": {words.word("name of metadata"): words.word("metadata")},
    }
    at.append(created(words, "whole", **whole))
    at.append(
        created(words, "han", content=f"我喜欢{words.han('content in Chinese')}", summary=words.han("summary, han"))
    )
    at.append(*(created(words, name) for name in ("a", "b", "c", "d", "e", "f", "g", "h")))
    revised = {"memory_id": "a", "content": words.word("revision"), "summary": words.word("summary of a revision")}
    at.append(("MemoryRevised", revised | {"because": words.word("why revised"), "tags": [words.word("tag, revised")]}))
    at.post("/memories", {"content": f"I play {words.word('added')}", "because": words.word("why added")})
    at.post("/memories/b/edit", {"content": f"I like {words.word('edited')} now"})


def _decisions(at: Aviary, words: Canaries) -> None:
    at.post("/memories/c/negate", {"correction": words.word("correction"), "reason": words.word("why negated")})
    at.post("/memories/d/negate", {"never": True, "reason": words.word("why rejected")})
    at.post("/memories/e/delete", {"reason": words.word("why deleted")})
    at.post("/memories/e/restore", {"reason": words.word("why restored")})
    at.append(("MemoryDeleted", {"memory_id": "e", "reason": words.word("why deleted, as an event")}))
    merged = {"sources": ["f", "g"], "summary": words.word("summary of a merge"), "into": "fg"}
    at.post("/merge", merged | {"reason": words.word("why merged")})
    at.post("/memories/fg/unmerge", {"reason": words.word("why unmerged")})
    at.append(("MemoryPromoted", {"memory_id": "h", "to": "episode", "reason": words.word("why promoted")}))
    at.append(("MemoryKept", {"memory_id": "h", "reason": words.word("why kept")}))
    at.post("/memories/h/sensitivity", {"level": 1, "reason": words.word("why sensitive")})
    at.append(created(words, "proposed", source="assistant"), actor="assistant", trust="proposed")
    waiting = at.get("/inbox")["items"]
    assert waiting
    rejected = {"item": waiting[0]["item"], "reason": words.word("why a proposal was rejected")}
    at.post("/inbox/reject", rejected)
    at.post("/set-aside", {"session": "s9", "reason": words.word("why set aside")})
    at.post("/bring-back", {"session": "s9", "reason": words.word("why brought back")})


def _relations(at: Aviary, words: Canaries) -> None:
    fact = {"subject": words.word("subject"), "predicate": words.word("predicate"), "object": words.word("object")}
    fact |= {"evidence": ["whole"], "condition": words.word("condition")}
    at.append(("FactAsserted", fact))
    at.post("/synonyms", {"word": words.word("word with a synonym"), "synonym": words.han("synonym")})


def _secrets(at: Aviary, words: Canaries) -> None:
    secret = {"sensitivity": 3, "content": f"the code is {words.word('secret', secret=True)}"}
    at.append(created(words, "safe", **secret, summary=words.word("summary of a secret", secret=True)))
    at.post("/memories/safe/reveal", {"reason": words.word("why revealed", secret=True)})


def _brought(at: Aviary, words: Canaries) -> None:
    record = {"id": "row", "content": words.word("imported record"), "created_at": "2026-01-05T08:00:00Z"}
    at.post("/import/records", [record | {"category": "pitfall", "keywords": [words.word("keyword, imported")]}])
    said = {"role": "user", "content": f"I ski in {words.word('imported chat')}"}
    at.post("/chats", [{"id": "c1", "created_at": "2026-01-05T08:00:00Z", "messages": [said]}])
    at.append(created(words, "old"), owner=PURGED, days=90)
    at.append(("MemoryDeleted", {"memory_id": "old", "reason": words.word("why purged")}), owner=PURGED, days=80)
    at.put(MemoryPurged(memory_id="old", due_at=NOW - timedelta(days=50)), PURGED, actor="system", days=40)
    parked = TurnRecorded(turn_id="p1", role="user", text=f"I use {words.word('parked')}")
    at.put(parked, PARKED, kind="TurnRecorded.99")
    wait_until(lambda: at.ask(f"/v1/dead/{PARKED}", allowed=(404,)).get("status") != 404)


def _asked(at: Aviary, words: Canaries) -> None:
    at.get("/search", query=words.word("question"))
    at.get("/search", query=words.han("question in Chinese"))
    at.get("/assess", topic=words.word("topic"))
    at.post("/context", {"text": f"what of {words.word('context')}?", "session": "s1", "trace": True})
    accessed = {
        "hits": [{"memory_id": "whole", "count": 1, "best_rank": 1, "last_at": NOW.isoformat()}],
        "via": "recall",
    }
    at.append(("MemoriesAccessed", accessed | {"query": words.word("query of an access")}))
    at.ask(f"/v1/owners/{OWNER}/search?query=&mode={words.word('a refused argument')}", allowed=(422,))
    broken = [{"type": "TurnRecorded", "owner": OWNER, "data": {"text": words.word("a refused event")}}]
    at.ask("/v1/events", broken, allowed=(422,))
    at.ask(f"/v1/owners/{OWNER}/memories/{words.word('an unknown id')}", allowed=(404,))


def _kept(at: Aviary, words: Canaries) -> None:
    """An owner of many memories, of whom what was shown is recorded."""
    first = created(words, "v0", content=f"I like the {words.word('content of a large owner')} in the hills")
    plain = [{"content": f"the hills are {number} feet high"} for number in range(1_000)]
    at.append(first, *(created(words, f"v{n + 1}", **one) for n, one in enumerate(plain[:500])), owner=LARGE)
    at.append(*(created(words, f"v{n + 501}", **one) for n, one in enumerate(plain[500:])), owner=LARGE)
    question = f"{words.word('question that is recorded')} hills"
    assert at.ask(f"/v1/owners/{LARGE}/search?query={question.replace(' ', '%20')}")["results"]
    told = f"/v1/owners/{LARGE}/events?types=MemoriesAccessed&limit=10"
    wait_until(lambda: at.ask(told)["events"])


def _operated(at: Aviary, words: Canaries) -> None:
    at.post("/extract", {})
    at.post("/episodes", {})
    at.post("/cleanup", {})
    at.ask("/v1/keys", {"principal": "bob", "grants": [], "reason": words.word("why a key was made")})
    told = at.ask(f"/v1/dead/{PARKED}")
    at.answers.append(str(told))
