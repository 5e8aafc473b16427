"""Which line gives which secret, and what is told where it gives none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engramlog_server.events.errors import KeyUnavailable, StoreMismatch
from engramlog_server.events.keys import KeyRing, Seals, Wrapped, key_id
from tests.doubles.keys import MemoryKeys
from tests.rows import each_row

ONE, TWO = b"1" * 32, b"2" * 32
SECRET = bytes(range(32))


class Unreachable:
    """A key service that is down."""

    name = "down"

    def wrap(self, secrets: Sequence[tuple[bytes, bytes]]) -> list[bytes]:
        raise KeyUnavailable("it does not answer")

    def unwrap(self, lines: Sequence[Wrapped]) -> list[bytes | KeyUnavailable]:
        return [KeyUnavailable("it does not answer")] * len(lines)

    def is_current(self, line: bytes) -> bool:
        return True


def check_of(ring: KeyRing, store: str = "s") -> bytes:
    return Seals(ring).new_check(store)


KEYS = MemoryKeys()


def sealed(ring: KeyRing, store: str = "s", check: bytes | None = None) -> Seals:
    seals = Seals(ring, open_keys=KEYS.opened)
    seals.begin(store, check or check_of(ring, store), KEYS.id)
    return seals


def test_a_secret_is_told_by_the_line_that_was_made_of_it() -> None:
    seals = sealed(KeyRing([ONE]))
    lines = seals.lines({"mei": SECRET, "lin": ONE})
    assert SECRET not in b"".join([*lines.values(), *KEYS.held.values()])
    assert sealed(KeyRing([ONE])).secrets(lines) == {"mei": SECRET, "lin": ONE}
    assert seals.lines({}) == {}


def test_a_line_is_of_one_owner_and_of_one_store() -> None:
    ring = KeyRing([ONE])
    line = sealed(ring).lines({"mei": SECRET})["mei"]
    for store, owner in (("s", "lin"), ("other", "mei")):
        found = sealed(ring, store).ciphers({owner: line})[owner]
        assert isinstance(found, KeyUnavailable)
        assert not found.passes


def test_where_the_store_lies_open_a_line_is_the_secret_and_no_other_line_is_one() -> None:
    seals = Seals()
    seals.begin("s", None)
    assert seals.lines({"mei": SECRET}) == {"mei": SECRET}
    assert seals.secrets({"mei": SECRET}) == {"mei": SECRET}
    with pytest.raises(StoreMismatch, match="has 5 bytes"):
        seals.secrets({"mei": b"short"})


def test_a_ring_wraps_under_its_last_key_and_opens_under_each() -> None:
    old = sealed(KeyRing([ONE])).lines({"mei": SECRET})["mei"]
    both = KeyRing([ONE, TWO])
    assert sealed(both).secrets({"mei": old}) == {"mei": SECRET}
    new = sealed(both).lines({"mei": SECRET})["mei"]
    assert [both.is_current(KEYS.held[one]) for one in (old, new)] == [False, True]
    assert both.name == key_id(TWO)
    assert sealed(KeyRing([TWO])).secrets({"mei": new}) == {"mei": SECRET}


def test_a_line_under_a_key_that_is_not_held_names_that_key() -> None:
    line = sealed(KeyRing([ONE])).lines({"mei": SECRET})["mei"]
    found = sealed(KeyRing([TWO])).ciphers({"mei": line})["mei"]
    assert isinstance(found, KeyUnavailable)
    assert key_id(ONE) in found.message
    assert ONE.decode() not in found.message


@each_row("ring", [None, KeyRing([TWO])])
def test_a_sealed_store_refuses_who_lacks_its_key_before_anything_is_read(ring: KeyRing | None) -> None:
    with pytest.raises(StoreMismatch, match="ENGRAMLOG_SEALED_BY"):
        Seals(ring).begin("s", check_of(KeyRing([ONE])))


def test_a_key_service_that_is_down_is_no_other_key() -> None:
    line = sealed(KeyRing([ONE])).lines({"mei": SECRET})["mei"]
    seals = Seals(Unreachable(), open_keys=KEYS.opened)
    seals.begin("s", check_of(KeyRing([ONE])), KEYS.id)
    with pytest.raises(KeyUnavailable) as refused:
        seals.secrets({"mei": line})
    assert refused.value.passes
    with pytest.raises(KeyUnavailable):
        seals.lines({"mei": SECRET})


def test_an_owner_whose_key_cannot_be_had_keeps_nobody_else_from_theirs() -> None:
    ring = KeyRing([ONE])
    lines = sealed(ring).lines({"mei": SECRET, "lin": SECRET})
    found = sealed(ring).ciphers({"mei": lines["mei"], "lin": lines["lin"][:-1] + b"x"})
    assert not isinstance(found["mei"], KeyUnavailable)
    assert isinstance(found["lin"], KeyUnavailable)


def test_a_secret_that_lies_open_in_a_sealed_store_is_not_taken() -> None:
    found = sealed(KeyRing([ONE])).ciphers({"mei": SECRET})["mei"]
    assert isinstance(found, KeyUnavailable)
    assert not found.passes


@each_row("keys", [[], [b"short"], [ONE, b""]])
def test_a_ring_needs_whole_keys(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        KeyRing(keys)


def test_a_deleted_key_opens_nothing_and_another_key_store_is_refused_by_name() -> None:
    ring, keys = KeyRing([ONE]), MemoryKeys()
    seals = Seals(ring, open_keys=keys.opened)
    seals.begin("s", check_of(ring), keys.id)
    lines = seals.lines({"mei": SECRET})
    keys.delete(lines.values())
    seals.forget("mei")
    found = seals.ciphers(lines)["mei"]
    assert isinstance(found, KeyUnavailable)
    assert not found.passes
    with pytest.raises(StoreMismatch, match="ENGRAMLOG_KEYS"):
        Seals(ring, open_keys=KEYS.opened).begin("s", check_of(ring), keys.id)
