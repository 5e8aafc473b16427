"""`POST /v1/owners/{owner}/episodes`: a preview, then the same done once, as documented; uses reach the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from api.operations.answers import Left
from tests.given.http import event, http_store

PATH = "/v1/owners/ada/episodes"
SAID = [
    ("t1", "user", "What can I eat in Thailand?", "2024-05-01T09:00:00Z"),
    ("t2", "assistant", "You are allergic to peanuts, so ask first.", "2024-05-01T09:00:20Z"),
]


def told(event_type: str, at: str, actor: str = "user", session: str | None = "s1", **data: Any) -> dict[str, Any]:
    return (
        event(event_type, owner="ada", at=at, **data) | {"actor": actor} | ({"session_id": session} if session else {})
    )


def test_it_tells_what_would_be_made_and_then_makes_it_once(tmp_path: Path) -> None:
    memory = {"memory_id": "peanuts", "content": "I am allergic to peanuts", "category": "fact", "kind": "fact"}
    hit = {"memory_id": "peanuts", "count": 1, "best_rank": 1, "last_at": "2024-05-01T09:00:10Z"}
    asked, replied = (told("TurnRecorded", at, role, turn_id=one, role=role, text=text) for one, role, text, at in SAID)
    injected = told("MemoriesAccessed", hit["last_at"], "assistant", hits=[hit], via="injection", turn_id="t1")
    with http_store(tmp_path / "store") as store:
        known = told("MemoryCreated", "2024-04-01T09:00:00Z", session=None, source="user", **memory)
        store.told("ada", known, asked, injected, replied)
        foreseen = store.client.post(PATH, json={"dry_run": True}).json()
        assert (foreseen["counts"], foreseen["appended"]) == ({"summarise": 1, "use": 1}, 0)
        done = store.client.post(PATH).json()
        assert (done["episodes"], done["uses"], done["appended"]) == (foreseen["episodes"], foreseen["uses"], 2)
        assert store.client.post(PATH, json={}).json()["counts"] == {}
        for answer in (foreseen, done):
            Left.model_validate(answer, strict=True)
        (use,) = [
            one
            for one in store.client.get("/v1/owners/ada/memories/peanuts/history").json()["changes"]
            if one["event"] == "MemoryReinforced"
        ]
        assert use["reason"].startswith("outcome used")
        detail = store.client.get("/v1/owners/ada/memories/peanuts").json()
        assert detail["importance"] > 1
        assert store.client.post(PATH, json={"dryrun": True}).status_code == 422
