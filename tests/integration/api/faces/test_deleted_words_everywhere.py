"""A turn is deleted: every face that can be asked is asked for its words, while it stands, deleted, restored and purged.

A new route, tool, resource or command must be put into a table of `tests.faces`, or into that of those that are not asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engramlog_server.api.cli.main import whole
from engramlog_server.consumers.jobs.lifecycle import deleted_in
from tests.acceptance.commands.test_cli_shapes import commands
from tests.faces import CLI, CLI_UNASKED, FACES, HTTP, HTTP_UNASKED, MCP, MCP_UNASKED, Face
from tests.given.events import parameters
from tests.given.faces import CHINESE, ENGLISH, OWNER, Language, World, world
from tests.given.mcp import TOOLS, in_process, talk
from tests.made.reference import openapi_document
from tests.rows import each_row

STAGES = ("told", "deleted", "restored", "purged")


def faces_of(language: Language) -> dict[str, Face]:
    """All of them in English; in Chinese those over HTTP, which read the same answers."""
    return {name: face for name, face in FACES.items() if language is ENGLISH or name.startswith("http")}


def test_every_route_tool_resource_and_command_is_asked_or_said_not_to_be() -> None:
    paths = openapi_document()["paths"].items()
    assert HTTP.keys() | HTTP_UNASKED.keys() == {
        f"{method.upper()} {path}" for path, found in paths for method in found
    }
    assert MCP.keys() | MCP_UNASKED.keys() == TOOLS | {one for one in MCP if one.startswith("memory://")}
    assert CLI.keys() | CLI_UNASKED.keys() == {name for name, _ in commands(whole())}
    assert not (HTTP.keys() & HTTP_UNASKED.keys() | MCP.keys() & MCP_UNASKED.keys() | CLI.keys() & CLI_UNASKED.keys())


class Heard(NamedTuple):
    """What every face said at every stage, and what Redis held."""

    language: Language
    told: dict[str, dict[str, str]]
    keys: dict[str, dict[bytes, bytes]]
    vectors: dict[str, int]
    """How many are kept, by stage."""
    logged: list[str]
    resources: set[str]
    answers: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def in_english(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    return listened(tmp_path_factory.mktemp("english"), ENGLISH)


@pytest.fixture(scope="module")
def in_chinese(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    return listened(tmp_path_factory.mktemp("chinese"), CHINESE)


@pytest.fixture(params=["in_english", "in_chinese"])
def heard(request: pytest.FixtureRequest) -> Heard:
    found: Heard = request.getfixturevalue(request.param)
    return found


def listened(folder: Path, language: Language) -> Heard:
    """What was said while the turn stood, was deleted, restored, deleted again and purged."""
    with world(folder, language, sealed_by="none") as made:  # of a sealed one no key holds a word at any time
        told, keys, answers = dict[str, dict[str, str]](), dict[str, dict[bytes, bytes]](), dict[str, dict[str, Any]]()
        vectors = dict[str, int]()

        def hear(stage: str) -> None:
            made.store.flushed()
            told[stage] = {name: face.ask(made) for name, face in faces_of(made.language).items()}
            made.store.flushed()
            keys[stage], vectors[stage] = made.keys(), made.vectors()

        hear("told")
        answers["deleted"] = made.store.delete(OWNER, "t1")
        hear("deleted")
        answers["restored"] = made.store.restore(OWNER, "t1")
        hear("restored")
        made.app.deleter.delete_many(OWNER, ["t1"], occurred_at=made.before)
        made.app.extractor.extract(OWNER)  # reads what stands, and so makes nothing of the turn again
        made.store.tell(OWNER, parameters(made.store.yesterday, deleted_kept_days=0.5))
        with made.app.views.view(OWNER) as (view, _):
            made.app.views.deletions.add(OWNER, deleted_in(view), 0)  # as if a sweep had looked then
        answers["purged"] = made.app.cleaner.clean(OWNER)
        made.app.embeddings.embed(OWNER)
        hear("purged")
        return Heard(made.language, told, keys, vectors, made.logged, _resources(made), answers)


def _resources(made: World) -> set[str]:
    async def listed(agent: Any) -> set[str]:
        fixed = (await agent.client.list_resources()).resources
        shaped = (await agent.client.list_resource_templates()).resource_templates
        return {str(one.uri) for one in fixed} | {str(one.uri_template) for one in shaped}

    return talk(in_process(made.app, OWNER), listed)


def test_there_are_no_other_resources(heard: Heard) -> None:
    assert heard.resources == {one for one in MCP if one.startswith("memory://")}


def test_what_was_made_of_the_turn_goes_with_it_and_comes_back(heard: Heard) -> None:
    along = ["core", "both", "one", "typed", "episode-1", "fix"]
    assert sorted(one["id"] for one in heard.answers["deleted"]["also"]) == sorted(along)
    assert sorted(one["id"] for one in heard.answers["restored"]["also"]) == sorted(along)
    assert heard.answers["purged"]["counts"]["purge"] == 1 + len(along)


@each_row("name", FACES)
def test_a_face_tells_the_words_while_they_stand_and_not_afterwards(in_english: Heard, name: str) -> None:
    assert says(in_english, name) == expected(FACES[name]), in_english.told["deleted"][name][:2000]


@each_row("name", [name for name in FACES if name.startswith("http")])
def test_so_it_does_in_chinese(in_chinese: Heard, name: str) -> None:
    assert says(in_chinese, name) == expected(FACES[name]), in_chinese.told["deleted"][name][:2000]


def says(heard: Heard, name: str) -> dict[str, bool]:
    """At which stages a face told the word."""
    return {stage: heard.language.word.casefold() in heard.told[stage][name].casefold() for stage in STAGES}


def expected(face: Face) -> dict[str, bool]:
    return {"told": face.tells, "deleted": face.kept is not None, "restored": face.tells, "purged": False}


def test_nothing_but_the_log_holds_the_words_once_they_are_purged(heard: Heard) -> None:
    word = heard.language.word.encode()
    holding = {
        stage: {key for key, held in heard.keys[stage].items() if word in held or word.lower() in held}
        for stage in STAGES
    }
    assert len(holding["told"]) > 1
    assert {key.rpartition(b":")[2] for key in holding["purged"]} == {b"ev"}, holding["purged"]


def test_no_log_line_ever_held_them(heard: Heard) -> None:
    assert not [line for line in heard.logged if heard.language.word in line]


def test_vectors_of_what_is_purged_are_gone(heard: Heard) -> None:
    assert heard.vectors["told"] - heard.vectors["purged"] == heard.answers["purged"]["counts"]["purge"]
