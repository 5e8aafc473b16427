"""Backups and erasures: what a sealed store's backup holds is opened by nobody."""

from __future__ import annotations

from engramlog_server.ops.backup.make import make_backup
from engramlog_server.ops.settings import load_settings
from engramlog_server.ops.store import open_the_store
from tests.integration.backup.depot import Depot, prepared


def test_an_owner_who_is_erased_while_a_backup_is_made_does_not_come_back_with_it(sealed: Depot) -> None:
    sealed.cli.json("backup", "keys")
    points: list[str] = []

    def meanwhile(point: str) -> None:
        if point == "after the heads are read" and not points:
            points.append(point)
            from engramlog_server.consumers.erasure import drop_salts, fence

            wire = store.wire()
            fence(wire, store.identity.tags[0], "ada", "e" * 36)
            fence(wire, store.identity.tags[1], "ada", "e" * 36)
            for tag in store.identity.tags:
                drop_salts(wire, tag, "ada")
            wire.close()

    with open_the_store(load_settings()) as store:
        make_backup(store, load_settings(), sealed.folder / "backup", probe=meanwhile)
        assert store.log.append([prepared(1, "somebody")])[0].written
    sealed.cli.json("backup", "keys")
    kept = sealed.answers("lin-yue", "团队")
    sealed.lose()
    sealed.on("new")
    told = sealed.restore(sealed.folder / "backup")
    assert told["keys"]["newer_than_keys"] == 0
    assert sealed.cli.json("list", "ada", code=1)["error"] == "OwnerErased"
    assert sealed.answers("lin-yue", "团队") == kept


def test_an_older_keys_file_cannot_replace_a_newer_one_by_way_of_a_restored_backup(sealed: Depot) -> None:
    made = sealed.make()
    older = sealed.folder / "older"
    older.write_bytes(sealed.keys.read_bytes())
    older.chmod(0o600)
    sealed.say(range(100, 103))
    sealed.cli.json("erase", "ada", "--yes")
    newest = sealed.keys.read_bytes()
    sealed.on("new")
    sealed.restore(made, "--keys", str(older))
    assert "no keys are saved of a copy" in sealed.cli.json("backup", "keys", code=1)["message"]
    sealed.cli.json("backup", "take-over", "--yes")
    assert "of a newer state of this store" in sealed.cli.json("backup", "keys", code=1)["message"]
    assert sealed.keys.read_bytes() == newest
