"""`engramlog cleanup --all --job embed`, and what commands and routes say about vectors."""

from __future__ import annotations

import pytest

from engramlog_server.projections.embedding.meaning import Embedder
from tests.acceptance.helpers.cli import Cli, event, lines
from tests.doubles.embedding import WordEmbedder


def use(monkeypatch: pytest.MonkeyPatch, embedder: Embedder) -> None:
    """Have every command embed by this."""
    monkeypatch.setattr("engramlog_server.ops.models.maker_of", lambda _settings: lambda _name: embedder)
    monkeypatch.setenv("ENGRAMLOG_EMBEDDER", "tests.doubles:words")


def remember(cli: Cli) -> None:
    events = [event(1, content="I like tea"), event(2, content="早上喝咖啡"), event(3, "bo", content="The bus is late")]
    cli("append", "-", stdin=lines(events))


def test_it_embeds_an_owner_or_all_and_says_how_many_and_how_many_are_left(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, WordEmbedder())
    remember(cli)
    assert cli.json("cleanup", "ada", "--job", "embed") == {
        "owner": "ada",
        "model": "words/1",
        "embedded": 2,
        "dropped": 0,
        "already": 0,
        "left": 0,
        "failed": [],
        "chosen": "tests.doubles:words",
        "chosen_by": "setting",
    }
    told = cli("cleanup", "--all", "--job", "embed").out
    assert "done 1 texts embedded by words/1, 2 had been, 0 left; 0 vectors dropped" in told
    assert cli.json("cleanup", "--all", "--job", "embed")["already"] == 3
    assert cli.json("stats", "ada")["embedding"] == {
        "model": "words/1",
        "embedded": 2,
        "of": 2,
        "share": 1.0,
        "chosen": "tests.doubles:words",
        "chosen_by": "setting",
    }
    assert "words/1" in cli("stats", "ada").out


def test_what_is_refused_is_named_and_ends_partly_done(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, WordEmbedder(refuses="tea"))
    remember(cli)
    answer = cli.json("cleanup", "--all", "--job", "embed", code=3)
    assert (answer["owners"], answer["embedded"], answer["left"]) == (2, 2, 1)
    assert answer["failed"] == [{"owner": "ada", "id": "m1", "message": "a text was refused"}]
    assert "ada m1: a text was refused" in cli("cleanup", "--all", "--job", "embed", code=3).out
    assert cli.json("stats", "ada")["embedding"]["share"] == 0.5


def test_an_embedder_that_is_down_fails_the_command(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    down = WordEmbedder()
    down.down = True
    use(monkeypatch, down)
    remember(cli)
    answer = cli.json("cleanup", "ada", "--job", "embed", code=1)
    assert (answer["error"], answer["embedded"], answer["left"]) == ("EmbedderFailed", 0, 2)


def test_without_an_embedder_it_says_what_to_set_and_nothing_else_changes(cli: Cli) -> None:
    remember(cli)
    answer = cli.json("cleanup", "ada", "--job", "embed", code=2)
    assert answer["setting"] == "ENGRAMLOG_EMBEDDER"
    assert "minilm, use, openai:MODEL or package:object" in answer["message"]
    assert "embedding" not in cli.json("stats", "ada")
    assert cli.json("search", "ada", "tea", "--mode", "debug")["results"]
