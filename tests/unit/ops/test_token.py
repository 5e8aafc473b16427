"""The API's token: made once and whole, readable by its user alone, and never taken from where others could have put it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engramlog_server.events.alarms import KNOWN, ConditionAlarm
from engramlog_server.events.errors import BadSetting
from engramlog_server.ops.embedded.folder import UnusableFolder, private_folder
from engramlog_server.ops.main import main
from engramlog_server.ops.settings import Settings, load_settings
from engramlog_server.ops.token import TokenFile, TokenFileUnusable, admits_of, make_token, read_token, rotate_token
from engramlog_server.projections.language.sensitivity.level import detect_sensitivity
from tests.rows import each_row

OWN = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder."""
    return private_folder(tmp_path / "data")[0]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_token_is_made_once_of_256_bits_for_its_user_alone(folder: Path) -> None:
    made = make_token(folder)
    assert (make_token(folder), read_token(folder), len(made)) == (made, made, len("egt1_") + 43)
    assert (mode(folder), mode(folder / "token"), [one.name for one in folder.iterdir()]) == (0o700, 0o600, ["token"])


@pytest.mark.parametrize("said", ["{}", "the token is {}", "用这个 {} 登录", "curl -H 'Authorization: Bearer {}'"])
def test_a_token_that_somebody_tells_an_agent_is_known_as_a_secret(folder: Path, said: str) -> None:
    for _ in range(20):
        assert detect_sensitivity(said.format(rotate_token(folder))) == 3


def test_a_wide_open_umask_opens_neither_the_folder_nor_the_token(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder, _ = private_folder(tmp_path / "data")
        make_token(folder)
    finally:
        os.umask(before)
    assert (mode(folder), mode(folder / "token")) == (0o700, 0o600)


def test_many_that_make_it_at_once_have_the_same_one(folder: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(lambda _: make_token(folder), range(64)))) == 1
    assert [one.name for one in folder.iterdir()] == ["token"]


def test_a_token_that_is_a_link_is_refused_and_what_it_leads_to_is_left_alone(folder: Path, tmp_path: Path) -> None:
    bait = tmp_path / "bait"
    bait.write_text(OWN)
    bait.chmod(0o600)
    (folder / "token").symlink_to(bait)
    with pytest.raises(TokenFileUnusable, match=r"is a link.*engramlog token --rotate"):
        TokenFile(folder)
    rotate_token(folder)
    assert (bait.read_text(), (folder / "token").is_symlink()) == (OWN, False)


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o644, 0o660])
def test_a_token_that_others_could_have_read_is_refused_until_there_is_a_new_one(folder: Path, bits: int) -> None:
    known = make_token(folder)
    (folder / "token").chmod(bits)
    with pytest.raises(TokenFileUnusable, match="could be read by others"):
        make_token(folder)
    assert rotate_token(folder) != known
    assert make_token(folder) == read_token(folder)


@pytest.mark.parametrize("content", ["", "\n", "short", "x" * 20 + "\x00" * 30])
def test_a_file_that_holds_no_token_is_refused(folder: Path, content: str) -> None:
    (folder / "token").write_text(content)
    (folder / "token").chmod(0o600)
    with pytest.raises(TokenFileUnusable, match="holds no token"):
        make_token(folder)


def test_a_running_service_takes_a_new_token_at_once_and_admits_nobody_while_there_is_none(folder: Path) -> None:
    admits = TokenFile(folder)
    first = make_token(folder)
    assert (admits(first), admits(first + "x"), admits(""), admits("\udcff")) == (True, False, False, False)
    second = rotate_token(folder)
    assert (admits(first), admits(second)) == (False, True)
    (folder / "token").chmod(0o644)
    assert not admits(second)
    (folder / "token").unlink()
    assert not admits(second)
    third = make_token(folder)
    assert (admits(second), admits(third)) == (False, True)


