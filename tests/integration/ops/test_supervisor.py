"""The store of a process that lives long: shared while it is at work, given back while nobody asks, opened anew when it went."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from api.mcp.confined import confined_to
from api.mcp.connection import Connection
from api.requests.speaking import asked_by, caller_in_hand
from api.services.extracting import Extractor
from api.services.remembering import NewTurn
from api.services.store.operating import Operator
from events.errors import ConcurrencyError, EmbeddedRedisError, EngramlogError, StoreUnavailable
from ops.embedded.folder import read_server_file
from ops.embedded.server import open_folder
from ops.processes.supervisor import Supervisor
from ops.settings import Settings
from ops.wiring import open_application, quiet
from tests.integration.live import wait_until
from tests.patience import UntilTold


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "store", partitions=2)


@pytest.fixture
def keeper(settings: Settings) -> Iterator[Supervisor]:
    kept = Supervisor(settings, quiet, idle_seconds=3600)
    yield kept
    kept.close()


def remember(keeper: Supervisor, text: str) -> None:
    """Add a memory."""
    with keeper() as application:
        application.rememberer.add("ada", text)


def listed(keeper: Supervisor) -> int:
    """How many memories there are."""
    with keeper() as application:
        return int(application.reader.list("ada")["total"])


def test_nothing_is_opened_before_it_is_asked_for(settings: Settings, keeper: Supervisor) -> None:
    assert not settings.data.exists()
    assert listed(keeper) == 0
    assert settings.data.exists()


def test_a_command_joins_while_it_is_open_and_sees_what_was_written(settings: Settings, keeper: Supervisor) -> None:
    remember(keeper, "said here")
    with open_application(settings) as beside:
        assert beside.reader.list("ada")["total"] == 1
        beside.rememberer.add("ada", "said beside")
    assert listed(keeper) == 2


def test_it_leaves_when_nobody_asks_so_that_an_up_can_start_and_joins_that_one(settings: Settings) -> None:
    keeper = Supervisor(settings, quiet, idle_seconds=0.0)
    remember(keeper, "said before")
    with open_application(settings, "up"):
        running = read_server_file(settings.data)
        assert running is not None
        assert running.role == "up"
        assert listed(keeper) == 1
    keeper.close()


def test_an_up_waits_for_it_and_says_what_for(settings: Settings, keeper: Supervisor) -> None:
    remember(keeper, "said here")
    patience = UntilTold()
    with pytest.raises(EmbeddedRedisError, match=r"`engramlog mcp` \(pid \d+\) is at work"):
        open_folder(settings.data, "up", on_wait=patience.hear, now=patience.now)
    assert "waiting for `engramlog mcp`" in patience.told[0]


def test_it_opens_anew_when_the_server_that_it_joined_has_gone(settings: Settings, keeper: Supervisor) -> None:
    with open_application(settings, "up") as other:
        other.rememberer.add("ada", "said there")
        assert listed(keeper) == 1
    assert listed(keeper) == 1
    running = read_server_file(settings.data)
    assert running is not None
    assert running.role == "shared"


def test_what_was_shown_is_recorded_while_it_stays_open(keeper: Supervisor) -> None:
    remember(keeper, "the kiln is hot")
    with keeper() as application:
        key = application.reader.search("ada", "kiln")["results"][0]["id"]

    def accesses() -> int:
        with keeper() as application:
            return int(application.reader.get("ada", key, trace=False)["access_count"])

    assert wait_until(accesses) == 1


def test_a_store_that_cannot_be_opened_is_told_to_whoever_asks_and_tried_again(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    keeper = Supervisor(Settings(data=tmp_path / "store", partitions=2), quiet)
    for _ in range(2):
        with pytest.raises(EngramlogError, match="is a file, not a data folder"):
            listed(keeper)
    (tmp_path / "store").unlink()
    assert listed(keeper) == 0
    keeper.close()


def test_many_may_ask_at_once_and_one_opening_serves_them(keeper: Supervisor) -> None:
    threads = [Thread(target=remember, args=(keeper, f"text {number}")) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert listed(keeper) == 8


def test_a_closed_one_says_so(keeper: Supervisor) -> None:
    keeper.close()
    with pytest.raises(StoreUnavailable, match="stopping"):
        listed(keeper)


def tell_turn(keeper: Supervisor, text: str = "I live in Berlin.") -> None:
    """Record a turn, as the MCP server does."""
    with keeper() as application:
        rememberer = application.rememberer
        rememberer.add_turns("ada", [NewTurn("user", text)])
        keeper.heard("ada")


def kinds(keeper: Supervisor) -> list[str]:
    with keeper() as application:
        return sorted(one["kind"] for one in application.reader.list("ada")["memories"])


def has(keeper: Supervisor, memories: int) -> bool:
    return len(kinds(keeper)) == memories


def tended(keeper: Supervisor) -> None:
    """Wait until the keeper's thread has been at work since: until what is shown now is recorded."""
    with keeper() as application:
        key = application.reader.search("ada", "Berlin")["results"][0]["id"]

    def recorded() -> bool:
        with keeper() as application:
            return bool(application.reader.get("ada", key, trace=False)["access_count"])

    wait_until(recorded)


