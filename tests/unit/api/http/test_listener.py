"""Listeners: by which names they are asked, which proxy they trust, and from where a request came."""

from __future__ import annotations

from ipaddress import ip_network

from hypothesis import given
from hypothesis import strategies as st

from engramlog_server.api.http.serve import (
    LISTENER,
    OF_THIS_MACHINE,
    Listener,
    address_of,
    asked_from,
    listener_of,
)
from tests.rows import each_row

BEHIND = Listener(public=True, operates=False, proxies=(ip_network("10.0.0.0/8"), ip_network("2001:db8::/64")))


@each_row(
    ("name", "host", "port", "own", "is_asked"),
    [
        (("a.example", None), "a.example", 443, 8733, True),
        (("a.example", None), "a.example", 8733, 8733, True),
        (("a.example", None), "a.example", 8734, 8733, False),
        (("a.example", None), "b.example", 443, 8733, False),
        (("a.example", 8443), "a.example", 8443, 8733, True),
        (("a.example", 8443), "a.example", 443, 8733, False),
        (("a.example", 8443), "a.example", 8733, 8733, False),
    ],
)
def test_a_name_without_a_port_is_of_443_and_of_the_listeners_own(
    name: tuple[str, int | None], host: str, port: int, own: int, is_asked: bool
) -> None:
    assert Listener(public=True, names=frozenset({name})).answers_to(host, port, own) is is_asked


@each_row(
    ("peer", "is_trusted"),
    [
        *[("10.1.2.3", True), ("::ffff:10.1.2.3", True), ("2001:db8::7", True)],
        *[("11.0.0.1", False), ("2001:db8:1::7", False), ("", False), ("10.1.2", False), ("folder", False)],
    ],
)
def test_a_proxy_is_trusted_by_its_address_alone(peer: str, is_trusted: bool) -> None:
    assert BEHIND.trusts(peer) is is_trusted


@each_row(
    ("peer", "forwarded", "asked"),
    [
        ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["1.1.1.1, 203.0.113.9"], "203.0.113.9"),  # what stands before it, whoever asks wrote
        ("10.0.0.1", ["1.1.1.1", "203.0.113.9, 10.0.0.7"], "203.0.113.9"),
        ("10.0.0.1", ["203.0.113.9, nobody"], "10.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
        ("203.0.113.1", ["198.51.100.7"], "203.0.113.1"),  # no proxy is believed that was not declared
    ],
)
def test_a_request_came_from_the_nearest_address_that_is_no_proxys(peer: str, forwarded: list[str], asked: str) -> None:
    assert asked_from(peer, forwarded, BEHIND) == asked


@given(forwarded=st.lists(st.text(max_size=60) | st.ip_addresses().map(str), max_size=40))
def test_whatever_is_said_of_it_what_is_told_is_an_address(forwarded: list[str]) -> None:
    assert address_of(asked_from("10.0.0.1", forwarded, BEHIND)) is not None


def test_addresses_beyond_the_bound_are_not_looked_at() -> None:
    line = ",".join(["203.0.113.9", *["10.0.0.2"] * 100_000])
    assert asked_from("10.0.0.1", [line], BEHIND) == "10.0.0.2"


def test_no_request_says_by_which_listener_it_came() -> None:
    assert listener_of({}) is OF_THIS_MACHINE
    assert listener_of({"state": {}, LISTENER: BEHIND, "headers": [(LISTENER.encode(), b"x")]}) is OF_THIS_MACHINE
    assert listener_of({"state": {LISTENER: BEHIND}}) is BEHIND
