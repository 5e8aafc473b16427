"""All owners of a store by workers of a real Dask cluster: what one process finds, whoever dies; and what crosses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from events.errors import EngramlogError
from ops.main import main
from ops.many import dask_cluster, dask_part
from ops.many.dask_part import DaskPart, let_go, part_done
from ops.many.release import release
from ops.processes.shares import ToldLine
from ops.settings import Settings
from ops.wiring import open_application
from tests.acceptance.helpers.store import Store, day
from tests.given.clusters.local_dask import DEATHS, dies_in_the_middle, local_cluster
from tests.integration.ops.many.test_all_owners import OWNERS, figures, journals, ran, told_of
from tests.patience import PATIENCE
from tests.servers import RedisServer, Servers, wheel_server

distributed = pytest.importorskip("distributed")
AT = ("--at", day(60))
Capture = pytest.CaptureFixture[str]


class Place(NamedTuple):
    """A store, and a cluster whose workers have it by their own settings."""

    url: str
    data: Path
    address: str
    deaths: Path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("dask")
    server = RedisServer(wheel_server())
    url, data, deaths = server.url, folder / "data", folder / "deaths"
    deaths.mkdir()
    settings = {"ENGRAMLOG_REDIS_URL": url, "ENGRAMLOG_DATA": str(data)}
    try:
        with open_application(Settings(data=data, redis_url=url)) as application:
            store = Store(application)
            for number, owner in enumerate(OWNERS):
                store.tell(owner, *told_of(number))
        with local_cluster({**settings, DEATHS: str(deaths)}, folder) as address:
            yield Place(url, data, address, deaths)
    finally:
        server.stop()


@pytest.fixture
def here(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", place.url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(place.data))
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", PATIENCE)
    for left in journals(place.data):  # by a test whose run was refused: the next of the same question goes on with it
        left.unlink()
    return place


def test_a_cluster_finds_what_one_process_finds_and_sends_no_more_than_it_must(
    here: Place, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, submit = list[tuple[str, bytes]](), distributed.Client.submit

    def noted(client: Any, function: Any, raw: bytes, **more: Any) -> Any:
        sent.append((more["key"], raw))
        return submit(client, function, raw, **more)

    monkeypatch.setattr(distributed.Client, "submit", noted)
    for words in (("health", "--all", *AT), ("replay", "--all", "--set", "user_factor=1.3", "--query", "jazz", *AT)):
        by_dask, here_alone = ran(capsys, *words, "--dask", here.address), ran(capsys, *words)
        assert figures(by_dask) == figures(here_alone)
        assert by_dask["dask"] == {"address": here.address, "workers": 2, "lost": 0}
    assert {owner for _, raw in sent for owner in msgspec.json.decode(raw)["task"]["owners"]} == set(OWNERS)
    for key, raw in sent:
        assert key.startswith("engramlog-")
        assert not any(owner in key for owner in OWNERS)
        assert not any(word in raw for word in (here.url.encode(), str(here.data).encode(), b"Berlin", b"cello"))
        assert set(msgspec.json.decode(raw)) == {"store", "release", "work", "task"}
    assert journals(here.data) == []


def test_what_a_worker_that_died_had_under_way_is_done_by_another_and_told(
    here: Place, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the middle of a part: no owner is counted twice, and nothing is written twice."""
    rehearsed = ran(capsys, "extract", "--all", "--dry-run")
    (here.deaths / "one").touch()
    monkeypatch.setattr(dask_part, "part_done", dies_in_the_middle)
    assert main(["extract", "--all", "--dask", here.address, "--json"]) == 0
    told = capsys.readouterr()
    answer = json.loads(told.out)
    assert list(here.deaths.iterdir()) == []
    assert (answer["dask"]["lost"], answer["owners"], answer["left_out"]) == (1, len(OWNERS), {})
    assert answer["counts"]["add"] == rehearsed["counts"]["add"]
    assert "is gone: 1 part that it had under way are done by another" in " ".join(told.err.split()) or (
        "parts that it had under way are done by another" in " ".join(told.err.split())
    )
    monkeypatch.setattr(dask_part, "part_done", part_done)
    assert ran(capsys, "extract", "--all", "--dask", here.address)["appended"] == 0


