"""The verb by which the user says how sensitive a memory is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engramlog import InputError
from tests.given.client import KINDS, Service, connected, new_owner, service
from tests.rows import each_row

PASSWORD = "My password is hunter2-Xq9!"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(tmp_path_factory.mktemp("sensitivity")) as made:
        yield made


@each_row("kind", KINDS)
def test_the_client_sets_it_for_the_user_once_under_a_key(running: Service, kind: str) -> None:
    with connected(kind, running.url, owner=new_owner()) as memory:
        added = memory.add(PASSWORD).id
        first, again = (memory.set_sensitivity(added, 0, reason="made up", key="k") for _ in range(2))
        assert first.event_ids == again.event_ids
        assert memory.get(added).memory == PASSWORD
        with pytest.raises(InputError):
            memory.set_sensitivity(added, 7, reason="made up")
