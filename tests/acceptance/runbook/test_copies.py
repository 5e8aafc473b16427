"""Procedures of copies and erasures: each as it stands on the page."""

from __future__ import annotations

import subprocess
import sys
from shutil import copytree, rmtree

from tests.acceptance.runbook.given import TEA, redis_of_ones_own
from tests.acceptance.runbook.night import Night
from tests.patience import PATIENCE

KILLED = """
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.erasure.machine import carry_out
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import open_the_store
from tests.chaos.fate import DIE, fated
settings = load_settings()
with open_the_store(settings) as store:
    carry_out(store, settings, ErasurePlan("alice", (), "objection"), probe=fated(DIE, "before a switch", 1))
"""


def test_move_to_another_redis(night: Night) -> None:
    night.setting(ENGRAMLOG_SEALED_BY="none")
    with redis_of_ones_own(night.folder) as server:
        night.setting(NEW_REDIS=server.url)
        night.given("systemctl start engramlog", f"engramlog add alice '{TEA}'")
        night.do()
        night.check()
        night.given("systemctl stop engramlog")


def test_an_older_copy_was_put_back(night: Night) -> None:
    night.given(f"engramlog add alice '{TEA}'", "engramlog add bob 'I keep bees'")
    log, copy = night.data / "appendonlydir", night.folder / "monday"
    copytree(log, copy)
    night.given("engramlog erase alice --yes")
    rmtree(log)
    copytree(copy, log)
    night.when()
    done = night.do()
    assert "ReceiptLost" in done.err
    assert "nothing to do" not in done.out, "who came back is not done with while nothing can be appended"
    night.check()
    assert "OwnerErased" in night.given("engramlog list alice", code=1).err
    assert "I keep bees" in night.given("engramlog list bob").out


def test_an_erasure_did_not_finish(night: Night) -> None:
    night.given(f"engramlog add alice '{TEA}'", "engramlog add bob 'I keep bees'")
    killed = [sys.executable, "-P", "-c", KILLED]
    assert subprocess.run(killed, env=night.shell.environment, timeout=PATIENCE, check=False).returncode < 0
    night.when()
    night.do()
    night.check()


def test_backups_that_make_themselves(night: Night) -> None:
    backups = night.folder / "backups"
    backups.mkdir()
    night.setting(BACKUPS=str(backups), KEYS=str(night.folder / "keys"))
    night.given(f"engramlog add alice '{TEA}'")
    night.when()
    night.do()
    night.check()
    assert len(list(backups.iterdir())) == 1
