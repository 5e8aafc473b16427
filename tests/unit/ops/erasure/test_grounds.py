"""The command names its grounds itself, for it loads no catalogue; they are those of the event."""

from __future__ import annotations

from typing import get_args

from engramlog_server.events.catalogue import ErasureGround
from engramlog_server.ops.commands.erase import GROUNDS


def test_the_grounds_of_the_command_are_those_of_the_event() -> None:
    assert get_args(ErasureGround) == GROUNDS
