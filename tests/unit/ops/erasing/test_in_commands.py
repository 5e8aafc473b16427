"""What an append-only file tells under an owner's own keys is opened, wherever it is cut, whatever stands around it."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.redis.wordless import laid_left
from events.sealing.cipher import ValueCipher
from ops.erasing import in_commands
from ops.erasing.in_commands import OwnCommands
from ops.erasing.own_values import OwnValues
from ops.erasing.probes import Probes
from projections.fold.changelog import laid
from projections.redis.sealed import CHANGES, MOMENT, RECORD, VECTOR, place, vector_place

OWNER = "ada|(x)"
CIPHER = ValueCipher(b"\5" * 32)
PROBES = Probes(
    erasure_id="e",
    store_id="s",
    owner=OWNER,
    tag="e0",
    made_at=1,
    events=1,
    texts=1,
    shared=0,
    unopened=0,
    secret=b"\5" * 32,
    line=b"",
    salts=[],
    derived=[],
    words=[],
    is_of_words=True,
    entries=[1],
)


def command(*parts: str | bytes) -> bytes:
    """As Redis writes it."""
    raw = [one.encode() if isinstance(one, str) else one for one in parts]
    return b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%b\r\n" % (len(one), one) for one in raw)


def sealed(what: bytes, name: bytes, value: bytes) -> bytes:
    return CIPHER.seal(place(what, OWNER, name), value)


NAME = b"\xc1" + bytes(15)
RECORDS = command(
    "HSET",
    f"{{e0}}:v9.1:st:{OWNER}",
    "m1",
    sealed(RECORD, b"m1", b"first"),
    "m2",
    sealed(RECORD, b"m2", b"second\r\n*"),
)
TAIL = command(
    "SET",
    f"{{e0}}:v9:tail:{OWNER}",
    laid(sealed(CHANGES, b"", b"one")) + laid(sealed(CHANGES, b"", b"two")),
)
MOMENTS = command("HSET", f"{{e0}}:v9:past:{OWNER}", "7", sealed(MOMENT, b"7", b"then"))
VECTORS = command(
    "HSET", f"{{e0}}:vec:words%401:{OWNER}", NAME, CIPHER.seal(vector_place(VECTOR, OWNER, "words@1", NAME), b"numbers")
)
LEFT = command("HSET", "{e0}:wl", "12", laid_left(CIPHER, OWNER, 12, "e" * 36, b"{left}"))
STRANGE = (
    command("HSET", "{e0}:v9.1:st:bob", "m1", sealed(RECORD, b"m1", b"not his"))
    + command("HSET", f"{{e1}}:v9.1:st:{OWNER}", "m1", sealed(RECORD, b"m1", b"elsewhere"))
    + command("HDEL", f"{{e0}}:vec:words%401:{OWNER}", NAME, NAME)
    + command("DEL", f"{{e0}}:v9:tail:{OWNER}")
    + command("XADD", "{e0}:ev", "1-0", "o", OWNER)
)
WHOLE = STRANGE + RECORDS + STRANGE + TAIL + MOMENTS + VECTORS + LEFT
ALL = [b"first", b"second\r\n*", b"one", b"two", b"then", b"numbers", b"{left}"]


def opened(chunks: Iterable[bytes]) -> tuple[list[bytes], int, int]:
    """What was opened, how much did not open, and how many commands were not read whole; the chunks pass unchanged."""
    found, values, chunks = list[bytes](), OwnValues(PROBES), list(chunks)
    commands = OwnCommands(PROBES, values, found.append)
    assert list(commands.passed(iter(chunks))) == chunks
    return found, values.shut, commands.unread


def test_values_of_the_owners_own_keys_are_opened_and_of_nobody_else() -> None:
    assert opened([WHOLE]) == (ALL, 0, 0)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30))
def test_it_does_not_matter_where_the_bytes_are_cut(sizes: list[int]) -> None:
    chunks, at, number = list[bytes](), 0, 0
    while at < len(WHOLE):
        size = sizes[number % len(sizes)]
        chunks.append(WHOLE[at : at + size])
        at, number = at + size, number + 1
    assert opened(chunks) == (ALL, 0, 0)


def test_what_is_packed_before_and_what_is_damaged_between_hinders_nothing() -> None:
    noise = b"REDIS0009" + Random(7).randbytes(300_000)
    assert opened([noise + RECORDS + b"*3\r\n$9\r\nbroken" + TAIL]) == (ALL[:4], 0, 0)


def test_a_file_that_ends_with_a_whole_command_or_breaks_off_in_one() -> None:
    assert opened([MOMENTS + TAIL]) == ([b"then", b"one", b"two"], 0, 0)
    assert opened([MOMENTS + TAIL[:-1]]) == ([b"then"], 0, 1)
    assert opened([MOMENTS + TAIL[:-40]]) == ([b"then"], 0, 1)
    assert opened([MOMENTS + RECORDS[:-20]]) == ([b"then", b"first"], 0, 1)


def test_what_does_not_open_is_counted() -> None:
    raw = command("HSET", f"{{e0}}:v9.1:st:{OWNER}", "m2", sealed(RECORD, b"m1", b"of another memory"))
    assert opened([raw]) == ([], 1, 0)


def test_a_command_that_is_longer_than_is_kept_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_commands, "MOST_COMMAND", 1_000)
    long = command("HSET", f"{{e0}}:v9.1:st:{OWNER}", "m1", bytes(5_000), "m2", bytes(5_000))
    raw = long + RECORDS
    chunks = [raw[at : at + 500] for at in range(0, len(raw), 500)]
    assert opened(chunks) == (ALL[:2], 0, 1)
