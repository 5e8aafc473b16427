"""`engramlog bench` runs and gives its figures in their shape; what they are is for people to judge, on a quiet machine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from events.errors import BadSetting, EmbedderFailed
from ops.bench.costs import meaning
from ops.bench.render import render
from ops.main import main
from projections.embedding.meaning import EmbeddedQuestion, Embedder
from projections.redis.vectors import RedisVectors
from tests.doubles.embedding import WordEmbedder

ASKED_BY_THE_CONSOLE = [
    "map.svg, first",
    "compare.svg, first",
    "map.svg, again",
    "compare.svg, again",
    "list, a page of 100",
    "list in the past, first",
    "list in the past, again",
    "counts, first",
    "counts, again",
    "counts in the past, first",
    "counts in the past, again",
    "times, first",
    "times, again",
    "instants, 20 rows at 120",
    "heads",
    "status",
    "owners, first",
    "owners, again",
    "owners, by a part of the name",
]
RATIOS = {"append": 2, "fold": 2, "rebuild": 2, "jobs": 1, "extract": 2}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["bench", *arguments, "--quick", "--json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_every_comparison_tells_its_ratio_its_limit_and_its_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    answer = run(capsys, "all", "--profile")
    assert "cores" in answer["machine"]
    for name, count in RATIOS.items():
        assert len(answer[name]) == count
        for row in answer[name]:
            assert 0 < row["ratio_min"] <= row["ratio"] <= row["ratio_max"]
            assert row["ours_per_second"] > 0
            assert row["rounds"] == 2
            assert row["limit"]
    assert [row["at_least"] for row in answer["append"]] == [0.8, 0.4]
    assert [row["unit"] for row in answer["extract"]] == ["turns", "turns"]
    rows = answer["search"]["rows"]
    assert {(row["memories"], row["texts"]) for row in rows} == {(300, "talk"), (300, "notes"), (300, "pages")}
    assert [row["events_a_second"] > 0 for row in rows] == [False, True, False, False]
    for row in rows:
        assert 0 < row["whole_ms"]["p50"] <= row["whole_ms"]["p95"]
        assert row["p50_to_parts"] <= row["p95_to_parts"]
    for goal in answer["search"]["goals"]:
        assert goal["holds"] == (goal["found"] <= goal["at_most"])
    assert len(answer["search"]["goals"]) == 8
    assert set(answer["space"]["bytes_an_event_by_commit"]) == {"1", "10", "500"}
    assert answer["space"]["bytes_an_event_log_alone"] < answer["space"]["bytes_an_event_by_commit"]["500"]
    assert answer["past"]["microseconds_an_event"] > 0
    assert len(answer["audit"]) == 18
    for row in answer["audit"]:
        assert row["cpu_milliseconds"] > 0
        assert row["of_one_fold"] > 0
    assert_console(answer["console"])
    assert sum(answer["profile"]["shares"].values()) == pytest.approx(1.0, abs=0.01)


def assert_console(told: dict[str, Any]) -> None:
    assert [row["what"] for row in told["rows"]] == ASKED_BY_THE_CONSOLE
    for row in told["rows"]:
        assert row["limit"]
        assert row["rounds"] == 2
        assert 0 < row["ratio_min"] <= row["ratio"] <= row["ratio_max"]
        assert row["cpu_milliseconds"] > 0
        assert row["limit_cpu_milliseconds"] > 0
    assert [row.get("owners") for row in told["rows"][-3:]] == [100] * 3
    assert {row["memories"] > 50 for row in told["rows"][:-3]} == {True}
    (opens,) = told["goals"]
    assert opens["holds"] == (opens["found"] <= opens["at_most"] == 1_000)


def test_what_sealing_costs_is_told_for_each_kind_of_work(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "sealing", "--texts", "talk")["sealing"]
    assert [row["what"] for row in told["costs"]] == [
        "append, 1 at a time",
        "append, 100 at a time",
        "fold",
        "loading an owner",
        "reading the log",
    ]
    for row in told["costs"]:
        assert 0 < row["cost_min"] <= row["cost"] <= row["cost_max"]
        assert row["sealed_us"] > 0
        assert row["open_us"] > 0
    (size,) = told["bytes"]
    assert [set(size[which]) for which in ("open", "sealed")] == [{"log", "folded"}] * 2
    assert size["texts"] == "talk"


ERASED = [
    "erasing an owner",
    "erasing a memory",
    "erasing a memory of a large owner",
    "telling what would go, of a large owner",
    "verifying the partition",
]
AFTERWARDS = {
    "appending": [(f"append, {size} at a time", whose) for size in (1, 100) for whose in ("others", "the same owners")],
    "reading": [(what, share) for what in ("reading the log", "folding it") for share in ("1 of 10", "1 of 2")],
}


def test_what_erasing_costs_is_told_beside_a_rebuild_and_what_it_costs_afterwards(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = run(capsys, "erasing", "--texts", "talk")["erasing"]
    assert [(row["what"], row["entries"]) for row in told["erasing"]] == [(one, n) for n in (75, 300) for one in ERASED]
    for part, of in AFTERWARDS.items():
        assert [(row["what"], row.get("erased_of") or row["wordless"]) for row in told[part]] == of
    for row in told["erasing"] + told["appending"] + told["reading"]:
        unit = "ms" if row in told["erasing"] else "us"
        assert 0 < row["times_min"] <= row["times"] <= row["times_max"]
        assert min(row[f"{name}_{unit}"] for name in ("cpu", "clock", "against_cpu", "against_clock")) > 0
        assert (row["rounds"], row["texts"]) == (2, "talk")
        assert row["against"]
    assert [row["entries"] for row in told["files"]] == [75, 300]
    assert all(row["clock_ms"] > 0 and row["times"] > 0 for row in told["files"])


def test_what_backups_cost_is_told_beside_a_rebuild_and_what_they_cost_who_appends(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = run(capsys, "backup", "--texts", "talk")["backup"]
    works = ["making a backup", "checking it", "restoring it", "appending one by one, by the clock"]
    assert [(row["what"], row["sealed"]) for row in told] == [
        (one, sealed) for sealed in (False, True) for one in works
    ]
    for row in told:
        assert 0 < row["times_min"] <= row["times"] <= row["times_max"]
        assert (row["rounds"], row["texts"], row["entries"]) == (2, "talk", 300)
    lies_open, _, _, appending, sealed, *_ = told
    assert 0 < lies_open["bytes_each"] < sealed["bytes_each"]
    assert min(appending["clock_us"], appending["against_clock_us"]) > 0


def test_an_erasure_is_shown_as_tables(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {
        "what": "erasing an owner",
        "against": "rebuild",
        "texts": "talk",
        "entries": 1_000,
        "cpu_ms": 3.5,
        "times": 2.25,
    }
    render({"machine": "m", "load": [0.5], "erasing": {"erasing": [shown]}})
    printed = capsys.readouterr().out
    assert "erasing in one partition" in printed
    assert all(one in printed for one in ("erasing an owner", "1,000", "3.5", "2.25"))


COSTS = ("client_us", "server_us", "aof_bytes", "body_bytes", "limit_client_us", "limit_server_us", "ratio_clock")


def test_folding_is_told_by_cpu_and_bytes_as_a_backlog_and_live(capsys: pytest.CaptureFixture[str]) -> None:
    answer = run(capsys, "fold", "--texts", "answers", "--workers", "1,2", "--live", "1,10", "--owners", "20")
    rows = answer["fold_costs"]
    assert [(row["traffic"], row["at_a_time"], row["workers"]) for row in rows] == [
        ("backlog", None, 1),
        ("backlog", None, 2),
        ("live", 1, 1),
        ("live", 10, 1),
    ]
    for row in rows:
        assert row["texts"] == "answers"
        assert all(row[name] > 0 for name in COSTS)
        assert 0 < row["ratio_min"] <= row["ratio"] <= row["ratio_max"]
        assert row["body_bytes"] > 2_000
    assert [row["at_least"] for row in rows] == [0.5, None, None, None]
    assert answer["held"]["owners"] == [20, 200]
    assert answer["capacity"] == []
    assert len(answer["load"]) == 3


def test_appending_is_told_with_the_rules_of_the_door_apart(capsys: pytest.CaptureFixture[str]) -> None:
    answer = run(capsys, "append", "--texts", "talk", "--live", "100")
    rows = answer["append_costs"]
    assert [(row["way"], row["at_a_time"]) for row in rows] == [("models", 100), ("models", 1_000), ("JSON", 1_000)]
    for row in rows:
        assert all(row[name] > 0 for name in (*COSTS, "client_without_rules_us"))
    (rules,) = answer["rules"]
    assert rules["rules_us"] > 0
    assert 100 < rules["letters"] < 200


def test_what_one_redis_could_take_is_told_with_how_it_was_computed(capsys: pytest.CaptureFixture[str]) -> None:
    answer = run(capsys, "fold", "--texts", "talk", "--traffic", "live", "--live", "100", "--owners", "20", "--history")
    (row,), (told,) = answer["fold_costs"], answer["capacity"]
    assert told["events_a_second"] == round(1e6 / (row["append_server_us"] + row["server_us"]))
    assert str(row["append_server_us"]) in told["how"]
    assert "figures were measured before" in answer["history"]["compared"]


def test_rebuilding_is_told_by_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = run(capsys, "rebuild", "--texts", "chinese")["rebuild_costs"]
    assert all(row[name] > 0 for name in COSTS)


PEERS = ["Engramlog", "SQLite FTS5", "tantivy", "bm25s", "mem0", "LangGraph's store", "eventsourcing"]


def test_every_peer_is_told_with_its_figures_or_why_it_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    (told,) = run(capsys, "peers", "--texts", "chinese")["peers"]
    rows = {row["name"]: row for row in told["rows"]}
    assert list(rows) == PEERS
    there = [name for name, row in rows.items() if "left_out" not in row]
    assert {"Engramlog", "SQLite FTS5"} <= set(there)
    for name in there:
        assert rows[name]["add_us"] > 0
        assert rows[name]["find_us"] > 0
        assert rows[name]["found"] > 0.8
    for name in set(PEERS) - set(there):
        assert rows[name]["left_out"].endswith("`make bench-peers` has it")
    assert rows["Engramlog"]["add_server_us"] > 0


def test_small_sizes_are_not_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "fold", "--quick", "--record", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["field"] == "record"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("texts", "talk,songs"),
        ("traffic", "rush"),
        ("live", "0"),
        ("live", "1,x"),
        ("owners", "-5"),
        ("workers", "17"),
        ("workers", ",".join(["1"] * 13)),
        ("live", "٣"),
    ],
)
def test_what_it_cannot_be_measured_on_is_refused_by_its_name(
    capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    assert main(["bench", "fold", f"--{option}", value, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["field"] == option


def test_what_cannot_be_measured_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "everything", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["field"] == "what"


def test_the_door_tells_each_scene_with_what_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = run(capsys, "door")["door"]
    assert len({row["scene"] for row in rows}) == 3
    assert len(rows) == 8
    for row in rows:
        assert row["holds"] == (row["found"] <= row["at_most"])
    assert rows[0]["answers"] == [413]
    assert rows[0]["others_asked"] > 0
    assert rows[6]["found"] == 0


MEANING = ("whole_ms", "whole_p95_ms", *(f"{part}_cpu_ms" for part in ("whole", "words", "embed", "product")))


def test_a_question_with_meaning_is_told_with_its_parts_or_why_a_model_is_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = {row["model"]: row for row in run(capsys, "meaning")["meaning"]}
    assert {name: row["texts"] for name, row in rows.items()} == {"minilm": "talk", "use": "chinese"}
    for row in rows.values():
        if "left_out" in row:
            assert "install it with" in row["left_out"]
            continue
        assert (row["memories"], row["questions"], row["rounds"]) == (300, 10, 2)
        assert all(row[name] > 0 for name in MEANING)
        assert 0 < row["ratio_min"] <= row["ratio"] <= row["ratio_max"]
        assert row["holds"] == (row["whole_ms"] <= row["at_most_ms"] == 15)
        assert row["telling_cpu_ms"] > 0


def test_the_stages_of_a_question_with_meaning_are_told_of_any_model_and_read_no_question_ahead(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Pieced(WordEmbedder):
        def question(self, text: str) -> EmbeddedQuestion:
            asked.append(text)
            return super().question(text)

    monkeypatch.setattr(meaning, "MODELS", [meaning.MODELS[0]._replace(make=Pieced)])
    (row,) = run(capsys, "meaning")["meaning"]
    assert min(row[f"{part}_cpu_ms"] for part in ("whole", "words", "match", "telling")) > 0
    # By itself, in the whole and for the stages: none is remembered from one for another.
    assert {asked.count(one) for one in asked} == {3}
    assert main(["bench", "meaning", "--quick"]) == 0
    assert "telling" in capsys.readouterr().out


def test_a_model_that_is_not_installed_is_told_and_does_not_end_the_rest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Embedder:
        raise BadSetting("the embedder use needs a package, not installed here; install it with: pip")

    monkeypatch.setattr(meaning, "MODELS", [one._replace(make=missing) for one in meaning.MODELS])
    assert {row["model"]: row["left_out"] for row in run(capsys, "meaning")["meaning"]} == dict.fromkeys(
        ("minilm", "use"), "the embedder use needs a package, not installed here; install it with: pip"
    )
    assert main(["bench", "meaning", "--quick"]) == 0
    assert "is left out" in capsys.readouterr().out


def test_a_model_that_fails_is_told_and_leaves_nothing_open(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[RedisVectors] = []

    class Closable(RedisVectors):
        def close(self) -> None:
            closed.append(self)
            super().close()

    def down(_texts: object) -> None:
        raise EmbedderFailed("the model's files cannot be read", down=True)

    def failing() -> Embedder:
        made = WordEmbedder()
        made.before = down
        return made

    monkeypatch.setattr(meaning, "RedisVectors", Closable)
    monkeypatch.setattr(meaning, "MODELS", [one._replace(make=failing) for one in meaning.MODELS])
    rows = run(capsys, "meaning")["meaning"]
    assert [row["left_out"].partition(";")[0] for row in rows] == ["the model's files cannot be read"] * 2
    assert len(closed) == 2
