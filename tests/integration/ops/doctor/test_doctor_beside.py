"""`engramlog doctor` beside others: a folder in use, a log that its start cut, a key service that is down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engramlog_server.ops.embedded.server import open_folder
from tests.acceptance.helpers.cli import Cli
from tests.given.key_service import FakeKeyService, fake_key_service, token_file
from tests.integration.ops.doctor.test_doctor_folder import found


@pytest.fixture
def service() -> Iterator[FakeKeyService]:
    with fake_key_service() as found_there:
        yield found_there


def test_a_folder_that_another_command_uses_is_not_wrong_but_not_looked_at(
    store: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engramlog_server.ops.doctor.servers.OPENING_SECONDS", 0.1)
    with open_folder(folder, "command"):
        told = found(store, code=3)
    assert told["redis", "answers"]["failed"]
    assert "still uses" in told["redis", "answers"]["found"]
    assert told["permissions", "data folder"]["result"] == "ok"


def test_what_its_start_cut_off_the_log_is_raised_as_by_any_other_command(store: Cli, folder: Path) -> None:
    (log,) = [one for one in folder.rglob("*.aof") if "incr" in one.name or one.name == "appendonly.aof"]
    with log.open("ab") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$1\r\na")
    assert found(store)["processes", "alarm log_cut"]["result"] == "advice"
    assert [one["name"] for one in store.json("alarms")["alarms"]] == ["log_cut"]


def test_a_key_service_that_is_down_is_wrong(
    cli: Cli, service: FakeKeyService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ENGRAMLOG_SEALED_BY", service.setting)
    monkeypatch.setenv("ENGRAMLOG_VAULT_TOKEN_FILE", token_file(tmp_path))
    cli("add", "ada", "Ada likes coffee")
    told = found(cli, "--strict")
    assert told["sealing", "master key"]["result"] == "ok"
    assert "key service" in told["sealing", "copy of the key"]["found"]
    service.says(503)
    told = found(cli, code=1)
    assert told["sealing", "master key"]["result"] == "wrong"
    assert told["redis", "durability"]["result"] == "ok"
