"""`engramlog health --all` and `extract --all` as people give them: what is refused, by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.helpers.cli import Cli
from tests.servers import Servers


@pytest.fixture
def cli(
    redis_servers: Servers, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Cli:
    monkeypatch.setenv("ENGRAMLOG_REDIS_URL", redis_servers.get("redis-6.2").url)
    monkeypatch.setenv("ENGRAMLOG_DATA", str(tmp_path / "data"))
    return Cli(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "named", "allowed"),
    [
        (("health",), "owner: got 'nothing'", "an owner's name, or --all"),
        (("health", "ada", "--all"), "owner: got 'ada'", "nobody with --all"),
        (("health", "ada", "--processes", "2"), "processes: got 2", "nothing without --all"),
        (("health", "ada", "--dask", "tcp://127.0.0.1:1"), "dask: got 'tcp://127.0.0.1:1'", "nothing without --all"),
        (("health", "--all", "--limit", "5"), "limit: got 5", "no list that has pages"),
        (("health", "--all", "--offset", "5"), "offset: got 5", "no list that has pages"),
        (("health", "--all", "--after", "3:1"), "after: got '3:1'", "a position is one owner's"),
        (("health", "--all", "--as-of", "3:1"), "--as-of: got '3:1'", "a position is one owner's"),
        (("health", "--all", "--processes", "65"), "processes: got 65", "1 to 64"),
        (
            ("health", "--all", "--processes", "2", "--dask", "tcp://127.0.0.1:1"),
            "processes: got 2",
            "nothing with --dask: the cluster has its own",
        ),
        (("health", "--all", "--dask", "tcp://10.0.0.5:8786"), "dask: got 'tcp://10.0.0.5:8786'", "tls://HOST:PORT"),
        (("extract",), "owner: got 'nothing'", "an owner's name, or --all"),
        (("extract", "--all", "--by", "magic"), "by: got 'magic'", "rules or model"),
        (("extract", "--all", "--again"), "again: got 'no --dry-run'", "with --dry-run alone"),
        (("extract", "ada", "--again"), "again: got 'no --dry-run'", "with --dry-run alone"),
        (("extract", "ada", "--again", "--dry-run", "--by", "model"), "by: got 'model'", "rules with --again"),
    ],
)
def test_bad_input_is_refused_by_its_name_and_leaves_no_journal(
    cli: Cli, tmp_path: Path, words: tuple[str, ...], named: str, allowed: str
) -> None:
    err = " ".join(cli(*words, code=2).err.split())
    assert named in err
    assert allowed in err
    assert not (tmp_path / "data" / "many").exists()


def test_of_an_empty_store_there_is_nothing_to_tell(cli: Cli) -> None:
    answer = cli.json("health", "--all")
    assert (answer["owners"], answer["live"], answer["mean_strength"], answer["most"]) == (0, 0, None, [])
    assert "0 owners: 0 of 0 memories are live" in cli("health", "--all").out
    assert "of 0 of 0 owners: nothing would change" in cli("extract", "--all", "--dry-run").out
