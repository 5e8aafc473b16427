"""The words of one turn and of what was made of it are erased while a process has them in memory: what each face tells then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from engramlog_server.ops.erasure.machine import ErasureCertificate, carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.wiring import application_on
from engramlog_server.projections.views.event_words import mark
from tests.faces import FACES
from tests.given.faces import ENGLISH, OWNER, tell_all, untold_world
from tests.integration.erasure.test_every_face import Asking, said
from tests.rows import each_row

FINE = (200, 207, 0, 3, "told")


class Erased(NamedTuple):
    """A store in which the words of a turn were erased by another process, and what each face says of it."""

    made: Asking
    done: ErasureCertificate
    embedded: list[int]
    """How many contents the next two walks embedded."""
    before: dict[str, str]
    after: dict[str, str]


@pytest.fixture(scope="module")
def erased(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Erased]:
    folder = tmp_path_factory.mktemp("words") / "store"
    with untold_world(folder, ENGLISH) as world:
        tell_all(world)
        made = Asking(**vars(world))
        before = {name: face.ask(made) for name, face in FACES.items()}
        settings = Settings(
            redis_url=made.url,
            data=folder.parent / "another",
            sealed_by=str(folder / "master-key"),
            keys=str(folder / "keys.db"),
        )
        with open_the_store(settings) as another, application_on(another, settings, stays=False) as application:
            done = carry_out(another, settings, ErasurePlan(OWNER, ("t1",), "consent_withdrawn"), application)
        embedded = [made.app.embeddings.embed(OWNER)["embedded"] for _ in range(2)]
        yield Erased(made, done, embedded, before, {name: face.ask(made) for name, face in FACES.items()})


def test_it_is_certified(erased: Erased) -> None:
    assert (erased.done.verified, erased.done.differences, erased.done.not_proven) == (True, [], [])


@each_row("name", FACES)
def test_no_face_fails_or_tells_a_word_of_it(erased: Erased, name: str) -> None:
    told, was = said(erased.after[name]), said(erased.before[name])
    assert told.status in FINE or told.status == was.status or "was purged" in told.text, told
    assert "zuleika" not in told.text.casefold()


def blanks(told: Any) -> Iterator[dict[str, Any]]:
    """What has a place for words, and none in it, and is not said to be purged."""
    if isinstance(told, dict):
        if "" in (told.get("text"), told.get("content"), told.get("memory")) and told.get("status") != "purged":
            yield told
        told = list(told.values())
    for one in told if isinstance(told, list) else ():
        yield from blanks(one)


@each_row("name", FACES)
def test_no_face_shows_an_empty_text_as_if_somebody_had_said_it(erased: Erased, name: str) -> None:
    text = said(erased.after[name]).text
    told = [json.loads(line) for line in (text, *text.splitlines()) if line.startswith(("{", "[")) and is_json(line)]
    assert [one for one in blanks(told) if one not in list(blanks(before(erased, name)))] == []


def before(erased: Erased, name: str) -> list[Any]:
    text = said(erased.before[name]).text
    return [json.loads(line) for line in (text, *text.splitlines()) if line.startswith(("{", "[")) and is_json(line)]


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def get(erased: Erased, path: str, **query: Any) -> dict[str, Any]:
    answer = erased.made.client.get(f"/v1/owners/{OWNER}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_events_say_of_words_that_they_were_erased(erased: Erased) -> None:
    events = {one["position"]: one for one in get(erased, "events", limit=100)["events"]}
    told = [one for one in events.values() if one["withheld"] == "erased"]
    assert len(told) == erased.done.events
    assert {one["data"]["text"] for one in told if one["type"] == "TurnRecorded"} == {mark("erased")}
    assert {one["data"]["content"] for one in told if one["type"] == "MemoryCreated"} == {mark("erased")}
    assert {one["data"]["memory_id"] for one in told if one["type"] == "MemoryCreated"} >= {"t1", "typed"}, "ids stay"


def test_an_export_of_everything_says_so_too_and_whoever_takes_it_in_says_nothing_again(erased: Erased) -> None:
    client = erased.made.client
    text = client.get(f"/v1/owners/{OWNER}/export", params={"everything": True}).text
    lines = [json.loads(line) for line in text.splitlines()]
    gone = [one for one in lines if one.get("withheld") == "erased"]
    assert [one["event"]["data"].get("turn_id") for one in gone if one["part"] == "turn"] == ["t1"]
    answer = client.post(
        "/v1/owners/another/import/records", content=text, headers={"content-type": "application/x-ndjson"}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["said_withheld"] == len([one for one in gone if one["part"] in ("turn", "tool_result")])
    assert "zuleika" not in client.get("/v1/owners/another/events", params={"limit": 100}).text.casefold()
    assert mark("erased") not in client.get("/v1/owners/another/events", params={"limit": 100}).text


def test_vectors_of_what_is_left_are_due_and_made_by_the_next_walk(erased: Erased) -> None:
    """All of the owner's went, of which nobody knows whose words they were made of."""
    embedded, again = erased.embedded
    assert (embedded > 0, again) == (True, 0)
    found = get(erased, "search", query="tea", search_mode="semantic")["results"]
    assert found
    assert all(one["memory"] for one in found)


def test_an_episode_that_went_is_made_anew_of_what_is_left(erased: Erased) -> None:
    answer = erased.made.client.post(f"/v1/owners/{OWNER}/episodes", json={})
    assert answer.status_code == 200, answer.text
    episodes = [one for one in get(erased, "memories", limit=100)["memories"] if one["tier"] == "episode"]
    assert [set(one["source_turns"]) for one in episodes] == [{"t3", "t4"}], answer.text
    assert "The kiln is cold today" in episodes[0]["memory"]
