"""TAB completes owners and ids of the store that runs, as a shell asks for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.live import wait_until
from tests.integration.ops.test_up import EVENT, Up, get, post, running
from tests.patience import PATIENCE

DATA: Any = EVENT["data"]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Without jobs: what says the same would be merged, and TAB would offer what it became."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENGRAMLOG_JOB_WORKERS", "0")
        with running(tmp_path_factory.mktemp("completing") / "store") as started:
            started.ready()
            others = [("alicia", "m2"), ("bob-2", "m3"), ("alice", "coffee-1"), ("alice", "coffee-2")]
            events = [EVENT]
            for number, (owner, memory) in enumerate(others, 2):
                told = {"event_id": f"01890000-0000-7000-8000-00000000000{number}", "owner": owner}
                events.append(EVENT | told | {"data": {**DATA, "memory_id": memory}})
            post(started, events)
            wait_until(lambda: get(started, "/v1/status")["lag"] == 0)
            yield started


def offered(up: Up, *words: str) -> list[str]:
    """What a shell is told at a TAB behind the last of these words."""
    line = {"_ENGRAMLOG_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    told = subprocess.run(
        [sys.executable, "-P", "-c", "from engramlog_server.ops.main import main; main([])"],
        env={**up.environment, **line},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert told.stderr == ""
    return told.stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("engramlog", "search", "ali"), ["alice", "alicia"]),
        (("engramlog", "search", "bob"), ["bob-2"]),
        (("engramlog", "search", "a*"), []),
        (("engramlog", "get", "alice", "c"), ["coffee-1", "coffee-2"]),
        (("engramlog", "why", "alice", "m"), ["m1"]),
        (("engramlog", "get", "nobody", "c"), []),
        (("engramlog", "search", "alice", "tea", "--mode", "d"), ["debug"]),
        (("engramlog", "profile", "alice", "t"), ["tiered"]),
        (("engramlog", "expo"), ["export"]),
    ],
)
def test_a_tab_offers_what_there_is(up: Up, words: tuple[str, ...], found: list[str]) -> None:
    assert offered(up, *words) == found
