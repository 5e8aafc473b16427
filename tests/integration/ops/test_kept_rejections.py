"""Rejections outlive the store: what a restored copy lacks is said again, without anybody's doing, and told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree
from urllib.request import Request, urlopen

import orjson
import pytest

from engramlog_server.api.application import Application
from engramlog_server.events.catalogue import ValueReadmitted
from engramlog_server.events.envelope import prepare
from engramlog_server.events.errors import InputError
from engramlog_server.events.redis.log import RedisEventLog
from engramlog_server.events.validation import make_event
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.wiring import application_on, open_application
from tests.acceptance.helpers.cli import run
from tests.given.copies import acknowledged, restore
from tests.integration.events.test_receipts_outlive_the_process import Restored
from tests.integration.ops.test_up import get, running
from tests.patience import PATIENCE
from tests.servers import RedisServer

LISBON, CANOE = "I live in Lisbon", "I own a canoe"
NOW = datetime(2026, 11, 23, tzinfo=UTC)


@contextmanager
def opened(folder: Path, partitions: int = 2) -> Iterator[Application]:
    with open_application(Settings(data=folder, partitions=partitions)) as application:
        yield application


def contents(of: Application, owner: str = "ann") -> list[str]:
    return sorted(one["memory"] for one in of.reader.list(owner)["memories"])


def remembered(of: Application, *texts: str, owner: str = "ann") -> list[str]:
    return [of.rememberer.add(owner, text)["id"] for text in texts]


def rejected(of: Application, memory_id: str, owner: str = "ann") -> None:
    """A person deletes it by name."""
    of.deleter.delete_many(owner, [memory_id], by_name=True)


def alarms(of: Application) -> dict[str, str]:
    return {one["name"]: one["text"] for one in of.operator.alarms()["alarms"]}


def test_a_restored_copy_does_not_bring_back_what_was_rejected_since(tmp_path: Path) -> None:
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with opened(folder) as first:
        lisbon, _ = remembered(first, LISBON, CANOE)
    copytree(folder, copy)
    with opened(folder) as second:
        rejected(second, lisbon)
        assert contents(second) == [CANOE]
    restore(folder, copy)
    with opened(folder) as restored:
        assert contents(restored) == [CANOE]
        assert "1 rejection of 1 owner" in alarms(restored)["rejections_restored"]
        assert "1 rejection of 1 owner" in str(restored.restored)
        said = [one for one in restored.reader.history("ann")["changes"] if one["decision"] == "reject"]
        assert len(said) == 1
        with pytest.raises(InputError, match="rejected"):
            remembered(restored, "I live in Lisbon!")
    with opened(folder) as again:
        assert contents(again) == [CANOE]
        assert again.restored is None, "it is said again once"
        assert len([one for one in again.reader.history("ann")["changes"] if one["decision"] == "reject"]) == 1


def test_a_copy_of_before_the_owner_had_a_secret_takes_the_one_that_keyed_the_rejections(tmp_path: Path) -> None:
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with opened(folder) as first:
        remembered(first, CANOE, owner="bob")
    copytree(folder, copy)
    with opened(folder) as second:
        rejected(second, remembered(second, LISBON)[0])
    keys = (folder / "keys.db").read_bytes()
    restore(folder, copy)
    (folder / "keys.db").write_bytes(keys)  # the key store is kept apart from copies
    with opened(folder) as restored:
        acknowledged(restored)
        with pytest.raises(InputError, match="rejected"):
            remembered(restored, LISBON)
        remembered(restored, CANOE)
        assert contents(restored) == [CANOE]


def test_an_owner_whose_words_are_keyed_anew_is_told_of_and_loses_nothing_else(tmp_path: Path) -> None:
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with opened(folder) as first:
        remembered(first, CANOE, owner="bob")
    copytree(folder, copy)
    with opened(folder) as second:
        rejected(second, remembered(second, LISBON)[0])
    kept = (folder / "rejections.jsonl").read_bytes()
    restore(folder, copy)
    (folder / "rejections.jsonl").unlink()
    with opened(folder) as unasked:
        acknowledged(unasked)
        remembered(unasked, CANOE)
    (folder / "rejections.jsonl").write_bytes(kept)
    with opened(folder) as asked:
        told = alarms(asked)
        assert "does not open under the master key" in told["rejections_lost"]
        assert "1 rejection of 1 owner" in told["rejections_lost"]
        assert contents(asked) == [CANOE]
        asked.operator.clear_alarm("rejections_lost", face="command")
    with opened(folder) as later:
        assert "rejections_lost" not in alarms(later), "an operator has looked"


def test_what_was_taken_up_again_is_kept_too_and_the_newest_decides_after_a_restore(tmp_path: Path) -> None:
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with opened(folder) as first:
        lisbon, _ = remembered(first, LISBON, CANOE)
        rejected(first, lisbon)
    copytree(folder, copy)
    with opened(folder) as second:
        second.restorer.restore("ann", lisbon)
        assert contents(second) == [LISBON, CANOE]
    restore(folder, copy)
    with opened(folder) as restored:
        acknowledged(restored)
        restored.restorer.restore("ann", lisbon)
        assert contents(restored) == [LISBON, CANOE], "nothing refuses what was taken up again"


def test_what_is_kept_is_private_has_no_words_and_is_there_before_the_receipt(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with opened(folder) as application:
        lisbon, _ = remembered(application, LISBON, CANOE)
        application.deleter.delete_many("ann", [lisbon], by_name=True, reason="Lisbon was a lie")
        kept = (folder / "rejections.jsonl").read_text()
    assert len(kept.splitlines()) == 1
    assert "lisbon" not in kept.lower()
    assert lisbon not in kept
    assert (folder / "rejections.jsonl").stat().st_mode & 0o077 == 0


def test_who_writes_redis_alone_gets_nothing_into_the_file(tmp_path: Path) -> None:
    """A readmission that no process of this machine appended is not what a restored store would be told."""
    folder = tmp_path / "store"
    with opened(folder) as application:
        lisbon, _ = remembered(application, LISBON, CANOE)
        rejected(application, lisbon)
        before = (folder / "rejections.jsonl").read_bytes()
        value = orjson.loads(before)["values"][0]
        event = make_event(
            ValueReadmitted(values=(value,), rules=1),
            owner="ann",
            occurred_at=NOW,
            actor="user",
            now=application.log.now(),
        )
        plain = RedisEventLog(application._store.client, application._store.identity.tags)  # type: ignore[attr-defined]
        assert plain.append([prepare(event)])[0].written
        plain.close()
        assert application.restored is None
    with opened(folder):
        assert (folder / "rejections.jsonl").read_bytes() == before


def test_a_disk_that_takes_nothing_stops_no_deletion_and_is_told_until_it_does(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    file = folder / "rejections.jsonl"
    with opened(folder) as application:
        lisbon, _ = remembered(application, LISBON, CANOE)
        file.mkdir()
        rejected(application, lisbon)
        assert contents(application) == [CANOE]
        assert "cannot be" in alarms(application)["rejections_not_kept"]
        file.rmdir()
    with opened(folder) as later:
        assert len(file.read_text().splitlines()) == 1, "it was tried again"
        assert "rejections_not_kept" not in alarms(later)


def test_what_a_process_could_not_write_until_its_end_is_told_until_somebody_has_looked(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with opened(folder) as application:
        lisbon, canoe = remembered(application, LISBON, CANOE)
        (folder / "rejections.jsonl").mkdir()
        rejected(application, lisbon)
    (folder / "rejections.jsonl").rmdir()
    with opened(folder) as later:
        rejected(later, canoe)
    with opened(folder) as after:
        assert "rejections_not_kept" in alarms(after)
        after.operator.clear_alarm("rejections_not_kept", face="command")
        assert "rejections_not_kept" not in alarms(after)


def test_a_broken_file_stops_no_start_says_which_line_and_loses_no_other(tmp_path: Path) -> None:
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with opened(folder) as first:
        lisbon, _ = remembered(first, LISBON, CANOE)
    copytree(folder, copy)
    with opened(folder) as second:
        rejected(second, lisbon)
    restore(folder, copy)
    file = folder / "rejections.jsonl"
    file.write_bytes(b"not a line\n" + file.read_bytes())
    with opened(folder) as restored:
        assert contents(restored) == [CANOE]
        assert "line 1 cannot be read" in alarms(restored)["rejections_not_kept"]
    file.write_bytes(file.read_bytes().removeprefix(b"not a line\n"))
    with opened(folder) as mended:
        assert "rejections_not_kept" not in alarms(mended)


LIES = {
    "a model's": {"actor": "assistant"},
    "a job's": {"principal": "job:review"},
    "a name that is none": {"principal": "ann model:qwen"},
    "a time without a zone": {"occurred_at": "2026-11-20T08:00:00"},
    "a time to come": {"occurred_at": "2999-01-01T00:00:00Z"},
    "an end that is none": {"until": "soon"},
    "rules of no version": {"rules": 0},
    "turns that are none": {"turns": ["x"]},
}


def test_lines_that_say_what_no_event_may_are_told_and_what_the_others_say_is_said(tmp_path: Path) -> None:
    """A model or a job rejects nothing, whatever the file says."""
    folder, copy = tmp_path / "store", tmp_path / "copy"
    texts = [f"I live in house {number}" for number in range(len(LIES))]
    with opened(folder) as first:
        lied_about = remembered(first, *texts)
        [lisbon] = remembered(first, LISBON)
    copytree(folder, copy)
    with opened(folder) as second:
        for one in (*lied_about, lisbon):
            rejected(second, one)
    restore(folder, copy)
    file = folder / "rejections.jsonl"
    *lines, true = file.read_bytes().splitlines()
    lies = [orjson.dumps(orjson.loads(line) | lie) for line, lie in zip(lines, LIES.values(), strict=True)]
    file.write_bytes(b"".join(line + b"\n" for line in (*lies, true)))
    with opened(folder) as restored:
        told = alarms(restored)
        assert f"{len(LIES)} rejections of 1 owner" in told["rejections_lost"]
        assert "1 rejection of 1 owner" in told["rejections_restored"]
        assert contents(restored) == sorted(texts)


def test_a_store_of_which_nothing_was_kept_is_asked_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "store") as application:
        remembered(application, LISBON, CANOE)
    assert not (tmp_path / "store" / "rejections.jsonl").exists()


def test_up_says_again_and_tells_it_where_operators_look_and_verify_tells_it_before(tmp_path: Path) -> None:
    folder, copy = tmp_path / "store", tmp_path / "copy"
    with opened(folder, partitions=16) as first:
        lisbon, _ = remembered(first, LISBON, CANOE)
    copytree(folder, copy)
    with opened(folder) as second:
        rejected(second, lisbon)
    restore(folder, copy)
    for other in ("receipts.json", "heads.jsonl"):
        (folder / other).unlink()  # they tell as well, and keep `/ready` from being ready
    verified = run(["verify", "--json"], {"ENGRAMLOG_DATA": str(folder)}).json
    told = [one for one in verified["differences"] if one["what"] == "a rejection that was kept is not in the log"]
    assert [one["owner"] for one in told] == ["ann"]
    with running(folder) as up:
        up.ready()
        shown = [one["memory"] for one in get(up, "/v1/owners/ann/memories")["memories"]]
        alarm = [one for one in get(up, "/v1/status")["alarms"] if one["name"] == "rejections_restored"]
        ready = get(up, "/ready")
        with urlopen(Request(f"{up.ready()}/metrics", headers=up.shown()), timeout=PATIENCE) as answer:
            figures = answer.read().decode()
        facts = [one for one in up.facts("alarm raised") if one["name"] == "rejections_restored"]
    assert shown == [CANOE]
    assert len(alarm) == len(facts) == 1
    assert "rejections_restored" in str(ready["alarms"])
    assert 'engramlog_alarms{name="rejections_restored",severity="warning"} 1.0' in figures


def test_a_redis_that_is_put_back_under_a_process_is_noticed_at_its_next_look(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    settings = Settings(data=tmp_path / "data", redis_url=redis_server.url, partitions=2)
    with open_the_store(settings) as store, application_on(store, settings) as application:
        lisbon, _ = remembered(application, LISBON, CANOE)
        with redis_server.client() as client:
            copy = Restored(client)
            rejected(application, lisbon)
            store.values.look()
            assert store.values.restored is None
            copy.back()
        store.values.look()
        assert "1 rejection of 1 owner" in str(store.values.restored)
    with open_the_store(settings) as store, application_on(store, settings) as application:
        assert contents(application) == [CANOE]
    assert [one.name for one in (tmp_path / "data").glob("rejections*")] == [
        f"rejections-{store.identity.store_id}.jsonl"
    ]
