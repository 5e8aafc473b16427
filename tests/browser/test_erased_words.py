"""Words were erased by the command while the service runs: the screens say of what stays that its source was erased, and of events
that they have no words, in both languages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.browser.pages import Console, place
from tests.browser.service import Service, served
from tests.patience import PATIENCE

OWNER = "ann"
ERASED = {
    False: ("its source was erased", "words withheld: erased for good"),
    True: ("来源文字已擦除", "文字已隐藏：已永久擦除"),
}


@pytest.fixture(scope="module")
def erased(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    """A service in which one of two statements of a turn was erased with the turn, and the id of the other."""
    with served(tmp_path_factory.mktemp("erased") / "store") as service:
        talk = [{"role": "user", "content": "I live in Lisbon. I own a canoe."}]
        at = "2026-11-20T08:00:00Z"
        service.ask(f"/v1/owners/{OWNER}/chats", [{"id": "c1", "created_at": at, "messages": talk}])
        service.ask(f"/v1/owners/{OWNER}/extract", {})
        memories = service.ask(f"/v1/owners/{OWNER}/memories?limit=100")["memories"]
        gone, sibling = (
            next(one["id"] for one in memories if word in one["memory"] and one["id"].startswith("m-"))
            for word in ("Lisbon", "canoe")
        )
        command = ("-m", "engramlog_server.ops.main", "erase", OWNER, gone, "--ground", "objection", "--yes", "--json")
        ended = subprocess.run(
            [sys.executable, "-P", *command],
            env=service.environment,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        done = json.loads(ended.stdout)
        assert (done["verified"], done["not_proven"]) == (True, [])
        yield service, sibling


@pytest.mark.parametrize("chinese", [False, True])
def test_a_sibling_and_the_log_say_what_was_erased(
    open_console: Callable[..., Console], erased: tuple[Service, str], *, chinese: bool
) -> None:
    service, sibling = erased
    source, event = ERASED[chinese]
    console = open_console(service, place(OWNER, "memory", sibling), chinese=chinese)
    console.says(source)
    console.go(place(OWNER, "log"))
    console.says(event)
    assert "Lisbon" not in console.page.inner_text("body")
