"""The Sentinels that tests are given: a primary that is killed is replaced, and comes back to follow."""

from __future__ import annotations

from tests.given.clusters.sentinels import GivenSentinels


def test_a_killed_primary_is_replaced_and_comes_back_to_follow(redis_sentinels: GivenSentinels) -> None:
    """Whoever leads in the end: a busy machine may keep one waiting for a second, and another takes its place."""
    killed = redis_sentinels.primary()
    killed.ask("SET", "a", "told")
    assert killed.ask("WAIT", 2, 10_000) == 2
    redis_sentinels.kill(killed)
    new = redis_sentinels.await_failover(killed)
    assert new is not killed
    assert new.ask("GET", "a") == b"told"
    redis_sentinels.start_again(killed)
    redis_sentinels.await_whole()
    leads = redis_sentinels.primary()
    for one in redis_sentinels.servers:
        assert (one.ask("ROLE")[0] == b"master") is (one is leads)
        assert one.ask("GET", "a") == b"told"


def test_two_of_three_sentinels_do(redis_sentinels: GivenSentinels) -> None:
    redis_sentinels.kill(redis_sentinels.sentinels[0])
    killed = redis_sentinels.primary()
    redis_sentinels.kill(killed)
    assert redis_sentinels.await_failover(killed) is redis_sentinels.primary()


def test_every_sentinel_is_named_in_the_url(redis_sentinels: GivenSentinels) -> None:
    addresses = ",".join(one.address for one in redis_sentinels.sentinels)
    assert redis_sentinels.url == f"redis+sentinel://{addresses}/engramlog"
