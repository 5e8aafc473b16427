"""docs/cluster.md: its commands are those that the source sends, and a user who may do no more can do all that a store needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from events.redis.wire import Wire
from tests.chaos.cast import wait_until
from tests.given.http import created, http_store
from tests.servers import RedisServer, Servers, wheel_server

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/cluster.md"
HOUSES = ("events", "projections", "consumers", "api/services", "ops")
KNOWN_ONLY = frozenset({"events/redis/cluster/routing.py", "events/redis/wire.py"})
"""They tell what commands are about, whoever sends them."""
ELSEWHERE = (
    "consumers/jobs/rq/",
    "consumers/jobs/board.py",
    "consumers/jobs/leader.py",
    "ops/erasing/scratch.py",
)
"""Of measuring, of the queue of jobs, and of a server of its own that looks at a copy."""
NO_COMMAND = frozenset({"COPY", "GET", "POST", "RESET", "SET", "SUBSTR"})
"""Words of HTTP and of command lines, and of a command with two words the second."""
SENT = frozenset({"EVALSHA", "SCRIPT", "WAIT", "SELECT", "AUTH"})
"""By a wire, and by redis-py when it connects."""
LUA = re.compile(r"call\(\s*['\"](\w+)['\"]")


@cache
def told(part: str) -> str:
    found = re.search(rf"<!-- {part} -->\n(.*?)<!-- /{part} -->", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def listed() -> set[str]:
    return set(re.findall(r"`([A-Z]+)(?: [A-Z]+)?`", told("commands")))


def sources() -> Iterator[tuple[str, ast.Constant]]:
    for house in HOUSES:
        for path in sorted((ROOT / house).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name in KNOWN_ONLY or name.startswith(ELSEWHERE):
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield name, node


def test_the_commands_of_the_page_are_those_of_the_source(redis_servers: Servers) -> None:
    with redis_servers.get("redis-6.2").client() as client:
        wire = Wire(client)
        known = {one[0].decode().upper() for one in wire.call("COMMAND")} | {"WAITAOF"}
        wire.close()
    used = set(SENT)
    for _, node in sources():
        if node.value in known and node.value not in NO_COMMAND:
            used.add(node.value)
        used |= {word.upper() for word in LUA.findall(node.value) if word.upper() in known}
    assert listed() == used


@pytest.mark.parametrize("binary", [wheel_server()], ids=["redis-6.2"])
def test_a_user_who_may_no_more_than_the_page_says_is_enough_for_a_store(binary: Path, tmp_path: Path) -> None:
    server = RedisServer(binary)
    try:
        with server.client() as client:
            rule = re.findall(r"^ACL SETUSER .*?(?=^```)", told("acl"), re.DOTALL | re.MULTILINE)[0]
            wire = Wire(client)
            assert wire.call(*rule.replace("\\\n", " ").split()) == b"OK"
            wire.close()
        url = f"{server.url}?username=engramlog&password=SECRET"
        with http_store(tmp_path, redis_url=url, partitions=4) as store:
            store.told("alice", created("tea", "I drink tea"))
            assert store.client.get("/v1/owners/alice/search?q=tea").json()["results"]
            status = store.client.get("/v1/status").json()
            assert (status["events"], status["lag"]) == (1, 0)
            assert store.client.get("/v1/capacity").status_code == 200
            assert store.client.get("/metrics").status_code == 200
            wait_until(lambda: store.client.get("/ready").status_code == 200, "the store is ready")
    finally:
        server.stop()
