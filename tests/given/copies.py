"""A copy of a store that is put back."""

from __future__ import annotations

from pathlib import Path
from shutil import copy2, copytree, rmtree
from typing import cast

from engramlog_server.api.application import Application
from engramlog_server.events.redis.log import RedisEventLog

KEPT = ("rejections.jsonl", "receipts.json", "heads.jsonl")
"""What is not of the store itself: a copy of the store is put back beside it."""


def restore(folder: Path, copy: Path) -> None:
    """The store as it was, beside what is kept outside of it."""
    for one in folder.iterdir():
        if one.name not in KEPT:
            rmtree(one) if one.is_dir() else one.unlink()
    for one in copy.iterdir():
        if one.name not in KEPT:
            copytree(one, folder / one.name) if one.is_dir() else copy2(one, folder / one.name)


def acknowledged(of: Application) -> None:
    """An operator has seen that the store came back with another history, and wants it."""
    cast("RedisEventLog", of.log).ask_receipts()
    of.operator.clear_alarm("receipt_lost", face="command")
