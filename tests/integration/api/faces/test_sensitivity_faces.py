"""Setting a sensitivity by hand, at every face: by a person it holds, and search goes by it; by an agent it is refused."""

from __future__ import annotations

import pytest

from engramlog_server.api.cli.show.generic import answer as level_set
from tests.given.client import Service
from tests.given.http import HttpStore, created, event
from tests.given.mcp import in_process, talk

PASSWORD = "My password is hunter2-Xq9!"


@pytest.fixture
def http(running: Service) -> HttpStore:
    return running.http


def found(http: HttpStore, owner: str, words: str = "password hunter2") -> list[str]:
    answer = http.application.reader.search(owner, words, trace=False)
    return [one["memory"] for one in answer["results"]]


def test_over_http_a_user_sets_it_and_it_is_found_then(http: HttpStore) -> None:
    owner = "alice"
    http.told(owner, created("m", PASSWORD, sensitivity=0))
    assert found(http, owner) == []
    path = f"/v1/owners/{owner}/memories/m/sensitivity"
    for actor in ("assistant", "judge", "system", "operator"):
        answer = http.client.post(path, json={"level": 0, "reason": "made up", "actor": actor})
        assert (answer.status_code, answer.json()["field"]) == (422, "actor")
    for wrong in (
        {"level": 4, "reason": "x"},
        {"level": 0},
        {"level": 0, "reason": " "},
        {"level": True, "reason": "x"},
    ):
        assert http.client.post(path, json=wrong).status_code == 422
    assert found(http, owner) == []
    answer = http.client.post(path, json={"level": 0, "reason": "made up"})
    assert (answer.status_code, answer.json()["changes"][0]["decision"]) == (200, "sensitivity")
    assert found(http, owner) == [PASSWORD]
    (_, change) = http.client.get(f"/v1/owners/{owner}/memories/m/history").json()["changes"]
    assert (change["reason"], change["actor"]) == ("sensitivity 0, set by hand (it was 3)", "user")
    http.client.post(path, json={"level": 3, "reason": "it is used after all"})
    assert found(http, owner) == []


@pytest.mark.parametrize("actor", ["assistant", "judge", "system", "operator"])
def test_as_a_raw_event_it_is_refused_of_whoever_is_no_user(http: HttpStore, actor: str) -> None:
    http.told("raw", created("m", PASSWORD))
    told = event("SensitivitySet", owner="raw", key=actor, memory_id="m", level=0, reason="made up") | {"actor": actor}
    answer = http.client.post("/v1/events", json=[told])
    assert (answer.status_code, answer.json()["problems"][0]["field"]) == (422, "actor")
    assert found(http, "raw") == []


def test_no_tool_of_an_agent_sets_it(http: HttpStore) -> None:
    async def talking(agent: object) -> set[str]:
        return {one.name for one in (await agent.client.list_tools()).tools}  # type: ignore[attr-defined]

    tools = talk(in_process(http.application, "alice"), talking)
    assert not any("sensitiv" in one for one in tools)
    assert len(tools) == 12


def test_a_turn_made_secret_names_the_statements_drawn_from_it_that_are_told_as_before(
    http: HttpStore, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = "drawn"
    http.told(owner, created("t", "I moved to Graz and I keep bees", source_turns=["t"], kind="episode"))
    drawn = {f"d{n:02}": created(f"d{n:02}", f"The user keeps bee {n}", source_turns=["t"]) for n in range(24)}
    http.told(owner, *drawn.values(), created("other", "I sell honey", source_turns=["t2"]))
    path = f"/v1/owners/{owner}/memories"
    assert http.client.post(f"{path}/delete", json={"ids": ["d00"]}).status_code == 200
    assert (
        http.client.post(f"{path}/d01/sensitivity", json={"level": 3, "reason": "mine"}).json().get("statements")
        is None
    )
    asked = {"level": 3, "reason": "mine"}
    would, did = (
        http.client.post(f"{path}/t/sensitivity", json=asked | more).json() for more in ({"dry_run": True}, {})
    )
    assert would["statements"] == did["statements"] == {"count": 22, "ids": sorted(drawn)[2:22]}
    told = [http.client.get(f"{path}/{one}").json()["sensitivity"] for one in ("t", "d02")]
    assert told == [3, 0]
    lowered = http.client.post(f"{path}/t/sensitivity", json={"level": 0, "reason": "no secret"}).json()
    assert lowered["statements"] == {"count": 0, "ids": []}
    level_set(did)
    said = " ".join(capsys.readouterr().out.split())
    assert "statements count 22 ids d02, d03" in said
    assert "and 8 more" in said
