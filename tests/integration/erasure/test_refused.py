"""What `engramlog erase` refuses, with nothing changed; and owners of every standing, who are erased all the same."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from engramlog_server.events.catalogue import TurnRecorded
from engramlog_server.events.errors import KeyUnavailable, OwnerErased, StoreFull
from engramlog_server.ops.commands.erase import MOST_REASON
from engramlog_server.ops.erasure.machine import carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan, owner_plan
from engramlog_server.ops.store import open_the_store
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.given.key_service import TOKEN, FakeKeyService
from tests.integration.erasure.erased import ADA, Erasing
from tests.integration.unsealed import Unsealed
from tests.servers import RedisServer


def standing(cli: Cli) -> tuple[object, ...]:
    """What must be the same after a refusal."""
    return (
        cli.json("verify", "--heads")["heads"],
        cli.json("list", "ada", "--at", "2026-02-01T00:00:00Z"),
        cli.json("verify")["ok"],
    )


REFUSED = {
    "a ground that is none": (
        ("ada", "--ground", "spite", "--yes"),
        "ground: got 'spite'; allowed: consent_withdrawn,",
    ),
    "nobody named": (("--yes",), "owner: got nothing; allowed: an owner, or --again alone"),
    "a name beside --again": (("ada", "--again", "--yes"), "owner: got an owner and --again; allowed: one of the two"),
    "the store's own keys": (
        (":access", "--yes"),
        "owner: got ':access'; allowed: an owner's name that does not begin with",
    ),
    "the store's own reads": ((":reads", "--yes"), "owner: got ':reads'"),
    "what was erased": ((":erasures", "--yes"), "owner: got ':erasures'"),
    "a colon of one's own": ((":me", "--yes"), "owner: got ':me'"),
    "another Unicode form": ((unicodedata.normalize("NFD", "josé"), "--yes"), "owner: got"),
    "an empty name": (("", "--yes"), "owner: got ''"),
    "a certificate of --again": (("--again", "--certificate", "c.json"), "certificate: got"),
    "a reason that is too long": (
        ("ada", "--yes", "--reason", "x" * (MOST_REASON + 1)),
        "reason: got 2,001 characters; allowed: at most",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_by_name_and_nothing_is_changed(cli: Cli, folder: Path, what: str) -> None:
    words, told = REFUSED[what]
    before = standing(cli)
    refused = cli.json("erase", *words, code=2)
    assert refused["error"] == "InputError"
    assert told in refused["message"]
    assert standing(cli) == before
    assert not (folder / "erasures.jsonl").exists()
    assert "erasure_left" not in str(cli.json("alarms"))


def test_an_owner_of_whom_nothing_is_known_is_refused(cli: Cli, folder: Path) -> None:
    refused = cli.json("erase", "zoe", "--yes", code=2)
    assert (refused["error"], "an owner with events in this store" in refused["message"]) == ("NotFound", True)
    assert not (folder / "erasures.jsonl").exists()


@pytest.mark.parametrize("there", ["a file", "a folder"])
def test_a_certificate_goes_into_a_new_file_alone(cli: Cli, folder: Path, tmp_path: Path, there: str) -> None:
    path = tmp_path / "kept"
    path.write_text("mine") if there == "a file" else path.mkdir()
    before = standing(cli)
    refused = cli.json("erase", "ada", "--yes", "--certificate", str(path), code=2)
    assert "certificate: got" in refused["message"]
    assert path.is_dir() or path.read_text() == "mine"
    assert standing(cli) == before


def test_a_certificate_that_cannot_be_written_there_is_refused_before_anything_is_destroyed(
    cli: Cli, folder: Path, tmp_path: Path
) -> None:
    before = standing(cli)
    refused = cli.json("erase", "ada", "--yes", "--certificate", str(tmp_path / "nowhere" / "c.json"), code=2)
    assert "certificate: got" in refused["message"]
    assert standing(cli) == before


def test_without_yes_it_tells_what_it_would_do(cli: Cli, folder: Path) -> None:
    before, refused = standing(cli), cli.json("erase", "ada", code=2)
    plan = refused["plan"]
    assert (refused["error"], "field" in refused, standing(cli)) == ("NotConfirmed", False, before)
    assert (plan["owner"], plan["events"], plan["memories"], plan["open_entries"], plan["ended"]) == (
        "ada",
        3,
        3,
        0,
        False,
    )
    assert "There is no way back" not in cli("erase", "ada", code=2).err


def test_a_store_that_lies_open_is_told_to_seal_first(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", "none")
    cli.json("append", "-", stdin=lines([event(1)]))
    before = standing(cli)
    refused = cli.json("erase", "ada", "--yes", code=2)
    assert "`engramlog seal` first" in refused["message"]
    assert standing(cli) == before


def alike() -> list[tuple[str, str]]:
    """Two owners each who look the same to a person, and are not."""
    return [
        ("ada", "Ada"),
        ("josé", "jose"),
        ("ada", "\u0430da"),
        ("straße", "strasse"),
        ("李", unicodedata.lookup("CJK UNIFIED IDEOGRAPH-674F")),
    ]


@pytest.mark.parametrize(("one", "other"), alike())
def test_an_owner_who_is_alike_but_for_case_or_unicode_form_is_another(
    redis_server: RedisServer, tmp_path: Path, one: str, other: str
) -> None:
    store = Erasing(redis_server, tmp_path, memories=1)
    with store.live() as live:
        live.append(live.created(one, "x1", "of one"), live.created(other, "x1", "of the other"))
    store.fold()
    kept = store.records(other), store.events(other)
    store.erase(one)
    assert store.is_silent(one)
    assert (store.records(other), store.events(other)) == kept
    assert store.label(one) != store.label(other)
    assert store.differences() == []


def test_where_a_second_build_has_no_room_nothing_is_changed(redis_server: RedisServer, tmp_path: Path) -> None:
    store = Erasing(redis_server, tmp_path)
    with redis_server.client() as client:
        client.config_set("maxmemory", int(client.info("memory")["used_memory"]) + 100_000)
    before, others = store.records(ADA), store.neighbourhood()
    with pytest.raises(StoreFull, match="a rebuild needs about"):
        store.erase()
    assert not store.is_fenced()
    assert (store.records(ADA), store.neighbourhood(), store.listed()) == (before, others, [])


def test_an_owner_of_before_the_store_was_sealed_is_erased_wholly(redis_server: RedisServer, tmp_path: Path) -> None:
    """`engramlog seal` sealed what it had said before: nothing of it lies open."""
    laid = Unsealed(redis_server, tmp_path)
    laid.seal()
    with open_the_store(laid.settings) as store:
        told = owner_plan(store, laid.settings, "ada")
        assert (told["events"], told["open_entries"]) == (10, 0)
        done = carry_out(store, laid.settings, ErasurePlan("ada", (), "objection"))
        assert (done.verified, done.open_entries, done.not_proven) == (True, 0, [])
        with pytest.raises(OwnerErased), store.views.view("ada"):
            pass
        with store.views.view("bob") as (view, _):
            assert len(view) == 5
    laid.client.close()


def test_an_owner_who_stands_still_is_erased_with_what_is_parked(redis_server: RedisServer, tmp_path: Path) -> None:
    store = Erasing(redis_server, tmp_path)
    with store.live() as live:
        odd = live.event(TurnRecorded(turn_id="p", role="user", text="parked"), ADA)._replace(kind="TurnRecorded.99")
        live.append(odd, live.mentioned(ADA, "m0"))
    store.fold()
    with store.opened() as opened:
        assert owner_plan(opened, store.settings, ADA)["parked"] == 2
    others = store.neighbourhood()
    done = store.erase()
    assert (done.events, done.verified) == (12, True)
    assert store.left_of() == []
    assert store.differences() == []
    assert store.neighbourhood() == others


def test_an_owner_whose_events_are_not_folded_yet_is_erased(redis_server: RedisServer, tmp_path: Path) -> None:
    store = Erasing(redis_server, tmp_path)
    with store.live() as live:
        for number in range(20):
            live.append(live.created(ADA, f"n{number}"), live.created("bob", f"n{number}"))
    done = store.erase()
    assert (done.events, done.verified) == (30, True)
    store.fold()
    assert store.left_of() == []
    assert store.differences() == []


def test_an_owner_with_events_and_no_line_of_its_own_is_fenced_too(redis_server: RedisServer, tmp_path: Path) -> None:
    """Its secret was lost: nobody can read it, and nobody may say anything under its name again."""
    store = Erasing(redis_server, tmp_path)
    with redis_server.client() as client:
        client.hdel(f"{{{store.tag()}}}:keys", ADA)
    store.erase()
    assert store.is_fenced()
    assert store.is_silent()
    assert store.left_of() == []


@pytest.fixture
def served(redis_server: RedisServer, tmp_path: Path, service: FakeKeyService) -> Erasing:
    """A store under a key service."""
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    return Erasing(redis_server, tmp_path, service=(service.setting, token))


def test_while_the_key_service_is_away_it_is_refused_with_nothing_changed(
    served: Erasing, service: FakeKeyService
) -> None:
    """To destroy a key needs none; to write down that it was does."""
    before, others = served.records(ADA), served.neighbourhood()
    service.says(503)
    with pytest.raises(KeyUnavailable):
        served.erase()
    assert not served.is_fenced()
    service.answers()
    assert (served.records(ADA), served.neighbourhood()) == (before, others)
    assert (served.listed(), served.told(), served.differences()) == ([], [], [])
    assert served.erase().verified


@pytest.mark.parametrize("point", ["after the fence", "after their words"])
def test_a_key_service_that_goes_away_before_the_fold_takes_nothing_from_others(
    served: Erasing, service: FakeKeyService, point: str
) -> None:
    """Folded anew without their keys, they would stand still."""
    others = served.neighbourhood()
    with pytest.raises(KeyUnavailable, match="the partition's other owners are folded again"):
        served.erase(probe=lambda at: service.says(503) if at == point else None)
    service.answers()
    assert served.is_fenced()
    assert served.alarm_stands
    assert served.neighbourhood() == others
    assert served.erase().verified
    assert served.neighbourhood() == others


def test_a_key_service_that_goes_away_while_it_is_folded_is_told_and_the_next_run_has_everybody_back(
    served: Erasing, service: FakeKeyService
) -> None:
    """Whoever's key was not at hand stands still, as after any fold without it."""
    others = served.neighbourhood()
    served.kill("after the fence")  # the next run collects no probes, so it does not have the neighbours' keys yet
    done = served.erase(probe=lambda at: service.says(503) if at == "between prefetch and commit" else None)
    service.answers()
    assert not done.verified
    assert served.left_of() == []
    assert served.erase().verified
    assert served.differences() == []
    assert served.neighbourhood() == others


