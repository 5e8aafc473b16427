"""What an erasure of single memories refuses, with nothing changed, and by which exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.events.errors import InputError, KeyUnavailable, NotFound, OwnerErased, OwnerQuarantined
from engramlog_server.ops.erasure.plan import MOST_NAMED, ErasurePlan, words_plan
from tests.acceptance.helpers.cli import Cli
from tests.given.key_service import TOKEN, FakeKeyService
from tests.integration.erasure.words.erased_words import ADA, ErasingWords, made
from tests.servers import Servers


@pytest.fixture
def store(redis_servers: Servers, tmp_path: Path) -> ErasingWords:
    return ErasingWords(redis_servers.get("valkey"), tmp_path)


def standing(cli: Cli) -> tuple[object, ...]:
    """What must be the same after a refusal."""
    return (
        cli.json("events", "ada")["events"],
        cli.json("list", "ada", "--at", "2026-02-01T00:00:00Z")["memories"],
        cli.json("verify")["ok"],
    )


REFUSED = {
    "an unknown id": (("ada", "m99", "--yes"), "NotFound", "ids: got 'm99'; allowed: ids of memories or turns of owner"),
    "one of two that nothing tells of": (("ada", "m0", "m99", "--yes"), "NotFound", "ids: got 'm99'"),
    "another owner's memory": (("ada", "m1", "--yes"), "NotFound", "ids: got 'm1'"),
    "an owner of whom nothing is known": (("zoe", "m0", "--yes"), "NotFound", "ids of memories or turns of owner zoe"),
    "an id with a separator, which is two": (("ada", "m0,m77", "--yes"), "NotFound", "ids: got 'm77'"),
    "odd characters": (("ada", "../m0", "--yes"), "NotFound", "ids: got '../m0'"),
    "a character that shows nothing": (("ada", "m0\u200b", "--yes"), "NotFound", "ids: got 'm0"),
    "what a shell would expand": (("ada", "*", "--yes"), "NotFound", "ids: got '*'"),
    "another case": (("ada", "M0", "--yes"), "NotFound", "ids: got 'M0'"),
    "a very long id": (("ada", "m" * 5_000, "--yes"), "NotFound", "ids: got 'mmm"),
    "only separators": (("ada", ", ;", "--yes"), "InputError", "ids: got 0; allowed: 1 to 1,000"),
    "too many": (("ada", *(f"x{at}" for at in range(MOST_NAMED + 1)), "--yes"), "InputError", "ids: got 1001; allowed: 1 to 1,000"),
    "the store's own keys": ((":access", "m0", "--yes"), "InputError", "owner: got ':access'"),
    "what was erased": ((":erasures", "m0", "--yes"), "InputError", "owner: got ':erasures'"),
    "no --yes where nobody can be asked": (("ada", "m0"), "NotConfirmed", "then add --yes"),
    "ids beside --again": (("ada", "m0", "--again", "--yes"), "InputError", "owner: got an owner and --again"),
    "a ground that is none": (("ada", "m0", "--yes", "--ground", "spite"), "InputError", "ground: got 'spite'"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_by_name_and_nothing_is_changed(cli: Cli, folder: Path, what: str) -> None:
    words, error, told = REFUSED[what]
    before = standing(cli)
    refused = cli.json("erase", *words, code=2)
    assert refused["error"] == error
    assert told in refused["message"]
    assert standing(cli) == before
    assert not (folder / "erasures.jsonl").exists()
    assert "erasure_left" not in str(cli.json("alarms"))


def test_without_yes_it_tells_what_it_would_do(cli: Cli, folder: Path) -> None:
    plan = cli.json("erase", "ada", "m0", code=2)["plan"]
    assert plan["goes"]["memories"] == [{"id": "m0", "why": "it is named"}]
    assert (plan["goes"]["entries"], plan["goes"]["by_type"]) == (1, {"MemoryCreated": 1})
    assert {one["of"] for one in plan["elsewhere"]["says_it_too"]} == {"m2", "m4"}


def test_an_id_of_odd_characters_that_is_there_is_erased(store: ErasingWords) -> None:
    odd = ("a:b", "团队-记", "x/../y", "r|s", "{t}")
    taken = list[str]()
    for one in odd:
        try:
            store.add(ADA, (f"odd {one}", made(one, f"a pangolin called {one}"), None))
        except InputError:  # no id
            continue
        taken.append(one)
    assert len(taken) > 1
    assert store.erase_words(*taken).memories == len(taken)
    assert "pangolin" not in str(store.log())
    assert store.differences() == []


def test_who_stands_still_is_refused_with_what_to_do(store: ErasingWords) -> None:
    """What would be said now would wait behind what could not be folded."""
    with store.live() as live:
        odd = live.event(TurnRecorded(turn_id="p", role="user", text="parked"), ADA)._replace(kind="TurnRecorded.99")
        live.append(odd, live.mentioned(ADA, "pet"))
    store.fold()
    before = store.records(ADA), [one for one, _ in store.log()]
    with store.application() as (application, opened), pytest.raises(OwnerQuarantined, match="engramlog dead"):
        words_plan(application, opened, ErasurePlan(ADA, ("pet",), "objection"))
    with pytest.raises(OwnerQuarantined, match="engramlog dead"):
        store.erase_words("pet")
    assert (store.records(ADA), [one for one, _ in store.log()]) == before
    assert store.listed_words() == []
    assert not store.alarm_stands


def test_who_was_erased_is_refused_by_name(store: ErasingWords) -> None:
    store.erase()
    with pytest.raises(OwnerErased):
        store.erase_words("pet")
    assert store.listed_words() == []
    assert store.differences() == []


@pytest.fixture
def served(redis_servers: Servers, tmp_path: Path, service: FakeKeyService) -> ErasingWords:
    """A store under a key service."""
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    return ErasingWords(redis_servers.get("valkey"), tmp_path, service=(service.setting, token))


@pytest.mark.parametrize("point", ["after they are deleted", "after their words"])
def test_a_key_service_that_goes_away_meanwhile_takes_nothing_from_others(
    served: ErasingWords, service: FakeKeyService, point: str
) -> None:
    others = served.standing(*served.others)
    with pytest.raises(KeyUnavailable):
        served.erase_words(probe=lambda at: service.says(503) if at == point else None)
    service.answers()
    assert served.alarm_stands
    assert served.standing(*served.others) == others
    assert served.erase_words().verified
    assert served.standing(*served.others) == others
    assert served.differences() == []


def test_an_unknown_id_of_the_python_face_is_told_with_all_of_them(store: ErasingWords) -> None:
    with pytest.raises(NotFound) as caught:
        store.erase_words("pet", "nobody", "nothing")
    assert caught.value.context["ids"] == ["nobody", "nothing"]
    assert store.listed_words() == []
