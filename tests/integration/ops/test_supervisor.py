"""The store of a process that lives long: shared while it is at work, given back while nobody asks, opened anew when it went."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from engramlog_server.events.errors import EmbeddedRedisError, EngramlogError, StoreUnavailable
from engramlog_server.ops.clock import silent
from engramlog_server.ops.embedded.folder import read_server_file
from engramlog_server.ops.embedded.server import open_folder
from engramlog_server.ops.processes.mcp import Supervisor
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from tests.integration.live import wait_until
from tests.patience import UntilTold


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "store", partitions=2)


@pytest.fixture
def keeper(settings: Settings) -> Iterator[Supervisor]:
    kept = Supervisor(settings, silent, idle_seconds=3600)
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
    keeper = Supervisor(settings, silent, idle_seconds=0.0)
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
    assert "`engramlog mcp`, or a service" in patience.told[0]


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
    keeper = Supervisor(Settings(data=tmp_path / "store", partitions=2), silent)
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
