"""The store of each release opens in this one: it verifies, answers of the past as before, takes new events and exports."""

from __future__ import annotations

import json
import runpy
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.given.http import created, http_store
from tests.made.release_store import RELEASES, answers, engramlog
from tests.places import ROOT


@pytest.mark.parametrize("release", sorted(file.name.removesuffix(".json") for file in RELEASES.glob("store-*.json")))
def test_a_store_of_an_earlier_release_verifies_answers_as_before_and_goes_on(release: str, tmp_path: Path) -> None:
    with tarfile.open(RELEASES / f"{release}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    data, known = tmp_path / "data", json.loads((RELEASES / f"{release}.json").read_text("utf-8"))
    engramlog(data, "rebuild")
    proof = engramlog(data, "verify")
    assert (proof["ok"], proof["events"]) == (True, known["events"])
    with http_store(data, partitions=16) as store:
        found = answers(store.client)
        assert found["memories"] == known["memories"]
        assert found["results"] == known["results"]
        store.told("lin", created("tea", "I drink tea at night"))
        body = store.client.get("/v1/owners/lin/export", params={"everything": "true"}).content
    (tmp_path / "export.jsonl").write_bytes(body)
    script = runpy.run_path(str(ROOT / "docs" / "examples" / "check_export.py"))
    verdicts = list(script["check"](tmp_path / "export.jsonl", data / "heads.jsonl"))
    assert [verdict.partition(":")[0] for verdict in verdicts] == ["agrees"] * len(verdicts)
    assert len(verdicts) >= 2
    assert engramlog(data, "verify")["events"] == known["events"] + 1
    shutil.rmtree(data)


def test_there_is_a_store_of_a_release() -> None:
    assert list(RELEASES.glob("store-*.tar.xz"))
