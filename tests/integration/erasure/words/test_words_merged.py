"""What was merged with a memory that is erased, and stays: it stands by itself again."""

from __future__ import annotations

from pathlib import Path

from engramlog_server.ops.erasure.machine import carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan, words_plan
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from engramlog_server.ops.wiring import application_on
from tests.given.faces import ENGLISH, OWNER, tell_all, untold_world


def test_what_stays_of_a_merge_stands_by_itself_again(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with untold_world(folder, ENGLISH) as made:
        tell_all(made)
        settings = Settings(
            redis_url=made.url,
            data=tmp_path / "another",
            sealed_by=str(folder / "master-key"),
            keys=str(folder / "keys.db"),
        )
        plan = ErasurePlan(OWNER, ("one",), "objection")
        with open_the_store(settings) as store, application_on(store, settings, stays=False) as application:
            told = words_plan(application, store, plan)
            done = carry_out(store, settings, plan, application)
        assert (done.verified, done.not_proven) == (True, [])
        assert set(told["elsewhere"]["of_the_same_turns"]) == {"typed", "core", "fix"}
        made.store.flushed()
        shown = {one["id"]: one["memory"] for one in made.app.reader.list(OWNER, limit=100)["memories"]}
        assert shown["two"] == f"User: {ENGLISH.other}", "it was hidden under `both`, which went"
        assert not shown.keys() & {"one", "both", "t1", "episode-1"}
        assert shown.keys() >= {"typed", "core", "fix", "t2", "t3", "t4", "tea"}, "siblings stay"
        for sibling in ("typed", "core", "fix"):
            [node, *_] = made.app.reader.provenance(OWNER, sibling)["provenance"]["nodes"]
            assert node["source_erased"]
        [node, *_] = made.app.reader.provenance(OWNER, "tea")["provenance"]["nodes"]
        assert "source_erased" not in node
        block = made.app.contexts.context(OWNER, ENGLISH.asks, session="s1")["block"]
        assert ENGLISH.said not in block.replace(f"User: {ENGLISH.said}", ""), "the turn itself is not told"
        assert f"The pet of the user is {ENGLISH.word}" in block, "what else was drawn from it stands in prompts"