def test_a_part_of_which_worker_after_worker_dies_ends_the_run_which_is_gone_on_with(
    here: Place, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("health", "--all", "--at", day(61))
    expected = ran(capsys, *words)
    for number in range(2):
        (here.deaths / str(number)).touch()
    monkeypatch.setattr(dask_part, "part_done", dies_in_the_middle)
    monkeypatch.setattr(dask_cluster, "AHEAD", 1)
    tasks = dask_cluster.DaskCluster._most
    monkeypatch.setattr(dask_cluster.DaskCluster, "_most", lambda cluster: min(tasks(cluster), 1))
    assert main([*words, "--dask", here.address]) == 1
    assert "2 Dask workers died one after the other of the same owners" in " ".join(capsys.readouterr().err.split())
    monkeypatch.setattr(dask_part, "part_done", part_done)
    again = ran(capsys, *words, "--dask", here.address)
    assert figures(again) == figures(expected)


def test_a_worker_of_another_release_or_store_refuses(
    here: Place, capsys: Capture, monkeypatch: pytest.MonkeyPatch, redis_servers: Servers, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(dask_cluster, "release", lambda: "0.1.0+old")
        assert main(["health", "--all", "--dask", here.address]) == 1
        assert "a Dask worker runs engramlog" in capsys.readouterr().err
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("redis-6.2").url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "other"))
    assert main(["add", "ada", "I like tea"]) == 0
    assert main(["health", "--all", "--dask", here.address]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "a Dask worker has store" in told
    assert "by its own ENGRAMLOG_REDIS_URL" in told


def test_a_worker_makes_no_store_where_there_is_none(
    redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = redis_servers.get("redis-6.2")
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", server.url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    raw = b'{"store":"a-store","release":"%s","work":"health","task":{"partition":0,"tag":"e0"}}' % release().encode()
    line = msgspec.json.decode(part_done(raw), type=ToldLine)
    assert line.error is not None
    assert line.error["message"].startswith("a Dask worker has store none")
    with server.client() as client:
        assert client.dbsize() == 0


def test_what_a_worker_has_open_is_closed_once_nobody_wants_it(here: Place, capsys: Capture) -> None:
    with open_application(Settings(data=here.data, redis_url=here.url)) as application:
        store: Any = application
        identity = store._store.identity
    raw = {
        "store": identity.store_id,
        "release": release(),
        "work": "health",
        "task": {"partition": 0, "tag": identity.tags[0], "owners": OWNERS[:2], "asked": {"work": "health"}},
    }
    part = msgspec.json.decode(msgspec.json.encode(raw), type=DaskPart)
    line = msgspec.json.decode(part_done(msgspec.json.encode(part)), type=ToldLine)
    assert line.figures is not None
    assert (line.figures.owners, dask_part._OPENED._application is None) == (2, False)
    another = msgspec.json.encode(msgspec.structs.replace(part, store="another"))
    refused = msgspec.json.decode(part_done(another), type=ToldLine).error
    assert refused is not None
    assert f"has store {identity.store_id}" in refused["message"]
    let_go()
    assert dask_part._OPENED._application is None


def test_nobody_answers_is_told(here: Place, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1.0)
    assert main(["health", "--all", "--dask", "tcp://127.0.0.1:1"]) == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in " ".join(capsys.readouterr().err.split())
    assert main(["health", "--all", "--dask", "tcp://10.0.0.5:8786"]) == 2
    assert "a scheduler runs what it is sent" in " ".join(capsys.readouterr().err.split())
    assert main(["health", "--all", "--dask", "tls://127.0.0.1:8786"]) == 2
    assert "got no distributed.comm.tls.ca-file" in " ".join(capsys.readouterr().err.split())


def certificates(folder: Path) -> dict[str, str]:
    """Files of an authority of its own, and of everybody whom it vouches for, as Dask's configuration names them."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "engramlog-tests")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert, secret = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    files = {"ca-file": str(cert)}
    for role in ("client", "scheduler", "worker"):
        files |= {f"{role}.cert": str(cert), f"{role}.key": str(secret)}
    return {f"distributed.comm.tls.{name}": path for name, path in files.items()}


def test_by_tls_with_the_files_that_dasks_own_configuration_names(here: Place, capsys: Capture, tmp_path: Path) -> None:
    import dask

    config = certificates(tmp_path)
    settings = {"ENGRAMLOG_REDIS_URL": here.url, "ENGRAMLOG_DATA": str(here.data)}
    with local_cluster(settings, tmp_path, config) as address, dask.config.set(config):
        assert address.startswith("tls://127.0.0.1:")
        answer = ran(capsys, "health", "--all", *AT, "--dask", address)
        assert figures(answer) == figures(ran(capsys, "health", "--all", *AT))
        with pytest.raises(EngramlogError, match="no Dask scheduler answers"):
            with dask_cluster.dask_cluster("tcp" + address[3:], "store", print):
                pytest.fail("it speaks TLS alone")


def test_while_nothing_is_done_it_is_looked_whether_anybody_is_there(
    here: Place, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "LOOK_SECONDS", 0.001)
    words = ("health", "--all", "--at", day(62))
    assert figures(ran(capsys, *words, "--dask", here.address)) == figures(ran(capsys, *words))
