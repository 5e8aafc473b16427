"""What a client of a store behind Sentinels is told by its URL, and what they are asked by."""

from __future__ import annotations

from redis.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection

from events.redis.wire import SENTINEL_SECONDS, StoreClient, connect


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
