"""Before anything is erased it is listed where else rare names of it are: entries of others and of the owner, and files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engramlog_server.events.catalogue import MemoryRevised, TurnRecorded
from engramlog_server.ops.erasure.plan import ErasurePlan, words_plan
from engramlog_server.ops.erasure.residue import RARE, names_elsewhere
from engramlog_server.ops.store import OpenStore
from engramlog_server.ops.wiring import application_on
from engramlog_server.projections.embedding.meaning import Embedded, content_key
from tests.acceptance.helpers.cli import Cli
from tests.integration.erasure.erased import Erasing
from tests.integration.erasure.words.erased_words import made
from tests.servers import RedisServer

STORY: list[tuple[str, Any]] = [
    ("ada", made("m-dentist", "my dentist Kestrelova works at Quillhouse Labs in Porto")),
    ("ada", made("m-tea", "drinks tea in the morning")),
    ("ada", TurnRecorded(turn_id="t1", role="user", text="I saw kestrelova again about the tooth")),
    ("bob", made("m-met", "met Dr. KESTRELOVA at a party")),
    ("bob", MemoryRevised(memory_id="m-met", content="met Kestrelova and her brother at a party")),
    ("bob", made("m-bird", "the kestrelovas are birds of a story")),
    ("王", TurnRecorded(turn_id="t9", role="user", text="欧阳青禾昨天来看我")),
    ("王", made("蜂", "养蜂", summary="和欧阳青禾一起养蜂")),
    ("艾达", made("m-牙", "我的牙医欧阳青禾在鹭岛医院上班")),
]


@dataclass
class Told:
    """What is listed, and what it is listed of."""

    store: OpenStore
    erasing: Erasing

    def ask(self, owner: str, *ids: str, given: tuple[str, ...] = ()) -> dict[str, Any]:
        settings, plan = self.erasing.settings, ErasurePlan(owner, ids)
        going = None
        if ids:
            with application_on(self.store, settings, stays=False) as application:
                going = words_plan(application, self.store, plan)["seqs"]
        return names_elsewhere(self.store, settings, plan, going, given)


def places(told: dict[str, Any]) -> dict[str, set[tuple[str, str]]]:
    return {one["name"]: {(place["owner"], place["of"]) for place in one["places"]} for one in told["names"]}


@pytest.fixture
def told(redis_server: RedisServer, tmp_path: Path) -> Iterator[Told]:
    erasing = Erasing(redis_server, tmp_path, memories=0)
    with erasing.live() as live:
        for owner, data in STORY:
            live.append(live.event(data, owner))
        for number in range(RARE + 1):
            live.append(live.created("bob", f"tooth-{number}", f"the tooth number {number} is fine"))
    erasing.fold()
    with erasing.opened() as store:
        yield Told(store, erasing)


def test_of_an_owner_the_places_in_which_others_have_its_rare_names_are_listed(told: Told) -> None:
    found = told.ask("ada")
    assert places(found)["kestrelova"] == {("bob", "m-met")}, "whole words, in any case"
    assert [one["total"] for one in found["names"] if one["name"] == "kestrelova"] == [2], "made and revised"
    assert found["common"] >= 1, "tooth"
    assert "tooth" not in places(found)
    assert (found["unread"], found["rare"]) == (0, RARE)
    assert "ada" not in {owner for some in places(found).values() for owner, _ in some}


def test_of_a_chinese_memory_the_turns_and_summaries_that_have_its_name_are_listed(told: Told) -> None:
    found = places(told.ask("艾达", "m-牙"))
    assert [found[name] for name in found if "青禾" in name] == [{("王", "t9"), ("王", "蜂")}]


def test_of_a_single_memory_the_owners_own_turns_are_listed_too(told: Told) -> None:
    assert places(told.ask("ada", "m-dentist"))["kestrelova"] == {("bob", "m-met"), ("ada", "t1")}


def test_a_log_file_of_the_data_folder_is_listed_and_so_is_a_vector_of_a_text(told: Told) -> None:
    folder = told.erasing.settings.data / "logs"
    folder.mkdir(parents=True)
    (folder / "api.log").write_text('{"q": "Kestrelova"}\n{"q": "Kestrelova"}\n')
    vectors, text = told.store.vectors, "met Dr. KESTRELOVA at a party"
    vectors.put(
        "bob",
        "model",
        {
            content_key(vectors.secret("bob"), text): Embedded(
                np.array([1.0, 0.0], np.float32), np.zeros((0, 2), np.float32)
            )
        },
    )
    (one,) = [one for one in told.ask("ada")["names"] if one["name"] == "kestrelova"]
    assert one["files"] == {str(folder / "api.log"): 2}
    assert [place["vector"] for place in one["places"]] == [True, False]


def test_a_name_that_is_given_is_listed_however_many_have_it(told: Told) -> None:
    found = told.ask("ada", given=("tooth", "欧阳青禾"))
    assert len(places(found)["tooth"]) == RARE + 1
    assert places(found)["欧阳青禾"] == {("王", "t9"), ("王", "蜂"), ("艾达", "m-牙")}


def test_json_prints_the_names_and_the_certificate_that_is_handed_over_has_none(
    cli: Cli, folder: Path, tmp_path: Path
) -> None:
    told = cli.json("erase", "ada", "--yes", "--name", "bob", "--certificate", str(tmp_path / "certificate"))
    assert set(told["names"]) == {"names", "more", "common", "rare", "read", "unread"}
    assert told["names"]["read"] > 0
    kept = json.loads((tmp_path / "certificate").read_text())
    assert kept == {name: value for name, value in told.items() if name != "names"}