class Kept:
    """Alarms that were raised and cleared, in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def raised(self, name: str, subject: str = "", text: str = "") -> None:
        assert name in KNOWN
        self.told.append((name, text))

    def cleared(self, name: str, subject: str = "") -> None:
        self.told.append((name, ""))


def test_a_token_that_nobody_can_use_any_more_raises_an_alarm_until_there_is_one(folder: Path) -> None:
    alarms = Kept()
    admits, alarm = TokenFile(folder), ConditionAlarm(alarms, "token_unusable")
    told = []
    for harm in (lambda: None, (folder / "token").unlink, lambda: None, lambda: rotate_token(folder)):
        harm()
        alarm.report(admits.trouble())
        told.append([text for _, text in alarms.told])
    gone = f"the API's token {folder / 'token'} is gone; `engramlog token --rotate` makes a new one"
    assert told == [[""], ["", gone], ["", gone], ["", gone, ""]]


def test_what_admits_tells_nobody_the_token(folder: Path) -> None:
    admits, token = TokenFile(folder), make_token(folder)
    admits(token)
    seen = [admits, vars(admits), *vars(admits).values()]
    assert [one for one in seen if token in repr(one)] == []


def test_a_data_folder_that_others_could_enter_is_closed_and_that_is_said(tmp_path: Path) -> None:
    for content in ((), ("store.json", "more")):
        folder = tmp_path / f"data{len(content)}"
        folder.mkdir(0o755)
        folder.chmod(0o755)
        for name in content:
            (folder / name).touch()
        assert "0755" in (private_folder(folder)[1] or "")
        assert (mode(folder), private_folder(folder)[1]) == (0o700, None)


@each_row("bits", [0o777, 0o775, 0o707, 0o2770])
def test_a_store_that_others_could_have_put_there_is_not_opened_and_what_to_do_is_said(
    tmp_path: Path, bits: int
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "store.json").touch()
    folder.chmod(bits)
    with pytest.raises(UnusableFolder, match=f"could write to .* look through it, .*chmod 700 {folder}") as refusal:
        private_folder(folder)
    assert (refusal.value.exit_code, folder.stat().st_mode & 0o7777) == (2, bits)
    folder.chmod(0o700)
    assert private_folder(folder) == (folder, None)


def test_what_somebody_puts_into_a_folder_while_it_is_closed_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o777)
    close = Path.chmod

    def beaten(path: Path, bits: int) -> None:
        (path / "store.json").touch()
        close(path, bits)
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)  # who put it there is another

    monkeypatch.setattr(Path, "chmod", beaten)
    with pytest.raises(UnusableFolder, match="look through it"):
        private_folder(folder)


@each_row(("bits", "name"), [(0o755, "somebodys.txt"), (0o1777, "store.json")])
def test_a_folder_that_holds_other_things_is_not_taken_from_those_who_use_it(
    tmp_path: Path, bits: int, name: str
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / name).touch()
    folder.chmod(bits)
    with pytest.raises(Exception, match="name a folder of its own") as refusal:
        private_folder(folder)
    assert getattr(refusal.value, "exit_code", None) == 2
    assert folder.stat().st_mode & 0o7777 == bits


def test_a_token_of_the_environment_is_used_in_place_of_the_file_and_shown_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", OWN)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    settings = load_settings()
    admits, _ = admits_of(settings)
    assert (admits(OWN), admits(OWN[:-1]), OWN in f"{settings!r} {settings}") == (True, False, False)
    assert not (tmp_path / "data").exists()


@each_row("value", ["short", "x" * 31, "x" * 513, "with spaces in it, although it is long", "密码" * 20])
def test_a_token_of_the_environment_that_is_weak_is_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("ENGRAMLOG_TOKEN", value)
    with pytest.raises(
        BadSetting, match="ENGRAMLOG_TOKEN: got a value that is not shown; allowed: 32 to 512"
    ) as refusal:
        load_settings()
    assert value not in str(refusal.value.as_dict())


def test_the_command_prints_the_token_makes_it_and_rotates_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ENGRAMLOG_TOKEN", raising=False)
    told = []
    for words in (["token"], ["token"], ["token", "--rotate"], ["token"]):
        assert main(words) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1] != told[2] == told[3] == f"{read_token(tmp_path / 'data')}\n"
    monkeypatch.setenv("ENGRAMLOG_TOKEN", OWN)
    assert (main(["token"]), capsys.readouterr().out) == (0, f"{OWN}\n")
    assert main(["token", "--rotate"]) == 2
    assert OWN not in capsys.readouterr().err


def test_what_is_in_force_is_told_by_a_hash_that_changes_with_the_token(folder: Path) -> None:
    admits = TokenFile(folder)
    first = admits.in_force()
    assert (first is not None, first == admits.in_force()) == (True, True)
    token = rotate_token(folder)
    second = admits.in_force()
    assert second not in (first, None)
    assert token.encode() not in (second or b"")
    (folder / "token").chmod(0o644)
    assert admits.in_force() is None
    (folder / "token").unlink()
    assert admits.in_force() is None


def test_a_token_of_the_environment_is_the_one_in_force_for_good(folder: Path) -> None:
    admits, _ = admits_of(Settings.model_validate({"environment": {"ENGRAMLOG_TOKEN": OWN}}))
    assert (admits(OWN), admits(f"{OWN}x")) == (True, False)
    assert (admits.in_force() is not None, admits.in_force() == admits.in_force()) == (True, True)
    assert OWN.encode() not in (admits.in_force() or b"")
