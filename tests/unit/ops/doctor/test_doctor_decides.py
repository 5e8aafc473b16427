"""What `engramlog doctor` makes of facts: each fact that is wrong is told as such, with what to do; sound ones are not."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.catalogue import Grant
from engramlog_server.ops.doctor import checks, findings
from engramlog_server.ops.doctor.findings import CheckFinding, Result
from engramlog_server.ops.listeners import SOON
from engramlog_server.ops.settings import Settings
from engramlog_server.projections.access.caller import AccessBook, Key
from tests.given.access.certificates import NOW, certificate

OTHER = 12_345
DAY = 86_400_000_000
by_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def results(found: list[CheckFinding]) -> list[tuple[str, Result]]:
    return [(one.check, one.result) for one in found]


def made(mode: int) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        path.mkdir()
        path.chmod(mode)

    return make


def given_away(path: Path) -> None:
    path.mkdir(mode=0o700)
    os.chown(path, OTHER, OTHER)


FOLDERS: list[Any] = [
    (made(0o700), "ok", "this user's alone", True),
    (made(0o750), "wrong", "others can enter", True),
    (made(0o770), "wrong", "others can write", False),
    (made(0o702), "wrong", "others can write", False),
    pytest.param(given_away, "wrong", f"belongs to user {OTHER}", False, marks=by_root),
    (Path.touch, "wrong", "is no folder", False),
]


@pytest.mark.parametrize(("make", "result", "told", "safe"), FOLDERS)
def test_a_folder_is_its_users_alone_and_nothing_is_opened_where_others_could_write(
    tmp_path: Path, make: Callable[[Path], object], result: Result, told: str, safe: bool
) -> None:
    make(tmp_path / "data")
    (found,) = findings.private("data folder", tmp_path / "data", "ENGRAMLOG_DATA")
    assert (found.result, told in found.found) == (result, True)
    assert findings.is_safe_to_open(tmp_path / "data") == safe


def test_a_folder_that_is_not_there_yet_is_made_later(tmp_path: Path) -> None:
    (found,) = findings.private("data folder", tmp_path / "data", "ENGRAMLOG_DATA")
    assert (found.result, "not there yet" in found.found) == ("ok", True)


@by_root
def test_files_of_others_and_open_files_are_told_apart(tmp_path: Path) -> None:
    for name, mode in {"store.json": 0o600, "redis.log": 0o644, "token": 0o600}.items():
        (tmp_path / name).touch(mode=mode)
        (tmp_path / name).chmod(mode)
    (tmp_path / "views").symlink_to(tmp_path / "store.json")
    os.chown(tmp_path / "token", OTHER, OTHER)
    found = findings.files(tmp_path)
    assert results(found) == [("files", "wrong"), ("files", "advice")]
    assert [name in one.found for name, one in zip(("token", "redis.log"), found, strict=True)] == [True] * 2
    for name in ("redis.log", "token", "views"):
        (tmp_path / name).unlink()
    assert results(findings.files(tmp_path)) == [("files", "ok")]


def test_a_token_that_others_could_have_read_is_wrong_and_none_is_not(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    assert results(findings.token(settings)) == [("token", "ok")]
    (tmp_path / "token").write_text("egt1_" + "x" * 43)
    (tmp_path / "token").chmod(0o644)
    (found,) = findings.token(settings)
    assert (found.result, "token --rotate" in (found.advice or "")) == ("wrong", True)


PROXY: dict[str, Any] = {"trusted_proxies": "127.0.0.1", "public_names": "memory.example.org"}


def listens(**told: Any) -> list[CheckFinding]:
    return checks.listening(Settings(**told), NOW)


def test_how_a_service_listens(tmp_path: Path) -> None:
    assert results(listens()) == results(listens(**PROXY)) == [("listening", "ok")]
    for ends, result in ((NOW + SOON + timedelta(seconds=1), "ok"), (NOW + SOON - timedelta(seconds=1), "advice")):
        pair = certificate(tmp_path, "memory.example.org", begins=NOW - timedelta(days=1), ends=ends)
        assert results(listens(tls_cert_file=pair.chain, tls_key_file=pair.key)) == [("listening", result)]
    (refused,) = listens(host="0.0.0.0")
    assert (refused.result, (refused.advice or "")[:8]) == ("wrong", "allowed:")
    assert results(listens(metrics="127.0.0.1:9")) == [("listening", "ok")]
    assert results(listens(metrics="0.0.0.0:9"))[1] == ("metrics port", "advice")


def a_key(name: str, expires_at: int | None = 100 * DAY, revoked_at: int | None = None) -> Key:
    return Key(f"id-{name}", name, b"", "", 0, expires_at, revoked_at)


def a_book(*keys: Key, **grants: Grant) -> AccessBook:
    return AccessBook(9, {one.key_id: one for one in keys}, {name: (one,) for name, one in grants.items()})


def test_keys_that_end_soon_or_never_are_told_and_those_that_are_over_are_not() -> None:
    assert results(checks.keys(a_book(), 0)) == [("keys", "ok")]
    assert results(checks.keys(a_book(a_key("a")), 0)) == [("keys", "ok")]
    assert results(checks.keys(a_book(a_key("a", 14 * DAY)), 0)) == [("keys", "ok")]
    assert results(checks.keys(a_book(a_key("a", 14 * DAY - 1)), 0)) == [("keys that end", "advice")]
    assert results(checks.keys(a_book(a_key("a", None)), 0)) == [("keys without an end", "advice")]
    over = a_book(a_key("a", 1), a_key("b", None, revoked_at=1))
    assert results(checks.keys(over, 2)) == [("keys", "ok")]


def test_who_is_told_every_secret() -> None:
    wide = Grant(verbs=("read", "reveal"), owners=("*",), sensitivity=3)
    narrow = Grant(verbs=("read", "reveal"), owners=("team/*",), sensitivity=3)
    for book, result in (
        (a_book(a=wide), "ok"),  # nobody has a key
        (a_book(a_key("a"), a=narrow), "ok"),
        (a_book(a_key("a"), a=wide), "advice"),
        (AccessBook(1, {}, {"oidc/anna": (wide,)}), "advice"),
    ):
        assert results(checks.grants(book, 0)) == [("grants over all", result)]
