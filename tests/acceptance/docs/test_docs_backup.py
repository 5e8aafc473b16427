"""The drill of docs/how-to/backup.md is run as it stands; its table tells of every key that there is."""

from __future__ import annotations

import re
from pathlib import Path

from tests.acceptance.docs.pages import Shell, commands_of
from tests.places import ROOT

PAGE = (ROOT / "docs" / "how-to" / "backup.md").read_text("utf-8")
DRILL = PAGE.partition("## The drill")[2].partition("\n## ")[0]
BLOCKS = commands_of(DRILL)
MADE, LOST, VERIFIED, WENT_ON = 1, 2, 3, 4


def test_the_drill_brings_back_what_was_said_and_not_who_was_erased(tmp_path: Path) -> None:
    assert len(BLOCKS) == WENT_ON + 1
    shell = Shell(tmp_path)
    told, errors = zip(*map(shell.run, BLOCKS), strict=True)
    assert "2 events" in told[MADE]
    assert "up to" in told[MADE]
    assert "store_restored" in told[LOST]
    assert re.search(r"^done 2 events of store .* are back", told[LOST], re.MULTILINE)
    assert re.search(r"^restored from backup \w+, .*; a copy, which takes nothing new$", told[VERIFIED], re.MULTILINE)
    assert re.search(r"^1 difference$", told[VERIFIED], re.MULTILINE)
    assert "a key that was destroyed by no erasure that the log tells of" in told[VERIFIED]
    assert "I drink tea in the morning" in told[VERIFIED]
    assert "Lisbon" not in told[VERIFIED]
    assert "bees" not in told[LOST] + told[VERIFIED] + told[WENT_ON]
    assert "OwnerErased" in "".join(errors)
    assert "is not the original" in "".join(errors)
    assert re.search(r"^ok \d+ events, 2 memories", told[WENT_ON], re.MULTILINE)
    assert {one.name for one in (tmp_path / "empty").iterdir()} >= {"monday", "tuesday", "keys-backup"}
    assert not [name for name in ("data", "backups", "keys") if (tmp_path / name).exists()]
    assert "incomplete" not in "".join(told)
