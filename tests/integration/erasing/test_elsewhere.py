"""What others were told about somebody is listed before he is erased, and stays."""

from __future__ import annotations

from pathlib import Path

from engramlog_server.ops.erasing.elsewhere import elsewhere
from engramlog_server.ops.erasing.owner import ErasurePlan, carry_out
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from tests.given.events import created
from tests.given.sealing.keys import keys_in
from tests.integration.consumers.jobs.test_lifecycle_jobs import Jobs
from tests.integration.live import Live, wait_until


def test_others_memories_are_listed_by_owner_and_id_without_a_word_and_stay(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", redis_url=None, partitions=2)
    with open_the_store(settings) as store:
        live = Live(store.url, 2, master=store.client.seals.master, keys=keys_in(store.client))
        live.start_worker("folder")
        jobs = Jobs(live)
        try:
            jobs.tell("ada", created("Ada keeps bees", "bees", 0))
            jobs.tell("bob", created("ADA told me about bees", "met", 0), created("I drink tea", "tea", 1))
            jobs.tell("王", created("艾达养蜂", "蜂", 0))
            wait_until(live.folded)
            wire = store.wire()
            for _ in range(2):
                found = elsewhere(wire, store.identity.tags, ("Ada", "艾达"), but="ada")
                assert found == ([("bob", "met"), ("王", "蜂")], 2, 2, [])
                carry_out(store, settings, ErasurePlan("ada", "objection"))
            wire.close()
        finally:
            jobs.views.close()
            live.close()
