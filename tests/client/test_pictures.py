"""Pictures by the client: an SVG as the service drew it, and refused in its own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramlog import InputError
from tests.drawn import all_of, read
from tests.given.client import connected, new_owner, service
from tests.rows import each_row


@each_row("kind", ["sync", "async"])
def test_pictures_are_drawn_as_they_are_asked_for(tmp_path: Path, kind: str) -> None:
    with service(tmp_path) as running, connected(kind, running.url, owner=new_owner()) as memory:
        position = memory.add("I drink tea 茶", memory_id="tea").position
        curves = memory.curves_picture("tea", theme="dark", width=390, height=500)
        assert (read(curves.svg).get("data-id"), read(curves.svg).get("width"), curves.position) == (
            "tea",
            "390",
            position,
        )
        drawn = memory.map_picture("tea", language="zh")
        assert [one.get("data-id") for one in all_of(read(drawn.svg), "node")] == ["tea"]
        with pytest.raises(InputError, match="theme"):
            memory.map_picture("tea", theme="sepia")