def test_a_key_service_that_goes_away_behind_the_fold_stops_nothing(served: Erasing, service: FakeKeyService) -> None:
    others = served.neighbourhood()
    served.erase(probe=lambda at: service.says(503) if at == "before files are rewritten" else None)
    service.answers()
    assert (served.left_of(), served.differences()) == ([], [])
    assert served.neighbourhood() == others


@pytest.mark.parametrize("point", ["after the fence", "after their words", "before files are rewritten"])
def test_killed_while_the_key_service_went_away_it_stays_fenced_and_is_ended_once_it_is_back(
    served: Erasing, service: FakeKeyService, point: str
) -> None:
    others = served.neighbourhood()
    served.kill(point)
    service.says(503)
    with pytest.raises(KeyUnavailable):
        served.erase()
    assert served.is_fenced()
    assert served.is_silent()
    service.answers()
    assert served.alarm_stands
    assert served.erase().verified
    assert not served.alarm_stands
    assert served.left_of() == []
    assert served.differences() == []
    assert served.neighbourhood() == others


def test_erasing_again_that_fails_in_between_prints_one_document(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> None:
        raise StoreFull("no room for it")

    assert folder.is_dir()
    monkeypatch.setattr("engramlog_server.ops.commands.erase._unfinished", lambda *_told: [refused, refused])
    told = cli.json("erase", "--again", code=1)
    assert told["certificates"] == []
    assert [(one["error"], one["message"]) for one in told["failed"]] == [("StoreFull", "no room for it")] * 2
