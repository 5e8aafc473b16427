"""What is installed into each client, and that going back leaves its files as they were."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from engramlog_server.events.errors import InputError
from engramlog_server.ops.clients import installation
from engramlog_server.ops.clients.hook import is_call
from engramlog_server.ops.clients.installation import (
    Change,
    Installed,
    Place,
    forget,
    install_files,
    plan_install,
    plan_uninstall,
    write,
)
from engramlog_server.ops.clients.table import ADAPTERS

KEY = "egl_server_key"
THEIRS: dict[str, dict[str, str]] = {
    "claude-code": {
        ".claude/settings.json": '{\n    "model": "x",\n    "hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}\n}',
        ".claude.json": '{"mcpServers": {"memory": {"command": "x"}}, "projects": {}}\n',
    },
    "codex": {".codex/config.toml": '# mine\nmodel = "x"\n\n[mcp_servers.docs]\ncommand = "y"\n'},
    "gemini-cli": {".gemini/settings.json": '{\n  // mine\n  "theme": "dark",\n}\n'},
    "cursor": {".cursor/mcp.json": "{}"},
    "opencode": {".config/opencode/opencode.json": '{"$schema": "https://opencode.ai/config.json", "mcp": {}}'},
}


@pytest.fixture(params=ADAPTERS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A client with a configuration of its user's."""
    for name, text in THEIRS[request.param].items():
        path = tmp_path / "home" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    return Place(ADAPTERS[request.param], data, {}, tmp_path / "home", ("/usr/bin/engramlog",))


def files(place: Place) -> dict[str, bytes]:
    return {str(one.relative_to(place.home)): one.read_bytes() for one in place.home.rglob("*") if one.is_file()}


def installed(place: Place, owner: str = "alice") -> list[Change]:
    known: Installed = place.installed() or {"owner": owner, "server_key": KEY, "key_ids": [], "files": []}
    changes = plan_install(place, owner, KEY)
    install_files(place, known, changes, "egl_hook_key")
    return changes


def taken_out(place: Place) -> list[str]:
    known = place.installed()
    assert known is not None
    changes = plan_uninstall(place, known)
    write(changes)
    forget(place)
    return [one.remark for one in changes]


def test_going_back_leaves_every_byte_as_it_was(place: Place) -> None:
    before = files(place)
    installed(place)
    assert files(place) != before
    assert taken_out(place) == [""] * len(taken_out_files(place, before))
    assert files(place) == before
    assert place.installed() is None


def taken_out_files(place: Place, before: dict[str, bytes]) -> set[Path]:
    """The files that an installation touches."""
    assert before.keys() == files(place).keys()
    return {place.path(one) for one in (place.adapter.hooks, place.adapter.servers, place.adapter.plugin) if one}


def test_installing_again_changes_nothing(place: Place) -> None:
    installed(place)
    once = files(place)
    assert not any(one.changes for one in installed(place))
    assert files(place) == once


def test_looking_writes_nothing(place: Place) -> None:
    before = files(place)
    shown = "".join(one.shown([KEY]) for one in plan_install(place, "alice", KEY))
    assert files(place) == before
    assert KEY not in shown
    assert "egl_…" in shown


def test_the_hooks_key_is_in_no_file_of_the_client_and_ours_are_for_the_user_alone(place: Place) -> None:
    installed(place)
    assert not any(b"egl_hook_key" in one for one in files(place).values())
    assert any(KEY.encode() in one for one in files(place).values())
    ours = [one for one in place.own.rglob("*") if one.is_file()]
    assert {one.stat().st_mode & 0o777 for one in ours} == {0o600}
    assert json.loads((place.own / "hook.json").read_bytes()) == {"owner": "alice", "key": "egl_hook_key"}


def test_entries_that_a_user_added_meanwhile_stay_and_it_is_said(place: Place) -> None:
    before = {name: _value(name, text) for name, text in files(place).items()}
    installed(place)
    for path in place.home.rglob("*"):
        if path.suffix == ".toml":
            path.write_text(path.read_text() + '\n# later\n[mcp_servers.later]\ncommand = "z"\n')
        elif path.suffix == ".json":
            text = path.read_text()
            path.write_text(text[: text.index("{") + 1] + '"later": 1, ' + text[text.index("{") + 1 :])
    remarks = taken_out(place)
    assert any("only the entries of engramlog" in one for one in remarks)
    for name, text in files(place).items():
        after = _value(name, text)
        later = after.pop("later", None) or after.get("mcp_servers", {}).pop("later", None)
        assert later
        empty = {"version": 1} if name == ".cursor/hooks.json" else {}
        assert after == before.get(name, empty)


def _value(name: str, text: bytes) -> Any:
    if name.endswith(".toml"):
        return tomllib.loads(text.decode())
    lines = [line for line in text.decode().splitlines() if not line.lstrip().startswith("//")]
    return json.loads("\n".join(lines).replace(",\n}", "\n}"))


def test_each_hook_is_a_call_that_the_program_takes(place: Place) -> None:
    installed(place)
    adapter = place.adapter
    if adapter.hooks is None:
        return
    listed = _value("x.json", place.path(adapter.hooks).read_bytes())["hooks"]
    for event, names in adapter.events.items():
        for name in names.split():
            entry = listed[name][-1]
            words = shlex.split((entry.get("hooks") or [entry])[0]["command"])
            assert words[1:] == ["hook", event, "--client", adapter.name, "--data", str(place.data)]
            assert is_call(words[1:])