def test_in_a_pause_turns_become_typed_memories_where_the_setting_says_so(settings: Settings) -> None:
    keeper = Supervisor(
        settings.model_copy(update={"extraction": "rules"}), quiet, idle_seconds=3600, pause_seconds=0.0
    )
    for text, known in (("I live in Berlin.", 1), ("我喜欢爬山。", 2)):
        tell_turn(keeper, text)
        wait_until(partial(has, keeper, 2 * known))
    keeper.close()


def test_turns_stay_turns_where_the_setting_is_off(settings: Settings) -> None:
    keeper = Supervisor(settings, quiet, idle_seconds=3600, pause_seconds=0.0)
    tell_turn(keeper)
    tended(keeper)
    assert kinds(keeper) == ["episode"]
    keeper.close()


def test_where_a_job_worker_lives_turns_are_left_to_it(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper = Supervisor(
        settings.model_copy(update={"extraction": "rules"}), quiet, idle_seconds=3600, pause_seconds=0.0
    )
    asked: list[bool] = []

    def status(_operator: Operator) -> dict[str, Any]:
        asked.append(True)
        return {"lifecycle": {"leader": "a job worker"}}

    monkeypatch.setattr(Operator, "status", status)
    tell_turn(keeper)
    wait_until(lambda: asked)
    tended(keeper)
    assert kinds(keeper) == ["episode"]
    keeper.close()


def test_what_stands_in_the_way_of_extraction_is_told_and_the_store_stays_open(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, Any]] = []
    chosen = settings.model_copy(update={"extraction": "rules"})
    keeper = Supervisor(chosen, lambda _fact, **facts: told.append(facts), idle_seconds=3600, pause_seconds=0.0)

    def fails(_extractor: Extractor, owner: str, by: str) -> dict[str, Any]:
        raise ConcurrencyError(f"owner {owner} went on")

    with monkeypatch.context() as broken:
        broken.setattr(Extractor, "extract", fails)
        tell_turn(keeper)
        assert wait_until(lambda: told)[0]["reason"] == "owner ada went on"
    tell_turn(keeper, "我喜欢爬山。")
    wait_until(partial(has, keeper, 4))
    keeper.close()


def test_what_is_extracted_in_a_pause_is_brought_in_the_name_of_whoever_told_it_unless_his_key_was_revoked(
    settings: Settings,
) -> None:
    chosen = settings.model_copy(update={"extraction": "rules"})
    keeper = Supervisor(chosen, quiet, idle_seconds=3600, pause_seconds=0.0)
    with keeper() as application:
        made = application.keys.issue("agent-a", grants=[{"verbs": ["read", "produce"], "owners": ["*"]}])
    connection = Connection(keeper, "ada", keeper.heard, confined_to(made["key"]))
    with connection.told(None), connection.session() as asked:
        asked.application.rememberer.add_turns("ada", [NewTurn("user", "I live in Berlin.")])
    wait_until(partial(has, keeper, 2))
    assert _principals(keeper, "ada") == {"agent-a"}
    with connection.told(None), connection.session() as asked:
        asked.application.rememberer.add_turns("ada", [NewTurn("user", "我喜欢爬山。")])
        with keeper() as application:
            application.keys.revoke(made["key_id"])
    tended(keeper)
    assert kinds(keeper).count("episode") == 2
    assert len(kinds(keeper)) == 3
    keeper.close()


def test_who_may_less_neither_takes_the_place_of_the_store_nor_stands_in_anothers_way(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings.model_copy(update={"extraction": "rules"})
    keeper = Supervisor(chosen, quiet, idle_seconds=3600, pause_seconds=0.0)
    done: list[tuple[str, str]] = []

    def extracts(_extractor: Extractor, owner: str, by: str) -> dict[str, Any]:
        done.append((owner, caller_in_hand().name))
        if owner == "aa":
            raise ConcurrencyError("owner aa went on")
        return {}

    monkeypatch.setattr(Extractor, "extract", extracts)
    with keeper() as application:
        reads = application.keys.issue("agent", grants=[{"verbs": ["read", "produce"], "owners": ["*"]}])
        brings = application.keys.issue("feed", grants=[{"verbs": ["produce"], "owners": ["*"]}])
        keeper.heard("ada")
        for key, owner in ((brings, "a"), (reads, "aa"), (reads, "ada"), (reads, "bo")):
            with asked_by(confined_to(key["key"])(application)):
                keeper.heard(owner)
    wait_until(lambda: len(done) == 3)
    assert done == [("aa", "agent"), ("ada", "local"), ("bo", "agent")]
    keeper.close()


def _principals(keeper: Supervisor, owner: str) -> set[str]:
    with keeper() as application:
        return {one["principal"] for one in application.events.events(owner)["events"]}
