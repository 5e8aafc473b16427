"""The Redis that compose and Kubernetes bring: its settings promise what receipts tell, and its users may what they need."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from redis.exceptions import NoPermissionError

from engramlog_server.events.redis.server import connect
from tests.chaos.cast import wait_until
from tests.given.http import http_store
from tests.integration.deploy.read import COMPOSE, KUBERNETES, conf
from tests.servers import LAUNCHER, MISSING, newer_server

TLS = {"tls-port", "tls-cert-file", "tls-key-file", "tls-ca-cert-file", "tls-auth-clients"}
ELSEWHERE = {"bind", "port", "dir", "aclfile", *TLS}
"""What is of the place."""
DURABLE = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "aof-load-truncated": "no",
    "maxmemory-policy": "noeviction",
}


def test_both_say_the_same_but_of_their_places() -> None:
    ours, theirs = conf(COMPOSE / "redis.conf"), conf(KUBERNETES / "redis" / "redis.conf")
    for one in (ours, theirs):
        assert {name: one[name] for name in DURABLE} == DURABLE
        assert one["maxmemory"] == "2gb"
        assert one["protected-mode"] == "yes"
    assert {name: told for name, told in ours.items() if name not in ELSEWHERE} == {
        name: told for name, told in theirs.items() if name not in ELSEWHERE
    }
    assert theirs["port"] == "0", "by TLS alone"


@contextmanager
def started(folder: Path) -> Iterator[str]:
    """A server by the settings and users of compose, but at a socket; gives its address without a user."""
    binary = newer_server()
    if binary is None:
        pytest.skip(MISSING)
    told = conf(COMPOSE / "redis.conf") | {"port": "0", "dir": str(folder), "unixsocket": str(folder / "s")}
    del told["bind"]
    users = (COMPOSE / "users.acl.example").read_text("utf-8").replace("PASSWORD", "secret")
    (folder / "users.acl").write_text(users, "utf-8")
    told["aclfile"] = str(folder / "users.acl")
    (folder / "redis.conf").write_text("".join(f"{name} {value}\n" for name, value in told.items()), "utf-8")
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-I", "-S", LAUNCHER, str(os.getpid()), binary, str(folder / "redis.conf")]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield f"unix://{folder / 's'}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = Path(
        f"/tmp/el-{os.getpid()}-{tmp_path_factory.mktemp('o').name}"
    )  # a socket's path holds 107 bytes at most
    folder.mkdir(mode=0o700)
    try:
        with started(folder) as url:
            wait_until(lambda: answers(url), "Redis answers")
            yield url
    finally:
        subprocess.run(["rm", "-r", str(folder)], check=True)


def user(url: str, name: str, password: str) -> redis.Redis:
    return connect(f"{url}?username={name}&password={password}")


def answers(url: str) -> bool:
    try:
        with user(url, "health", "any") as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


def test_a_store_is_used_by_its_user_and_receipts_say_that_it_is_on_disk(operators: str, tmp_path: Path) -> None:
    url = f"{operators}?username=engramlog&password=secret"
    with http_store(tmp_path, redis_url=url, partitions=4) as store:
        body = {"memory_id": "tea", "content": "I drink tea"}
        assert store.client.post("/v1/owners/alice/memories", json=body).status_code in (200, 201)
        wait_until(lambda: bool(store.client.get("/v1/owners/alice/search?query=tea").json()["results"]), "it is found")
        (node,) = store.client.get("/v1/status").json()["nodes"]
        assert node["fsynced"] is True


@pytest.mark.parametrize(
    "words", ["FLUSHALL", "SHUTDOWN NOSAVE", "CONFIG SET appendonly no", "ACL LIST", "REPLICAOF NO ONE"]
)
def test_it_may_not_empty_stop_or_change_it(operators: str, words: str) -> None:
    with user(operators, "engramlog", "secret") as client, pytest.raises(NoPermissionError):
        client.execute_command(*words.split())


def test_others_are_let_in_for_nothing(operators: str) -> None:
    with user(operators, "health", "any") as client, pytest.raises(NoPermissionError):
        client.get("x")
    with connect(operators) as client, pytest.raises(redis.AuthenticationError):
        client.ping()
    with user(operators, "engramlog", "wrong") as client, pytest.raises(redis.AuthenticationError):
        client.ping()


def test_the_example_of_users_has_one_password_to_put_in() -> None:
    assert len(re.findall("PASSWORD", (COMPOSE / "users.acl.example").read_text("utf-8"))) == 1
