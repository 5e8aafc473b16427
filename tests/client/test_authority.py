"""A client of a service elsewhere: by TLS, with a key, and believing the certificates of whom it was told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog import AsyncMemory, InputError, Memory
from engramlog.errors import TokenRefused, Unreachable
from engramlog.wire import Retry
from engramlog_server.api.http.serve import Certificate, Listener, serve
from engramlog_server.ops.clock import now
from tests.given.access.certificates import Pair, certificate
from tests.given.http import TOKEN, app_of, created, http_store
from tests.patience import PATIENCE
from tests.rows import each_row

ONCE = Retry(tries=1)
NAMES = frozenset({("127.0.0.1", None)})


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Pair, str]]:
    """A service that is open to others: its address, its certificate, and a key."""
    folder = tmp_path_factory.mktemp("elsewhere")
    pair = certificate(folder)
    with http_store(folder / "data") as store:
        store.told("alice", created("coffee"))
        key = store.application.keys.issue("support", grants=[{"verbs": ["read"], "owners": ["alice"]}])["key"]
        listener = Listener(public=True, operates=False, names=NAMES, certificate=Certificate(*pair, now))
        server = serve(app_of(store.application), "127.0.0.1", 0, listener=listener)
        try:
            yield server.url, pair, key
        finally:
            server.stop(PATIENCE)


def test_a_key_opens_it_where_its_authority_is_named(
    elsewhere: tuple[str, Pair, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, pair, key = elsewhere
    with Memory(url, token=key, owner="alice", authority=pair.chain) as memory:
        assert [one.id for one in memory.list().memories] == ["coffee"]

    async def asked() -> list[str]:
        async with AsyncMemory(url, token=key, owner="alice", authority=str(pair.chain)) as memory:
            return [one.id for one in (await memory.list()).memories]

    assert asyncio.run(asked()) == ["coffee"]
    monkeypatch.setenv("SSL_CERT_FILE", str(pair.chain))
    with Memory(url, token=key, owner="alice") as memory:
        assert [one.id for one in memory.list().memories] == ["coffee"]


def test_a_certificate_of_nobody_known_is_not_believed_and_nothing_is_shown(
    elsewhere: tuple[str, Pair, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, _, key = elsewhere
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    other = certificate(tmp_path)
    for authority in (None, other.chain):
        with (
            Memory(url, token=key, owner="alice", retry=ONCE, authority=authority) as memory,
            pytest.raises(Unreachable, match=r"(?i)certificate"),
        ):
            memory.list()


def test_the_folders_token_opens_nothing_there(elsewhere: tuple[str, Pair, str]) -> None:
    url, pair, _ = elsewhere
    with Memory(url, token=TOKEN, owner="alice", authority=pair.chain) as memory, pytest.raises(TokenRefused):
        memory.list()


@each_row("named", ["none.pem", "text.pem", "."])
def test_a_file_that_holds_no_authority_is_refused(tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.pem").write_text("no certificate")
    with pytest.raises(InputError, match=r"authority: got .*; allowed: the path of a file of PEM"):
        Memory("https://memory.example.org", token="x" * 40, authority=tmp_path / named)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / named))
    with pytest.raises(InputError, match=r"SSL_CERT_FILE: got "):
        AsyncMemory("https://memory.example.org", token="x" * 40)
