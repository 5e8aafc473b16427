"""Which schedulers are spoken to at all, and what a worker refuses: nothing is sent where anybody else may listen."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest

from api.requests.whole import HealthAsked
from events.errors import BadSetting, EngramlogError, InputError
from ops.many import dask_cluster as module
from ops.many.dask_cluster import checked_address, dask_cluster
from ops.many.dask_part import DaskPart, let_go, part_done
from ops.many.release import release
from ops.processes.shares import PartitionTask, ToldLine


@pytest.mark.parametrize(
    ("address", "secure"),
    [
        ("tcp://127.0.0.1:8786", False),
        ("tcp://127.8.9.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://localhost:8786", False),
        ("tls://127.0.0.1:8786", True),
        ("tls://scheduler.example:8786", True),
    ],
)
def test_a_scheduler_of_this_machine_or_by_tls_is_spoken_to(address: str, secure: bool) -> None:
    assert checked_address(address) is secure


@pytest.mark.parametrize(
    "address",
    [
        "tcp://10.0.0.5:8786",
        "tcp://0.0.0.0:8786",
        "tcp://[2001:db8::1]:8786",
        "tcp://no-such-host.invalid:8786",
        "tcp://127.0.0.1",
        "tcp://:8786",
        "tcp://127.0.0.1:8786/x",
        "tcp://127.0.0.1:99999",
        "127.0.0.1:8786",
        "inproc://127.0.0.1:8786",
        "ws://127.0.0.1:8786",
        "wss://127.0.0.1:8786",
        "ucx://127.0.0.1:8786",
        "tls://user:secret@127.0.0.1:8786",
        "tls://",
        "",
    ],
)
def test_every_other_is_refused_before_anything_is_loaded_or_sent(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match="tls://HOST:PORT, or tcp://HOST:PORT of this machine") as refused:
        with dask_cluster(address, "store", print):
            pytest.fail("spoken to")
    assert refused.value.context["field"] == "dask"
    assert "secret" not in refused.value.message


def test_a_name_that_is_this_machine_and_another_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(0, 0, 0, "", ("127.0.0.1", 0)), (0, 0, 0, "", ("10.0.0.5", 0))]
    monkeypatch.setattr(module.socket, "getaddrinfo", lambda *_: both)
    with pytest.raises(InputError):
        checked_address("tcp://ambiguous:8786")


def test_where_dask_is_not_installed_it_is_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(EngramlogError, match=r'pip install "engramlog\[dask\]"'):
        with dask_cluster("tcp://127.0.0.1:1", "store", print):
            pytest.fail("spoken to")


class _Files:
    def __init__(self, ca: str | None, key: str | None, cert: str | None) -> None:
        self.tls_ca_file, self.tls_client_key, self.tls_client_cert = ca, key, cert

    def get_connection_args(self, _role: str) -> None:
        raise FileNotFoundError


def test_tls_without_files_or_with_such_as_cannot_be_used_is_refused_by_their_names() -> None:
    with pytest.raises(BadSetting, match=r"got no distributed\.comm\.tls\.ca-file, .*client\.cert"):
        module._refuse_files(_Files(None, "key", None))
    with pytest.raises(BadSetting, match="cannot be used"):
        module._refuse_files(_Files("ca", "key", "cert"))


class _Info:
    def __init__(self, address: str, *workers: str) -> None:
        self.told: dict[str, Any] = {"address": address, "workers": dict.fromkeys(workers)}

    def scheduler_info(self) -> dict[str, Any]:
        return self.told


@pytest.mark.parametrize(
    "told",
    [
        ("tcp://192.168.1.7:8786",),
        ("tcp://127.0.0.1:8786", "tcp://192.168.1.8:40000"),
        ("inproc://127.0.0.1/1/1",),
    ],
)
def test_one_that_answers_here_and_listens_or_works_elsewhere_too_is_refused(told: tuple[str, ...]) -> None:
    info: Any = _Info(*told)
    with pytest.raises(InputError, match="a scheduler or worker at"):
        module._refuse_open(info)
    module._refuse_open(_Info("tcp://127.0.0.1:8786", "tcp://127.0.0.1:40000"))  # type: ignore[arg-type]


def asked(release_: str, **more: Any) -> ToldLine:
    task = PartitionTask(0, "e0", owners=["ada"], asked=HealthAsked())
    raw = msgspec.json.encode(DaskPart(more.pop("store", "a-store"), release_, "health", task))
    return msgspec.json.decode(part_done(raw), type=ToldLine)


def test_a_worker_of_another_release_refuses() -> None:
    line = asked("0.1.0+old")
    assert line.error is not None
    assert f"runs engramlog {release()}, and this command 0.1.0+old" in line.error["message"]


def test_a_worker_without_an_address_of_its_own_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENGRAMLOG_REDIS_URL", raising=False)
    line = asked(release())
    assert line.error is not None
    assert line.error["message"].startswith("ENGRAMLOG_REDIS_URL: got nothing")
    assert line.exit_code == 2
    let_go()  # nothing is open


def test_what_is_no_part_is_told_by_its_kind_alone(capsys: pytest.CaptureFixture[str]) -> None:
    line = msgspec.json.decode(part_done(b"a secret that is no part"), type=ToldLine)
    assert line.error is not None
    assert line.error["message"] == "a Dask worker failed (DecodeError): its own log has the rest"


def test_the_release_is_the_same_twice_and_another_where_a_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    read = release.__wrapped__
    once = release()
    assert once == read()
    monkeypatch.setattr("ops.many.release.READ", frozenset({".tsv"}))
    assert read() != once
