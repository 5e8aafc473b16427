"""What if, and retracting, over HTTP, by the client and by an auditor's tools; no tool undoes anything."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from engramlog_server.api.services.replaying import questions_in
from engramlog_server.events.errors import InputError
from tests.given.client import Service, new_owner
from tests.rows import each_row


def test_by_http_it_is_refused_without_its_reach_and_with_another_one(running: Service) -> None:
    owner, client = quote(new_owner(), safe=""), running.http.client
    client.post(f"/v1/owners/{owner}/memories", json={"content": "I drink coffee", "memory_id": "coffee"})
    path, named = f"/v1/owners/{owner}/retract", {"without_actors": ["user"]}
    refused = client.post(path, json=named)
    assert (refused.status_code, refused.json()["field"]) == (422, "reach")
    looked = client.post(path, json=named | {"dry_run": True}).json()
    other = client.post(path, json=named | {"reach": "0" * 32})
    assert (other.status_code, other.json()["reach"], other.json()["goes"]["total"]) == (409, looked["reach"], 1)
    assert client.post(path, json=named | {"reach": looked["reach"], "actor": "assistant"}).status_code == 422
    done = client.post(path, json=named | {"reach": looked["reach"], "reason": "not she"}).json()
    assert [one["event"] for one in done["changes"]] == ["SourceSetAside"]
    assert client.get(f"/v1/owners/{owner}/memories").json()["memories"] == []


@each_row("content", ["", "\n  \n"])
def test_a_file_without_a_question_is_refused_by_its_name(tmp_path: Path, content: str) -> None:
    file = tmp_path / "saved.txt"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"saved\.txt.*this one holds none"):
        questions_in(file)


def test_a_file_of_questions_that_never_ends_is_refused() -> None:
    with pytest.raises(InputError, match="at most 20 questions"):
        questions_in(Path("/dev/zero"))
