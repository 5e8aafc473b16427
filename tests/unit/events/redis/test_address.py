"""Where a store's Redis is, by its URL; and what a client of it is told."""

from __future__ import annotations

import pytest
from redis.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection

from events.redis.address import MOST_NODES, Place, read_address
from events.redis.cluster.client import ClusterClient
from events.redis.wire import SENTINEL_SECONDS, StoreClient, connect


@pytest.mark.parametrize(
    ("url", "places"),
    [
        ("redis+cluster://a", [("a", 6379)]),
        ("redis+cluster://a:1,b:2", [("a", 1), ("b", 2)]),
        ("rediss+cluster://a:1,b/0", [("a", 1), ("b", 6379)]),
        ("redis+cluster://[::1]:7,10.0.0.1", [("::1", 7), ("10.0.0.1", 6379)]),
        ("redis+sentinel://a,b:5/main", [("a", 26379), ("b", 5)]),
    ],
)
def test_the_addresses_of_several(url: str, places: list[tuple[str, int]]) -> None:
    assert list(read_address(url).places) == [Place(*one) for one in places]


def test_what_stands_before_the_addresses_lets_in_and_what_stands_behind_says_how() -> None:
    told = read_address("rediss+cluster://me:p%40ss@a:1,b:2?ssl_ca_certs=/ca.pem")
    assert (told.kind, told.tls) == ("cluster", True)
    assert told.options == {"username": "me", "password": "p@ss", "ssl_ca_certs": "/ca.pem", "db": 0}
    told = read_address("redis+sentinel://:secret@s1,s2/the%20one/3?sentinel_password=other")
    assert (told.service, told.tls) == ("the one", False)
    assert told.options == {"password": "secret", "db": 3, "sentinel_password": "other"}


@pytest.mark.parametrize("plain", ["redis://a:1/2", "rediss://a", "unix:///tmp/redis.sock?db=1"])
def test_one_server_is_read_by_redis_py(plain: str) -> None:
    assert (read_address(plain).kind, read_address(plain).places) == ("server", ())


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://secret@a:1", "a URL that begins with redis://"),
        ("secret", "a URL that begins with redis://"),
        ("redis+cluster://", "a host, or host:port, between commas"),
        ("redis+cluster://secret@a:1,,b", "a host, or host:port, between commas"),
        ("redis+cluster://a:1,secret:0x", "a URL such as"),
        ("redis+cluster://secret@a:1/1", "a Cluster has the database 0 alone"),
        ("redis+cluster://" + ",".join(["secret"] * (MOST_NODES + 1)), f"1 to {MOST_NODES} addresses"),
        ("redis+sentinel://secret@s1,s2", "the name that Sentinels know the primary by, as the path"),
        ("redis+sentinel://secret@s1/name/secret", "the number of a database, or nothing, behind the primary's name"),
        ("redis://secret:x:y@a:b", "a URL such as"),
    ],
)
def test_what_is_no_such_url_is_refused_and_nothing_of_it_is_quoted(url: str, allowed: str) -> None:
    with pytest.raises(ValueError, match=allowed.replace("+", r"\+")) as refused:
        read_address(url)
    assert "secret" not in str(refused.value)


def test_user_and_password_of_the_url_are_the_primarys_and_the_sentinels_have_their_own() -> None:
    client = connect(
        "redis+sentinel://me:secret@s1,s2:5/main/2?sentinel_username=asker&sentinel_password=other", timeout=7.0
    )
    pool = client.connection_pool
    assert isinstance(client, StoreClient)
    assert pool.connection_class is SentinelManagedConnection
    told = pool.connection_kwargs
    assert (told["username"], told["password"], told["db"], told["socket_timeout"]) == ("me", "secret", 2, 7.0)
    for sentinel, (host, port) in zip(pool.sentinel_manager.sentinels, [("s1", 26379), ("s2", 5)], strict=True):  # type: ignore[attr-defined]
        asked = sentinel.connection_pool.connection_kwargs
        assert (asked["host"], asked["port"]) == (host, port)
        assert (asked["username"], asked["password"], asked["socket_timeout"]) == ("asker", "other", SENTINEL_SECONDS)
    plain = connect("redis+sentinel://:secret@s1/main").connection_pool
    (asked,) = [one.connection_pool.connection_kwargs for one in plain.sentinel_manager.sentinels]  # type: ignore[attr-defined]
    assert (asked["username"], asked["password"]) == (None, None)


def test_tls_is_spoken_with_sentinels_and_primary_alike() -> None:
    pool = connect("rediss+sentinel://s1/main?ssl_ca_certs=/ca.pem&socket_timeout=3").connection_pool
    assert pool.connection_class is SentinelManagedSSLConnection
    assert (pool.connection_kwargs["ssl_ca_certs"], pool.connection_kwargs["socket_timeout"]) == ("/ca.pem", 3.0)
    (asked,) = [one.connection_pool for one in pool.sentinel_manager.sentinels]  # type: ignore[attr-defined]
    assert asked.connection_class.__name__ == "SSLConnection"
    assert asked.connection_kwargs["ssl_ca_certs"] == "/ca.pem"


def test_a_client_of_a_cluster_is_told_what_its_url_says() -> None:
    client = connect("rediss+cluster://me:secret@a:1,b:2?ssl_ca_certs=/ca.pem", timeout=7.0)
    assert isinstance(client, ClusterClient)
    told = client.connection_pool.connection_kwargs
    assert (told["username"], told["password"], told["ssl_ca_certs"]) == ("me", "secret", "/ca.pem")
    assert client.timeout == 7.0
