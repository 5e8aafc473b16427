"""URLs of a store: one server, the nodes of a Cluster; whatever is refused is refused without quoting a password."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engramlog_server.events.redis.address import MOST_NODES, SCHEMES, ServerPlace, read_address
from engramlog_server.events.redis.server import connect
from tests.examples import examples
from tests.rows import each_row

SECRET = "Xq7hiddenZ"


@each_row(
    ("url", "kind", "places", "options"),
    [
        ("redis://h:1/3", "server", (), {}),
        ("unix:///run/redis.sock?db=2", "server", (), {}),
        ("redis+cluster://a:1,b:2", "cluster", (ServerPlace("a", 1), ServerPlace("b", 2)), {"db": 0}),
        ("redis+cluster://a", "cluster", (ServerPlace("a", 6379),), {"db": 0}),
        ("redis+cluster://a/0", "cluster", (ServerPlace("a", 6379),), {"db": 0}),
        ("redis+cluster://[::1]:7,b", "cluster", (ServerPlace("::1", 7), ServerPlace("b", 6379)), {"db": 0}),
        (
            "rediss+cluster://u:p%40,%2F@a:1?ssl_ca_certs=/ca",
            "cluster",
            (ServerPlace("a", 1),),
            {"username": "u", "password": "p@,/", "ssl_ca_certs": "/ca", "db": 0},
        ),
        (
            "redis+cluster://:p@ss,word@a:1,b:2",
            "cluster",
            (ServerPlace("a", 1), ServerPlace("b", 2)),
            {"password": "p@ss,word", "db": 0},
        ),
    ],
)
def test_a_url_tells_where_a_store_s_redis_is(url: str, kind: str, places: object, options: object) -> None:
    found = read_address(url)
    assert (found.kind, found.places, found.options) == (kind, places, options)
    assert found.tls == url.startswith("rediss")


@each_row(
    "url",
    [
        "",
        "http://a",
        f"redis+sentinel://:{SECRET}@s1,s2/name",
        "redis+cluster:a",
        "redis+cluster://",
        "redis+cluster://a,,b",
        "redis+cluster://a:1:2",
        "redis+cluster://a:99999",
        f"redis+cluster://a:{SECRET}",
        "redis+cluster://a/1",
        "redis+cluster://a?db=1",
        "redis+cluster://" + ",".join(["a"] * (MOST_NODES + 1)),
        f"redis+cluster://u:1/{SECRET}@a:1",
        f"redis+cluster://u:1?{SECRET}@a:1",
        f"redis+cluster://u:1#{SECRET}@a:1",
        f"redis+cluster://:{SECRET}@a:1#fragment",
        f"redis://:{SECRET}@h:x",
        f"redis+cluster://:{SECRET}@a?socket_timeout=soon",
    ],
)
def test_a_url_that_says_something_else_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"URL") as refused:
        read_address(url)
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None
    assert str(refused.value)


def test_an_option_that_redis_py_does_not_know_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match="frobnicate") as refused:
        connect(f"redis+cluster://:{SECRET}@a:1?frobnicate=1")
    assert SECRET not in str(refused.value)


_PIECE = st.text(st.sampled_from("ab1:/@,?#[]%&=. é\u2100") | st.characters(), max_size=8)


@given(scheme=st.sampled_from([*SCHEMES, "http", ""]), around=st.tuples(_PIECE, _PIECE, _PIECE), encoded=st.booleans())
@settings(max_examples=examples(500))
def test_any_url_is_read_or_refused_and_its_password_is_no_place(
    scheme: str, around: tuple[str, str, str], encoded: bool
) -> None:
    before, within, after = around
    url = f"{scheme}://{before}:{SECRET}{within}@{after}" if encoded else f"{scheme}://{before}{SECRET}{within}{after}"
    try:
        found = read_address(url)
    except ValueError as error:
        assert SECRET not in str(error)
        assert error.__cause__ is None
        return
    if encoded and found.kind != "server":
        assert SECRET.lower() not in str(found.places).lower()
