"""A process that stays lets go of what it held of an owner whom another process erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from engramlog_server.events.envelope import Prepared, prepare
from engramlog_server.events.errors import OwnerErased
from engramlog_server.events.partitions import partition_of
from engramlog_server.events.validation import make_event
from engramlog_server.ops.catch_up import FoldCatchUp
from engramlog_server.ops.clock import silent
from engramlog_server.ops.erasure.machine import carry_out
from engramlog_server.ops.erasure.plan import ErasurePlan
from engramlog_server.ops.erasure.watch import ErasedWatch, forget_erased
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import open_the_store
from tests.given.events import created, moment


def prepared(owner: str, memory_id: str, now: int) -> Prepared:
    """A memory of an owner, ready to append."""
    told = created(f"{owner} keeps bees", memory_id, 0)
    return prepare(make_event(told.data, owner=owner, occurred_at=moment(0), actor="user", now=now))


def test_views_and_keys_go_and_those_of_others_stay(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", redis_url=None, partitions=2)
    with open_the_store(settings, "up") as stays, open_the_store(settings) as other:
        for owner in ("ada", "bob"):
            (receipt,) = stays.log.append([prepared(owner, "bees", stays.log.now())])
            assert receipt.written
        fold = FoldCatchUp(stays, silent)
        fold({number: stays.log.head(number) for number in {partition_of(one, 2) for one in ("ada", "bob")}})
        fold.end()
        for owner in ("ada", "bob"):
            with stays.views.view(owner) as (view, _):
                assert len(view) == 1
        seals = stays.client.seals
        assert forget_erased(stays) == []
        assert {"ada", "bob"} <= {*stays.views.held_owners()} & {*seals.held_owners()}
        carry_out(other, settings, ErasurePlan("ada", (), "objection"))
        assert "ada" in stays.views.held_owners()
        assert forget_erased(stays) == ["ada"]
        assert "ada" not in {*stays.views.held_owners(), *seals.held_owners()}
        assert "bob" in {*stays.views.held_owners()} & {*seals.held_owners()}
        with pytest.raises(OwnerErased), stays.views.view("ada"):
            pass
        with pytest.raises(OwnerErased):
            stays.log.append([prepared("ada", "again", stays.log.now())])


def test_an_erasure_that_began_before_the_process_is_seen_when_it_is_gone_on_with(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", redis_url=None, partitions=2)

    def killed(point: str) -> None:
        if point == "before the fence":
            raise InterruptedError

    with open_the_store(settings, "up") as stays, open_the_store(settings) as other:
        (receipt,) = stays.log.append([prepared("ada", "bees", stays.log.now())])
        assert receipt.written
        with pytest.raises(InterruptedError):
            carry_out(other, settings, ErasurePlan("ada", (), "objection"), probe=killed)
        seen = list[str]()
        watch = ErasedWatch(stays, settings, lambda: seen.append("erased"))
        watch.look()
        assert seen == []

        def looks(point: str) -> None:
            if point == "before files are rewritten":  # a look may fall anywhere
                watch.look()

        carry_out(other, settings, ErasurePlan("ada", (), "objection"), probe=looks)
        assert seen == ["erased"]
        watch.look()
        assert seen == ["erased"]
