"""A log that is not whole, or older than what was acknowledged, is an alarm before anybody folds or appends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.partitions import LogKeys, partition_of
from tests.given.http import HttpStore, created, http_store
from tests.integration.events.test_receipts_outlive_the_process import Restored

OWNER = "alice"


def standing(stage: HttpStore) -> dict[str, str]:
    """Alarms of `/ready` by name, each with its severity; 503 where one is `stopped`."""
    answer = stage.client.get("/ready")
    told: list[dict[str, Any]] = answer.json()["alarms"]
    assert answer.status_code == (503 if any(one["severity"] == "stopped" for one in told) else 200)
    return {one["name"]: one["severity"] for one in told}


def keys(stage: HttpStore) -> LogKeys:
    identity = stage.store.identity
    return LogKeys(identity.tags[partition_of(OWNER, identity.partitions)])


@pytest.mark.parametrize("lost", ["stream", "meta"])
def test_a_missing_stream_and_a_head_below_its_checkpoint_are_alarms_that_end_with_their_cause(
    tmp_path: Path, lost: str
) -> None:
    with http_store(tmp_path) as stage:
        stage.told(OWNER, created("m1"))
        assert standing(stage) == {}
        key = getattr(keys(stage), lost)
        kept: Any = stage.store.client.dump(key)
        stage.store.client.delete(key)
        assert [one["name"] for one in stage.client.get("/v1/alarms").json()["alarms"]] == ["partition_gap"]
        assert standing(stage) == {"partition_gap": "stopped"}
        stage.store.client.restore(key, 0, kept)
        assert standing(stage) == {}


@pytest.mark.parametrize("asked", ["/ready", f"/v1/owners/{OWNER}/memories", f"/v1/owners/{OWNER}/search?query=tea"])
def test_a_redis_that_comes_back_with_an_older_file_is_noticed_by_the_first_question(
    tmp_path: Path, asked: str
) -> None:
    with http_store(tmp_path) as stage:
        stage.told(OWNER, created("m1"))
        copy = Restored(stage.store.client)
        stage.told(OWNER, created("m2"))
        copy.back()
        stage.client.get(asked)
        assert [one.name for one in stage.store.alarms.standing()] == ["receipt_lost"]
        assert standing(stage) == {"receipt_lost": "stopped"}
        stage.client.post("/v1/alarms/clear", json={"name": "receipt_lost"})
        assert standing(stage) == {}
        assert stage.client.get(f"/v1/owners/{OWNER}/memories").status_code == 200
        assert standing(stage) == {}


def test_a_redis_that_cannot_write_its_file_is_an_alarm_though_it_takes_not_even_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_store(tmp_path) as stage:
        assert standing(stage) == {}
        stage.store.client.config_set("min-replicas-to-write", "1")
        with monkeypatch.context() as full:
            full.setattr(
                "engramlog_server.api.services.operating.info",
                lambda _wire, _section: {"aof_last_write_status": "err"},
            )
            assert standing(stage) == {"redis_writes_fail": "stopped"}
        stage.store.client.config_set("min-replicas-to-write", "0")
        assert standing(stage) == {}


def test_what_is_no_append_names_the_full_disk_too(tmp_path: Path) -> None:
    with http_store(tmp_path) as stage:
        stage.store.alarms.raised("job_refused", "", "something lay there")
        stage.store.client.config_set("min-replicas-to-write", "1")
        refused = stage.client.post("/v1/alarms/clear", json={"name": "job_refused"})
        assert (refused.status_code, "the disk of its data folder is full" in refused.json()["detail"]) == (503, True)
        stage.store.client.config_set("min-replicas-to-write", "0")
