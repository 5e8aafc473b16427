"""The compose files: they are such, nobody beyond loopback reaches Redis, and each container is as closed as can be."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import yaml

from engramlog_server.ops.processes.life import END_SECONDS
from tests.integration.deploy.read import COMPOSE

FILES = ("compose.yaml", "compose.cluster.yaml")


def compose(name: str = "compose.yaml") -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((COMPOSE / name).read_text("utf-8"))
    return found


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose()["services"]
    return found


def test_they_are_compose_files() -> None:
    command = [sys.executable, "-P", "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    ran = subprocess.run(
        [*command, *(str(COMPOSE / name) for name in FILES)], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout


def test_redis_has_no_port_and_is_in_a_network_that_leads_nowhere() -> None:
    redis = services()["redis"]
    assert "ports" not in redis
    assert redis["networks"] == ["store"]
    assert compose()["networks"]["store"] == {"internal": True}


def test_ports_are_published_on_loopback_unless_told() -> None:
    published = [port for one in services().values() for port in one.get("ports", ())]
    assert published == ["${PUBLISH:-127.0.0.1}:8733:8733", "127.0.0.1:8735:8735"]


@pytest.mark.parametrize("name", ["redis", "api", "worker", "backup"])
def test_a_container_may_write_where_it_says_and_do_nothing_more(name: str) -> None:
    one = services()[name]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert one.get("privileged") is None
    assert "healthcheck" in one or name == "api"  # the image's


@pytest.mark.parametrize("name", ["api", "worker"])
def test_its_end_is_waited_for(name: str) -> None:
    assert services()[name]["stop_grace_period"] == "10s"
    assert END_SECONDS < 10


def test_secrets_are_files_and_passwords_are_asked_for() -> None:
    given = compose()["secrets"]
    assert {one["file"] for one in given.values()} == {f"./secrets/{name}" for name in given}
    assert {name for one in services().values() for name in one["secrets"]} == set(given)
    assert (COMPOSE / ".gitignore").read_text("utf-8").split() == [".env", "secrets/"]
    for name in FILES:
        assert "${REDIS_PASSWORD:?" in (COMPOSE / name).read_text("utf-8")
