"""Procedures of jobs, models, and of what happened once: each as it stands on the page."""

from __future__ import annotations

from engramlog_server.events.redis.server import connect
from tests.acceptance.runbook.given import TEA, private
from tests.acceptance.runbook.night import Night
from tests.given.clusters.ports import free_ports


def test_no_job_runs(night: Night) -> None:
    night.given("systemctl start engramlog", f"engramlog add alice '{TEA}'")
    night.when()
    night.do()
    night.check()


def test_a_model_is_down(night: Night) -> None:
    url = f"http://127.0.0.1:{free_ports(1)[0]}/v1"
    night.setting(ENGRAMLOG_MODEL="qwen3:8b", ENGRAMLOG_MODEL_URL=url, ENGRAMLOG_EXTRACTION="off")
    (night.folder / "turns.jsonl").write_text(
        '{"turn_id": "t1", "occurred_at": "2026-11-01T08:00:00Z", "text": "I live in Lisbon.", "speaker": "user"}\n'
    )
    night.given("engramlog import turns turns.jsonl --owner alice")
    night.when()
    night.do()
    night.check()


def test_something_happened_once(night: Night) -> None:
    night.setting(ENGRAMLOG_JOB_WORKERS=1)
    night.given("systemctl start engramlog")
    store = night.given("engramlog status --json | jq -r .store_id").out.strip()
    with connect(private(night), timeout=10) as client:
        client.hset("rq:job:foreign", mapping={"data": b"not ours", "origin": f"engramlog-{store}"})
        client.rpush(f"rq:queue:engramlog-{store}", "foreign")
    night.until(night.told("engramlog", '"name": "job_refused"'))
    night.when()
    night.do()
    night.check()
