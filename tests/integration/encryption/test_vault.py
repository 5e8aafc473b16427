"""A master key in a key service: wrapped and unwrapped there, in bounded requests; every trouble told for what it is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.errors import BadSetting, KeyUnavailable
from engramlog_server.events.keys import Wrapped
from engramlog_server.ops.keys.master import master_of
from engramlog_server.ops.keys.vault import BATCH, VaultKey, version_of
from engramlog_server.ops.settings import ServiceKey, load_settings, service_key
from tests.given.key_service import (
    KEY,
    MOUNT,
    NO_BAO,
    TOKEN,
    FakeKeyService,
    KeyService,
    fake_key_service,
    open_bao,
)

SECRETS = [(b"store\0alice", b"a" * 32), (b"store\0bob", b"b" * 32)]


@pytest.fixture(params=["scripted", "openbao"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KeyService]:
    """A scripted one, and the real one."""
    if request.param == "scripted":
        with fake_key_service() as scripted:
            yield scripted
        return
    if shutil.which("bao") is None:
        pytest.skip(NO_BAO)
    with open_bao(tmp_path) as real:
        yield real


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def key_of(service: KeyService, **options: Any) -> VaultKey:
    place = service_key(service.setting)
    assert place is not None
    return VaultKey(place, lambda: TOKEN, **options)


def lines_of(key: VaultKey) -> list[Wrapped]:
    return [Wrapped(about, line) for (about, _), line in zip(SECRETS, key.wrap(SECRETS), strict=True)]


def refused(found: bytes | KeyUnavailable) -> KeyUnavailable:
    assert isinstance(found, KeyUnavailable)
    return found


def test_what_was_wrapped_opens_and_is_bound_to_store_and_owner(either: KeyService) -> None:
    key = key_of(either)
    alice, bob = lines_of(key)
    assert key.unwrap([alice, bob]) == [b"a" * 32, b"b" * 32]
    assert alice.line.startswith(b"\x02vault:v1:")
    one, two = key.unwrap([Wrapped(alice.about, bob.line), bob])
    assert "message authentication failed" in refused(one).message
    assert not refused(one).passes
    assert two == b"b" * 32, "one that does not open hinders no other"


def test_after_a_rotation_the_new_version_wraps_and_the_old_one_opens_until_it_is_refused(either: KeyService) -> None:
    clock = Clock()
    key = key_of(either, clock=clock)
    before = lines_of(key)
    assert key.is_current(before[0].line)
    either.rotate()
    assert key.unwrap(before) == [b"a" * 32, b"b" * 32]
    clock.now += 31
    assert not key.is_current(before[0].line)
    after = lines_of(key)
    assert [key.wrapped_by(one.line) for one in (before[0], after[0])] == ["v1", "v2"]
    either.refuse_before(2)
    found = key.unwrap([before[0], after[0]])
    assert "too old" in refused(found[0]).message
    assert not refused(found[0]).passes
    assert found[1] == b"a" * 32


def test_a_destroyed_key_is_told_apart_from_a_service_that_does_not_answer(either: KeyService) -> None:
    key = key_of(either)
    wrapped = lines_of(key)
    either.destroy()
    (found,) = key.unwrap(wrapped[:1])
    assert "no such key, or not any more" in refused(found).message
    assert not refused(found).passes


def test_a_token_that_is_not_let_in_is_told_by_its_setting_and_a_new_one_holds_at_once(either: KeyService) -> None:
    clock, shown = Clock(), ["another-token"]
    place = service_key(either.setting)
    assert place is not None
    key = VaultKey(place, lambda: shown[0], clock=clock)
    with pytest.raises(KeyUnavailable, match="does not let us in") as refusal:
        key.wrap(SECRETS)
    assert (refusal.value.passes, refusal.value.context["setting"]) == (False, "ENGRAMLOG_VAULT_TOKEN_FILE")
    shown[0] = TOKEN
    clock.now += 1.01
    assert key.unwrap(lines_of(key)) == [b"a" * 32, b"b" * 32]


def test_many_are_asked_for_in_requests_of_bounded_size(service: FakeKeyService) -> None:
    key = key_of(service)
    many = [(b"store\0%d" % number, number.to_bytes(32, "big")) for number in range(2 * BATCH + 1)]
    wrapped = [Wrapped(about, line) for (about, _), line in zip(many, key.wrap(many), strict=True)]
    assert key.unwrap(wrapped) == [secret for _, secret in many]
    assert service.asked == [(what, many) for what in ("encrypt", "decrypt") for many in (BATCH, BATCH, 1)]


@pytest.mark.parametrize("status", [307, 412, 429, 472, 473, 500, 502, 503])
def test_a_service_that_cannot_serve_now_is_asked_again_later_and_not_by_each_owner(
    service: FakeKeyService, status: int
) -> None:
    clock = Clock()
    key = key_of(service, clock=clock)
    wrapped = lines_of(key)
    service.says(status, {"errors": ["Vault is sealed"]}, location=f"{service.address}/v1/elsewhere")
    asked = len(service.asked)
    for _ in range(20):
        (found,) = key.unwrap(wrapped[:1])
        assert f"answered {status}" in refused(found).message
        assert refused(found).passes
    assert len(service.asked) == asked + 1, "and nobody follows to elsewhere"
    assert refused(found).context["retry_after"] == 5
    service.answers()
    clock.now += 5.01
    assert key.unwrap(wrapped) == [b"a" * 32, b"b" * 32]


def test_a_service_that_hangs_costs_one_bounded_wait(service: FakeKeyService) -> None:
    wrapped = lines_of(key_of(service))
    key = key_of(service, seconds=0.3)
    service.hangs()
    found = [refused(key.unwrap(wrapped)[1]) for _ in range(10)]
    assert {one.message for one in found} == {
        f"the key service does not answer ({KEY} at {service.address}/{MOUNT}): no whole answer in time"
    }
    assert service.asked[1:] == [("instead", 0)]


def test_nobody_listens(service: FakeKeyService) -> None:
    key = VaultKey(ServiceKey("http://127.0.0.1:1", MOUNT, KEY), lambda: TOKEN)
    with pytest.raises(KeyUnavailable, match="does not answer") as refusal:
        key.wrap(SECRETS)
    assert refusal.value.passes
    assert service.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>a page</html>",
        b"[]",
        {"data": None},
        {"data": {"batch_results": []}},
        {"data": {"batch_results": [1, 2]}},
        {"data": {"batch_results": [{}, {}, {}]}},
    ],
)
def test_what_is_no_key_service_opens_nothing_and_is_asked_again(service: FakeKeyService, answer: Any) -> None:
    key = key_of(service)
    wrapped = lines_of(key)
    service.says(200, answer)
    for found in key.unwrap(wrapped):
        assert "no key service" in refused(found).message
        assert refused(found).passes


@pytest.mark.parametrize("told", [{"ciphertext": "hunter2"}, {"ciphertext": ""}, {}, {"error": "no"}])
def test_no_line_is_made_of_what_is_no_ciphertext(service: FakeKeyService, told: dict[str, str]) -> None:
    service.says(200, {"data": {"batch_results": [told, told]}})
    with pytest.raises(KeyUnavailable):
        key_of(service).wrap(SECRETS)


def test_an_answer_larger_than_is_allowed_is_not_read(service: FakeKeyService) -> None:
    key = key_of(service)
    wrapped = lines_of(key)
    service.says(200, b" " * ((1 << 20) + 1))
    assert "more than 1,048,576 bytes" in refused(key.unwrap(wrapped)[0]).message


def test_a_line_of_a_key_file_is_told_for_what_it_is_without_asking(service: FakeKeyService) -> None:
    (found,) = key_of(service).unwrap([Wrapped(b"store\0alice", b"\x01" + b"k" * 68)])
    assert refused(found).message == "it was not wrapped by a key service, but by a key file"
    assert service.asked == []


@pytest.mark.parametrize(
    ("told", "is_one"),
    [
        ("vault:https://vault.example:8200/transit/engramlog", True),
        ("vault:https://vault.example/team/a/transit/engramlog", True),
        ("vault:http://127.0.0.1:8200/transit/engramlog", True),
        ("vault:http://vault.example:8200/transit/engramlog", False),
        ("vault:https://who:pass@vault.example/transit/engramlog", False),
        ("vault:https://vault.example/engramlog", False),
        ("vault:https://vault.example/transit/../sys/engramlog", False),
        ("vault:https://vault.example/transit/engramlog?x=1", False),
        ("vault:vault.example/transit/engramlog", False),
    ],
)
def test_an_address_is_https_or_of_this_machine(told: str, is_one: bool) -> None:
    assert (service_key(told) is not None) == is_one
    if not is_one:
        with pytest.raises(BadSetting, match="ENGRAMLOG_SEALED_BY") as refusal:
            load_settings({"ENGRAMLOG_SEALED_BY": told})
        assert "pass@" not in refusal.value.message


def test_settings_name_the_key_and_the_token(service: FakeKeyService, tmp_path: Path) -> None:
    told = {"ENGRAMLOG_SEALED_BY": service.setting}
    nobody = master_of(load_settings(told))
    assert nobody is not None
    with pytest.raises(BadSetting, match="ENGRAMLOG_VAULT_TOKEN_FILE: got nothing"):
        _ = nobody.name
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o640)
    of_file = master_of(load_settings({**told, "ENGRAMLOG_VAULT_TOKEN_FILE": str(file)}))
    assert of_file is not None
    with pytest.raises(BadSetting, match=r"could be read by others \(0640\)"):
        _ = of_file.name
    file.chmod(0o600)
    assert of_file.name == f"{KEY} at {service.address}/{MOUNT}"
    assert version_of(of_file.wrap(SECRETS)[0]) == 1
    file.unlink()
    (found,) = of_file.unwrap([Wrapped(SECRETS[0][0], key_of(service).wrap(SECRETS[:1])[0])])
    assert "ENGRAMLOG_VAULT_TOKEN_FILE" in refused(found).message
