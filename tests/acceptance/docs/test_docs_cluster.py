"""docs/how-to/cluster.md: a user with no more rights than the page lists is enough for a store."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from engramlog_server.events.redis.wire import open_wire
from tests.chaos.cast import wait_until
from tests.given.http import created, http_store
from tests.servers import RedisServer, wheel_server

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/how-to/cluster.md"


@cache
def told(part: str) -> str:
    found = re.search(rf"<!-- {part} -->\n(.*?)<!-- /{part} -->", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("binary", [wheel_server()], ids=["valkey"])
def test_a_user_who_may_no_more_than_the_page_says_is_enough_for_a_store(binary: Path, tmp_path: Path) -> None:
    server = RedisServer(binary)
    try:
        with server.client() as client:
            rule = re.findall(r"^ACL SETUSER .*?(?=^```)", told("acl"), re.DOTALL | re.MULTILINE)[0]
            wire = open_wire(client)
            assert wire.call(*rule.replace("\\\n", " ").split()) == b"OK"
            wire.close()
        url = f"{server.url}?username=engramlog&password=SECRET"
        with http_store(tmp_path, redis_url=url, partitions=4) as store:
            store.told("alice", created("tea", "I drink tea"))
            assert store.client.get("/v1/owners/alice/search?query=tea").json()["results"]
            status = store.client.get("/v1/status").json()
            assert (status["events"], status["lag"]) == (1, 0)
            assert store.client.get("/v1/capacity").status_code == 200
            assert store.client.get("/metrics").status_code == 200
            wait_until(lambda: store.client.get("/ready").status_code == 200, "the store is ready")
    finally:
        server.stop()
