"""A poisoned session, or an agent that lies, is contained: nothing of it is told anywhere until a person brings it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.trust.doors import DOORS, READERS, Doors, Reads, silent_about
from tests.given.client import connected

MINE = "I live in Porto. I own a canoe."
POISON = "I moved to Lisbon, not Porto any more. I live in Lisbon. I own a llama."
BAD = "s-poisoned"
Sets = Callable[[Doors, str, str], Any]


def by_http(doors: Doors, owner: str, verb: str) -> Any:
    answer = doors.running.http.client.post(f"/v1/owners/{owner}/{verb}", json={"session": BAD, "reason": "it lies"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def by_command(doors: Doors, owner: str, verb: str) -> Any:
    undo = ["--undo"] if verb == "bring-back" else []
    return doors.command("set-aside", owner, *undo, "--session", BAD, "--reason", "it lies")


def by_client(doors: Doors, owner: str, verb: str) -> Any:
    with connected("sync", doors.running.url, owner=owner) as memory:
        return getattr(memory, verb.replace("-", "_"))(session=BAD, reason="it lies").as_dict()


def told_in_normal(doors: Doors, owner: str, asked: str) -> dict[str, str]:
    """What every place tells but those of review mode; also the block of the session itself."""
    places = {place: text for place, text in doors.told(owner, asked).items() if "review" not in place}
    body = {"text": asked, "session": BAD, "trace": False}
    block = doors.running.http.client.post(f"/v1/owners/{owner}/context", json=body)
    return places | {"the session's own context": block.text}


def poisoned(doors: Doors, door: str, reader: Reads) -> str:
    """An owner of whom one session tells the truth and the other does not."""
    owner = doors.owner()
    doors.say(door, owner, MINE)
    doors.extract(owner, reader)
    doors.say(door, owner, POISON, session=BAD)
    doors.extract(owner, reader)
    return owner


@pytest.mark.parametrize(
    ("door", "sets"), [*zip(DOORS, (by_http, by_command, by_client, by_http), strict=True)], ids=DOORS
)
@pytest.mark.parametrize("reader", READERS)
def test_nothing_of_a_session_that_is_set_aside_is_told_and_all_of_it_once_it_is_brought_back(
    doors: Doors, door: str, sets: Sets, reader: Reads
) -> None:
    owner = poisoned(doors, door, reader)
    before = told_in_normal(doors, owner, "which animal does the user own, a llama?")
    assert len(silent_about(before, ["own a llama"])) > 5, "it is told while nobody knows better"

    answer = sets(doors, owner, "set-aside")
    assert answer["memories"] >= 2
    told = told_in_normal(doors, owner, "where does the user live, and what is owned there?")
    assert silent_about(told, ["lisbon", "llama"]) == []
    assert silent_about(told, ["canoe"]), "the other session stays"
    assert "I live in Porto" in "".join(doors.memories(owner).values()), "what it took back of others stands"
    assert "llama" in "".join(doors.memories(owner, "review").values()), "review mode shows it"

    doors.say(door, owner, "I own a parrot.", session=BAD)
    doors.say(door, owner, "I own a bicycle.")
    doors.jobs(owner)
    told = told_in_normal(doors, owner, "what does the user own?")
    assert silent_about(told, ["lisbon", "llama", "parrot"]) == [], "nor what it says later"
    assert silent_about(told, ["bicycle"])

    sets(doors, owner, "bring-back")
    shown = "".join(doors.memories(owner).values())
    assert [word for word in ("llama", "parrot", "canoe") if word not in shown] == []


def test_an_agent_s_words_are_set_aside_by_the_name_in_which_it_spoke(doors: Doors) -> None:
    owner = doors.owner()
    doors.remember("http", owner, "I own a canoe")
    doors.running.http.client.post(
        f"/v1/owners/{owner}/memories", json={"content": "The user owns a llama", "actor": "assistant"}
    )
    preview = doors.command("set-aside", owner, "--of-actor", "assistant", "--dry-run")
    assert (preview["memories"], preview["dry_run"], doors.command("set-aside", owner)["total"]) == (1, True, 0)
    doors.command("set-aside", owner, "--of-actor", "assistant")
    told = told_in_normal(doors, owner, "what does the user own?")
    assert silent_about(told, ["llama"]) == []
    assert silent_about(told, ["canoe"])