def test_a_link_to_the_configuration_stays_a_link(tmp_path: Path) -> None:
    place = Place(ADAPTERS["cursor"], tmp_path, {}, tmp_path / "home", ("/usr/bin/engramlog",))
    (tmp_path / "home" / ".cursor").mkdir(parents=True)
    (tmp_path / "dotfile").write_text("{}")
    (tmp_path / "dotfile").chmod(0o644)
    place.path(place.adapter.servers).symlink_to(tmp_path / "dotfile")
    installed(place)
    assert place.path(place.adapter.servers).is_symlink()
    assert "engramlog" in (tmp_path / "dotfile").read_text()
    assert (tmp_path / "dotfile").stat().st_mode & 0o777 == 0o600  # there is a key in it


def test_a_hook_that_its_user_put_beside_ours_stays(tmp_path: Path) -> None:
    place = Place(ADAPTERS["codex"], tmp_path, {}, tmp_path / "home", ("/usr/bin/engramlog",))
    (tmp_path / "home" / ".codex").mkdir(parents=True)
    installed(place)
    path = place.path(place.adapter.hooks or place.adapter.servers)
    told = json.loads(path.read_text())
    mine = {"type": "command", "command": "notify-send done"}
    told["hooks"]["Stop"][0]["hooks"].append(mine)
    path.write_text(json.dumps(told))
    taken_out(place)
    assert json.loads(path.read_text()) == {"hooks": {"Stop": [{"hooks": [mine]}]}}


def test_a_change_that_is_shown_has_no_keys_of_others(tmp_path: Path) -> None:
    place = Place(ADAPTERS["cursor"], tmp_path, {}, tmp_path / "home", ("/usr/bin/engramlog",))
    (tmp_path / "home" / ".cursor").mkdir(parents=True)
    theirs = {"command": "x", "args": ["--api-key", "a-key"], "env": {"GH_TOKEN": 'a-"token'}, "note": "kept"}
    place.path(place.adapter.servers).write_text(json.dumps({"mcpServers": {"theirs": theirs}}))
    shown = "".join(one.shown([KEY]) for one in plan_install(place, "alice", KEY))
    assert "a-key" not in shown
    assert "token" not in shown
    assert "kept" in shown


def test_what_is_no_file_or_another_users_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(ADAPTERS["cursor"], tmp_path, {}, tmp_path / "home", ("/usr/bin/engramlog",))
    (tmp_path / "home" / ".cursor").mkdir(parents=True)
    path = place.path(place.adapter.servers)
    os.mkfifo(path)
    with pytest.raises(InputError, match="not a file"):
        plan_install(place, "alice", KEY)
    path.unlink()
    path.write_text("{}")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(InputError, match="install as that user"):
        plan_install(place, "alice", KEY)


def test_an_installation_that_was_killed_before_the_hooks_had_their_key_is_none(tmp_path: Path) -> None:
    place = Place(ADAPTERS["cursor"], tmp_path, {}, tmp_path / "home", ("/usr/bin/engramlog",))
    (tmp_path / "home").mkdir()
    installed(place)
    assert place.serves(place.installed(), "alice")
    assert not place.serves(place.installed(), "bob")
    (place.own / "hook.json").unlink()
    assert not place.serves(place.installed(), "alice")


@pytest.mark.parametrize(
    ("client", "file", "text", "refusal"),
    [
        ("cursor", ".cursor/mcp.json", "{oops", "not JSON"),
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {"engramlog": {}}}', "somebody else's"),
        ("codex", ".codex/config.toml", "model = ", "not TOML"),
        ("opencode", ".config/opencode/plugins/engramlog.js", "mine", "did not write"),
    ],
)
def test_what_cannot_be_read_or_is_somebody_elses_is_refused(
    tmp_path: Path, client: str, file: str, text: str, refusal: str
) -> None:
    place = Place(ADAPTERS[client], tmp_path, {}, tmp_path / "home", ("/usr/bin/engramlog",))
    (place.home / file).parent.mkdir(parents=True)
    (place.home / file).write_text(text)
    with pytest.raises(InputError, match=refusal):
        plan_install(place, "alice", KEY)
    assert files(place) == {file: text.encode()}


@pytest.mark.parametrize("written", [0, 1])
def test_an_installation_that_was_killed_between_its_files_can_be_repeated_and_taken_out(
    place: Place, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    before = files(place)
    known: Installed = {"owner": "alice", "server_key": KEY, "key_ids": [], "files": []}
    changes = plan_install(place, "alice", KEY)
    with monkeypatch.context() as killed:
        killed.setattr(installation, "write", lambda all_of_them: write(all_of_them[:written]))
        install_files(place, known, changes, "egl_hook_key")
    halfway = files(place)
    taken_out(place)
    assert files(place) == before
    for name, text in halfway.items():
        (place.home / name).write_bytes(text)
    with monkeypatch.context() as killed:
        killed.setattr(installation, "write", lambda all_of_them: write(all_of_them[:written]))
        install_files(place, known, changes, "egl_hook_key")
    installed(place)
    assert not any(one.changes for one in plan_install(place, "alice", KEY))
    taken_out(place)
    assert files(place) == before


def test_a_folder_that_a_variable_named_then_is_found_again_without_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    place = Place(
        ADAPTERS["claude-code"], tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path / "c")}, home, ("/bin/engramlog",)
    )
    installed(place)
    path = tmp_path / "c" / ".claude.json"
    path.write_text(path.read_text().replace("{", '{"later": 1, ', 1))
    taken_out(Place(place.adapter, tmp_path, {}, home, place.program))
    assert json.loads(path.read_text()) == {"later": 1}
    moved = Place(place.adapter, tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path / "d")}, home, place.program)
    installed(place)
    installed(moved)
    taken_out(moved)
    assert json.loads(path.read_text()) == {"later": 1}
    assert not (tmp_path / "d" / ".claude.json").exists()
