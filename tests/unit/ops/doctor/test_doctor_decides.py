"""What `engramlog doctor` makes of facts: each fact that is wrong is told as such, with what to do; sound ones are not."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from engramlog_server.events.catalogue import Grant
from engramlog_server.events.encryption.seals import SealingStanding
from engramlog_server.ops.doctor import checks, permissions
from engramlog_server.ops.doctor.findings import CheckFinding, Result
from engramlog_server.ops.doctor.permissions import FileEntry, Kind
from engramlog_server.ops.public_settings import Place
from engramlog_server.projections.access.book import AccessBook, Key
from tests.given.access.certificates import NOW
from tests.rows import each_row

ME, OTHER = 1_000, 1_001
FOLDER = Path("/data")
DAY = 86_400_000_000
SOON = timedelta(days=14)


def an_entry(mode: int = 0o700, uid: int = ME, kind: Kind = "folder", name: str = "") -> FileEntry:
    return FileEntry(FOLDER / name, kind, uid, mode)


def results(found: list[CheckFinding]) -> list[tuple[str, Result]]:
    return [(one.check, one.result) for one in found]


@each_row(
    ("folder", "result", "told"),
    [
        (an_entry(), "ok", "this user's alone"),
        (None, "ok", "not there yet"),
        (an_entry(0o750), "wrong", "others can enter"),
        (an_entry(0o770), "wrong", "others can write"),
        (an_entry(0o702), "wrong", "others can write"),
        (an_entry(uid=OTHER), "wrong", f"belongs to user {OTHER}"),
        (an_entry(kind="file"), "wrong", "is no folder"),
    ],
)
def test_a_data_folder_is_its_users_alone(folder: FileEntry | None, result: Result, told: str) -> None:
    found = permissions.data_folder(FOLDER, folder, ME)
    assert found.result == result
    assert told in found.found


def test_a_data_folder_by_a_link_is_told_as_such() -> None:
    assert "by the link /var/data" in permissions.data_folder(Path("/var/data"), an_entry(), ME).found


@each_row(
    ("folder", "safe"),
    [(an_entry(), True), (an_entry(0o755), True), (an_entry(0o720), False), (an_entry(uid=OTHER), False)],
)
def test_nothing_is_opened_in_a_folder_that_others_could_write_to(folder: FileEntry, safe: bool) -> None:
    assert permissions.is_safe_to_open(folder, ME) == safe


def test_files_of_others_links_and_open_files_are_told_apart() -> None:
    entries = [
        an_entry(0o600, kind="file", name="store.json"),
        an_entry(0o644, kind="file", name="redis.log"),
        an_entry(0o777, kind="link", name="views"),
        an_entry(0o600, OTHER, "file", "token"),
    ]
    found = permissions.kept_files(FOLDER, entries, ME)
    assert results(found) == [("files", "wrong"), ("files", "advice"), ("files", "advice")]
    assert [name in one.found for name, one in zip(("token", "views", "redis.log"), found, strict=True)] == [True] * 3
    assert results(permissions.kept_files(FOLDER, entries[:1], ME)) == [("files", "ok")]


@each_row(
    ("found", "closed", "result"),
    [
        (an_entry(kind="socket"), True, "ok"),
        (an_entry(kind="socket"), False, "wrong"),
        (an_entry(kind="socket", uid=OTHER), True, "wrong"),
        (an_entry(kind="file"), True, "wrong"),
        (None, True, "wrong"),
    ],
)
def test_the_socket_is_this_users_alone(found: FileEntry | None, closed: bool, result: Result) -> None:
    assert permissions.socket(found, ME, closed=closed).result == result


def test_a_token_that_others_could_have_read_is_wrong_and_none_is_not() -> None:
    assert permissions.token(False, None, given=False).result == "ok"
    assert permissions.token(False, "it could be read by others; make a new one", given=False) == CheckFinding(
        "permissions", "token", "wrong", "it could be read by others", "make a new one"
    )
    assert "ENGRAMLOG_TOKEN" in permissions.token(False, None, given=True).found


@each_row(
    ("found", "result"),
    [
        (None, "ok"),
        (an_entry(), "ok"),
        (an_entry(0o755), "advice"),
        (an_entry(0o777), "wrong"),
        (an_entry(uid=OTHER), "wrong"),
    ],
)
def test_a_folder_of_ours_elsewhere(found: FileEntry | None, result: Result) -> None:
    assert permissions.kept_elsewhere("ENGRAMLOG_REJECTIONS", FOLDER, found, ME).result == result


HAD = SealingStanding(True, "abc (/data/master-key)", True, "")


@each_row(
    ("facts", "found"),
    [
        ({"sealed": True, "standing": HAD}, [("contents", "ok"), ("master key", "ok"), ("copy of the key", "ok")]),
        (
            {"sealed": True, "standing": HAD, "file": FOLDER / "master-key", "inside": True},
            [("contents", "ok"), ("master key", "ok"), ("copy of the key", "advice")],
        ),
        (
            {"sealed": True, "standing": HAD._replace(reachable=False, reason="gone")},
            [("contents", "ok"), ("master key", "wrong")],
        ),
        ({"sealed": True, "trouble": "another key"}, [("contents", "ok"), ("master key", "wrong")]),
        ({"sealed": False}, [("contents", "advice")]),
        ({"sealed": False, "is_set": True}, [("contents", "advice")]),
        ({"sealed": False, "open_chosen": True}, [("contents", "ok")]),
    ],
)
def test_how_a_store_is_sealed(facts: dict[str, Any], found: list[tuple[str, Result]]) -> None:
    assert results(checks.contents(**facts)) == found


def test_old_keys_are_dropped_once_nothing_needs_them_and_rewrapped_before() -> None:
    assert checks.old_keys(["b"], "b", []).result == "ok"
    assert "master-key --rewrap" in (checks.old_keys(["a", "b"], "b", ["a"]).advice or "")
    assert "master-key --drop a" in (checks.old_keys(["a", "b"], "b", ["b"]).advice or "")


def listens(by: Any, **facts: Any) -> CheckFinding:
    told: Any = {"by": by, "certificate_ends": None, "operating": "here"}
    return checks.listening(told, None, "127.0.0.1:8733", NOW, SOON, **facts)


def test_how_a_service_listens() -> None:
    assert listens("loopback").result == "ok"
    assert listens("proxy").result == "ok"
    assert listens("tls", ends=NOW + SOON).result == "ok"
    assert listens("tls", ends=NOW + SOON - timedelta(seconds=1)).result == "advice"
    refused = checks.listening(None, "ENGRAMLOG_HOST: got 0; allowed: 127.0.0.1", "0:1", NOW, SOON)
    assert (refused.result, refused.advice) == ("wrong", "allowed: 127.0.0.1")
    assert checks.metrics_port(Place("127.0.0.1", 9)) == []
    assert checks.metrics_port(None) == []
    assert results(checks.metrics_port(Place("0.0.0.0", 9))) == [("metrics port", "advice")]


def test_a_service_that_runs_by_other_settings() -> None:
    assert checks.running_service(None, "loopback") == []
    for told, result in (("loopback", "ok"), ("tls", "advice")):
        assert results(checks.running_service(told, "loopback")) == [("running service", result)]


def a_key(name: str, expires_at: int | None = 100 * DAY, revoked_at: int | None = None) -> Key:
    return Key(f"id-{name}", name, b"", "", 0, expires_at, revoked_at)


def a_book(*keys: Key, **grants: Grant) -> AccessBook:
    return AccessBook(9, {one.key_id: one for one in keys}, {name: (one,) for name, one in grants.items()})


def test_keys_that_end_soon_or_never_are_told_and_those_that_are_over_are_not() -> None:
    assert results(checks.keys(a_book(), 0, SOON)) == [("keys", "ok")]
    assert results(checks.keys(a_book(a_key("a")), 0, SOON)) == [("keys", "ok")]
    assert results(checks.keys(a_book(a_key("a", 14 * DAY)), 0, SOON)) == [("keys", "ok")]
    assert results(checks.keys(a_book(a_key("a", 14 * DAY - 1)), 0, SOON)) == [("keys that end", "advice")]
    assert results(checks.keys(a_book(a_key("a", None)), 0, SOON)) == [("keys without an end", "advice")]
    over = a_book(a_key("a", 1), a_key("b", None, revoked_at=1))
    assert results(checks.keys(over, 2, SOON)) == [("keys", "ok")]


def test_who_makes_keys_and_who_is_told_every_secret() -> None:
    admin = Grant(verbs=("admin",), owners=("*",))
    wide = Grant(verbs=("read", "reveal"), owners=("*",), sensitivity=3)
    narrow = Grant(verbs=("read", "reveal"), owners=("team/*",), sensitivity=3)
    assert checks.grants(a_book(a=wide), 0) == []  # nobody has a key
    assert results(checks.grants(a_book(a_key("a"), a=narrow), 0)) == [("admin keys", "ok"), ("grants over all", "ok")]
    assert results(checks.grants(a_book(a_key("a"), a=wide), 0))[1] == ("grants over all", "advice")
    assert results(checks.grants(a_book(a_key("a"), a=admin), 0))[0] == ("admin keys", "ok")
    assert results(checks.grants(a_book(a_key("a", None), a=admin), 0))[0] == ("admin keys", "advice")
    provided = AccessBook(1, {}, {"oidc/anna": (wide,)})
    assert results(checks.grants(provided, 0))[1] == ("grants over all", "advice")


def test_the_audit_log_goes_on() -> None:
    assert checks.audit(None, []).result == "ok"
    assert "1970-01-02" in checks.audit(DAY, []).found
    assert checks.audit(DAY, [":reads"]).result == "wrong"
