"""Settings by which a service is open to others, what its listeners are, and what is watched of its certificate."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.api.http.serve import OF_THIS_MACHINE, Certificate
from engramlog_server.events.errors import BadSetting
from engramlog_server.ops.clock import now
from engramlog_server.ops.listeners import (
    FIRST_KEY,
    CertificateWatch,
    Listeners,
    RefusedRequests,
    certificate_tended,
    how_it_listens,
    listeners_of,
    require_key,
)
from engramlog_server.ops.settings import Settings, asked_name, load_settings
from engramlog_server.projections.access.caller import AccessBook, Key
from tests.given.access.certificates import NOW, Pair, certificate
from tests.integration.live import wait_until
from tests.rows import each_row


def settings(pair: Pair | None = None, **told: str) -> Settings:
    of_files = {} if pair is None else {"TLS_CERT_FILE": str(pair.chain), "TLS_KEY_FILE": str(pair.key)}
    return load_settings({f"ENGRAMLOG_{name}": value for name, value in {**of_files, **told}.items()})


@each_row(
    ("told", "name"),
    [
        ("memory.example.org", ("memory.example.org", None)),
        ("Memory.Example.org:8443", ("memory.example.org", 8443)),
        ("203.0.113.7", ("203.0.113.7", None)),
        ("[2001:db8::1]", ("2001:db8::1", None)),
        ("[2001:db8::1]:443", ("2001:db8::1", 443)),
        *[(bad, None) for bad in ("*.example.org", "https://a", "a/b", "a:0", "a:", "a b", "2001:db8::1", "a@b", "")],
    ],
)
def test_a_name_is_a_host_with_or_without_a_port(told: str, name: tuple[str, int | None] | None) -> None:
    assert asked_name(told) == name


@each_row(
    ("name", "value"),
    [
        ("TRUSTED_PROXIES", "0.0.0.0/0"),
        ("TRUSTED_PROXIES", "10.0.0.0/8 ::/0"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("TRUSTED_PROXIES", "proxy.example.org"),
        ("TRUSTED_PROXIES", " ".join(["10.0.0.1"] * 65)),
        ("PUBLIC_NAMES", "*.example.org"),
        ("PUBLIC_NAMES", "https://memory.example.org"),
        ("TLS_CERT_FILE", "service.pem"),
        ("TLS_KEY_FILE", "service.key"),
        ("OPERATE", "70000"),
        ("OPERATE", ":8735"),
        ("OPERATE", "localhost"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"ENGRAMLOG_{name}: got .*; allowed: "):
        settings(**{name: value})


def test_without_settings_a_service_is_this_machines_alone() -> None:
    found = listeners_of(settings(), "127.0.0.1")
    assert found == Listeners(OF_THIS_MACHINE, OF_THIS_MACHINE, None)
    require_key(found, lambda: pytest.fail("nobody is asked for a key"))
    assert how_it_listens(found) == {"by": "loopback", "certificate_ends": None, "operating": "here"}


@each_row("host", ["0.0.0.0", "::", "192.0.2.7", "2001:db8::1", "memory.example.org", ""])
def test_others_reach_it_by_tls_or_a_declared_proxy_alone(host: str) -> None:
    with pytest.raises(BadSetting, match=r"ENGRAMLOG_HOST: got .*ENGRAMLOG_TLS_CERT_FILE.*ENGRAMLOG_TRUSTED_PROXIES"):
        listeners_of(settings(), host)
    with pytest.raises(BadSetting, match=r"ENGRAMLOG_OPERATE"):
        listeners_of(
            settings(TRUSTED_PROXIES="10.0.0.1", PUBLIC_NAMES="a.example", OPERATE=f"[{host or 'elsewhere'}]:1"),
            "127.0.0.1",
        )


def test_with_a_certificate_it_is_asked_by_its_names_and_operated_at_the_socket(tmp_path: Path) -> None:
    found = listeners_of(settings(certificate(tmp_path, "a.example", "*.b.example", "192.0.2.7")), "0.0.0.0")
    assert found.main.names == {("a.example", None), ("192.0.2.7", None)}
    assert (found.main.public, found.main.operates, found.main.scheme) == (True, False, "https")
    assert (found.folder.public, found.folder.operates, found.folder.direct) == (False, True, True)
    told = how_it_listens(found)
    assert (told["by"], told["operating"]) == ("tls", "socket")
    assert told["certificate_ends"] is not None


def test_a_proxy_makes_a_loopback_port_open_to_others(tmp_path: Path) -> None:
    told = settings(TRUSTED_PROXIES="127.0.0.1 10.0.7.0/24", PUBLIC_NAMES="a.example b.example:8443", OPERATE="0")
    found = listeners_of(told, "127.0.0.1")
    assert (found.main.public, found.main.scheme) == (True, "http")
    assert found.main.names == {("a.example", None), ("b.example", 8443)}
    assert found.operating == found.folder
    assert how_it_listens(found) == {"by": "proxy", "certificate_ends": None, "operating": "port"}
    beyond = listeners_of(settings(certificate(tmp_path), OPERATE="0.0.0.0:0"), "0.0.0.0").operating
    assert beyond is not None
    assert (beyond.public, beyond.operates, beyond.scheme) == (True, True, "https")


@each_row(
    ("told", "name"),
    [
        ({"OPERATE": "0"}, "ENGRAMLOG_OPERATE"),
        ({"TRUSTED_PROXIES": "10.0.0.1"}, "ENGRAMLOG_PUBLIC_NAMES"),
        ({"TLS_CERT_FILE": "/nowhere/x.pem"}, "ENGRAMLOG_TLS_KEY_FILE"),
        ({"TLS_KEY_FILE": "/nowhere/x.key"}, "ENGRAMLOG_TLS_CERT_FILE"),
    ],
)
def test_what_belongs_together_is_asked_for(told: dict[str, str], name: str) -> None:
    with pytest.raises(BadSetting, match=f"{name}: got .*; allowed: "):
        listeners_of(settings(**told), "127.0.0.1")


def _missing(folder: Path) -> Pair:
    return Pair(folder / "none.pem", folder / "none.key")


def _ended(folder: Path) -> Pair:
    return certificate(folder, begins=NOW - timedelta(days=9), ends=NOW - timedelta(days=1))


def _to_come(folder: Path) -> Pair:
    return certificate(folder, begins=NOW + timedelta(days=1))


def _no_pem(folder: Path) -> Pair:
    pair = certificate(folder)
    pair.chain.write_text("no certificate")
    return pair


def _a_folder(folder: Path) -> Pair:
    return certificate(folder)._replace(chain=folder)


def _open_to_all(folder: Path) -> Pair:
    pair = certificate(folder)
    pair.key.chmod(0o644)
    return pair


def _written_by_a_group(folder: Path) -> Pair:
    pair = certificate(folder)
    pair.key.chmod(0o660)
    return pair


def _anothers_key(folder: Path) -> Pair:
    return certificate(folder)._replace(key=certificate(folder / "other").key)


def _with_a_password(folder: Path) -> Pair:
    return certificate(folder, password=b"secret")


def _no_key(folder: Path) -> Pair:
    pair = certificate(folder)
    pair.key.write_text("no key")
    return pair


@each_row(
    ("made", "name"),
    [
        *[(one, "CERT") for one in (_missing, _ended, _to_come, _no_pem, _a_folder)],
        *[(one, "KEY") for one in (_open_to_all, _written_by_a_group, _anothers_key, _with_a_password, _no_key)],
    ],
)
def test_a_certificate_that_cannot_be_used_is_refused_at_the_start(
    made: Callable[[Path], Pair], name: str, tmp_path: Path
) -> None:
    with pytest.raises(BadSetting, match=f"ENGRAMLOG_TLS_{name}_FILE: got .*; allowed: ") as refusal:
        listeners_of(settings(made(tmp_path)), "0.0.0.0")
    assert {"setting", "got", "allowed"} <= refusal.value.as_dict().keys()


def test_a_key_that_a_group_reads_is_taken(tmp_path: Path) -> None:
    pair = certificate(tmp_path)
    pair.key.chmod(0o640)
    assert listeners_of(settings(pair), "0.0.0.0").certificate is not None


def _book(**more: Any) -> AccessBook:
    return AccessBook(1, {"k": Key("k", "support", b"", "", 0, **more)})


@each_row("book", [AccessBook(), _book(expires_at=1), _book(revoked_at=1)])
def test_without_a_key_that_lives_it_is_not_opened_and_the_first_is_one_command(
    tmp_path: Path, book: AccessBook
) -> None:
    found = listeners_of(settings(certificate(tmp_path)), "127.0.0.1")
    with pytest.raises(BadSetting, match="no key that lives") as refusal:
        require_key(found, lambda: book)
    assert FIRST_KEY in refusal.value.message
    require_key(found, _book)


class Kept:
    """Alarms as they stand."""

    def __init__(self) -> None:
        self.standing: dict[str, str] = {}

    def raised(self, name: str, _subject: str = "", text: str = "") -> None:
        self.standing[name] = text

    def cleared(self, name: str, _subject: str = "") -> None:
        self.standing.pop(name, None)


class Turning:
    """A clock that a test turns on."""

    def __init__(self) -> None:
        self.seconds, self.at = 100.0, NOW

    def tend(self, watch: CertificateWatch, seconds: float = 3.0) -> None:
        self.seconds += seconds
        watch.check()

    def now(self) -> datetime:
        return self.at


def test_a_certificate_that_ends_within_14_days_is_an_alarm_until_it_is_renewed(tmp_path: Path) -> None:
    pair, clock, alarms, told = certificate(tmp_path), Turning(), Kept(), list[str]()
    watch = CertificateWatch(
        Certificate(*pair, clock.now), alarms, lambda fact, **_: told.append(fact), clock.now, lambda: clock.seconds
    )
    alarms.standing["certificate_ends"] = "left by a process before"
    clock.tend(watch)
    assert not alarms.standing
    clock.at = NOW + timedelta(days=77)
    clock.tend(watch)
    assert "it ends" in alarms.standing["certificate_ends"]
    for new, old in zip(certificate(tmp_path / "new", ends=NOW + timedelta(days=180)), pair, strict=True):
        new.replace(old)
    clock.tend(watch)
    assert not alarms.standing
    assert told == ["certificate renewed"]


def test_files_that_cannot_be_used_leave_the_one_before_in_use_and_are_an_alarm_after_ten_seconds(
    tmp_path: Path,
) -> None:
    pair, clock, alarms = certificate(tmp_path), Turning(), Kept()
    used = Certificate(*pair, clock.now)
    watch = CertificateWatch(used, alarms, lambda *_, **__: None, clock.now, lambda: clock.seconds)
    before, other = used.context, certificate(tmp_path / "new")
    other.chain.replace(pair.chain)  # its key is still to come
    clock.tend(watch)
    assert not alarms.standing
    clock.tend(watch, 11.0)
    assert "ENGRAMLOG_TLS_KEY_FILE" in alarms.standing["certificate_unreadable"]
    assert used.context is before
    pair.chain.unlink()
    clock.tend(watch)
    assert "certificate_unreadable" in alarms.standing
    certificate(tmp_path)
    clock.tend(watch)
    assert not alarms.standing
    assert used.context is not before


def test_a_certificate_is_tended_where_nothing_else_turns(tmp_path: Path) -> None:
    pair, told = certificate(tmp_path), list[str]()
    with certificate_tended(Certificate(*pair, now), lambda fact, **_: told.append(fact)):
        for new, old in zip(certificate(tmp_path / "new"), pair, strict=True):
            new.replace(old)
        wait_until(lambda: told)
    assert told == ["certificate renewed"]
    with certificate_tended(None, lambda *_, **__: None):
        pass


def test_what_was_refused_is_told_once_a_minute_with_few_addresses() -> None:
    told, clock = list[dict[str, Any]](), Turning()
    watch = RefusedRequests(lambda _fact, **facts: told.append(facts), lambda: clock.seconds)
    watch.report()
    assert not told
    for number in range(1_000):
        watch.count("stranger", f"203.0.113.{number % 250}")
    watch.report()
    watch.count("place", "x" * 500)
    watch.report()
    assert [one["reasons"] for one in told] == [{"stranger": 1_000}]
    assert len(told[0]["addresses"]) == 8
    clock.seconds += 61
    watch.report()
    assert told[1]["reasons"] == {"place": 1}
    assert told[1]["addresses"] == ["x" * 64]
