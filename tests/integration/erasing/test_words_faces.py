"""The words of one turn and of what was made of it are erased while a process has them in memory: what each face tells then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from ops.erasing.words import WordsCertificate, WordsPlan, carry_out_words
from ops.settings import Settings
from ops.store import open_the_store
from ops.wiring import application_on
from tests.faces import FACES
from tests.given.faces import ENGLISH, OWNER, tell_all, untold_world
from tests.integration.erasing.test_every_face import Asking, said

FINE = (200, 207, 0, 3, "told")


class Erased(NamedTuple):
    """A store in which the words of a turn were erased by another process, and what each face says of it."""

    made: Asking
    done: WordsCertificate
    before: dict[str, str]
    after: dict[str, str]


@pytest.fixture(scope="module")
def erased(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Erased]:
    folder = tmp_path_factory.mktemp("words") / "store"
    with untold_world(folder, ENGLISH) as world:
        tell_all(world)
        made = Asking(**vars(world))
        before = {name: face.ask(made) for name, face in FACES.items()}
        settings = Settings(redis_url=made.url, data=folder.parent / "another", sealed_by=str(folder / "master-key"))
        with open_the_store(settings) as another, application_on(another, settings, stays=False) as application:
            done = carry_out_words(application, another, settings, WordsPlan(OWNER, ("t1",), "consent_withdrawn"))
        yield Erased(made, done, before, {name: face.ask(made) for name, face in FACES.items()})


def test_it_is_certified(erased: Erased) -> None:
    assert (erased.done.verified, erased.done.differences, erased.done.not_proven) == (True, [], [])


@pytest.mark.parametrize("name", FACES)
def test_no_face_fails_or_tells_a_word_of_it(erased: Erased, name: str) -> None:
    told, was = said(erased.after[name]), said(erased.before[name])
    assert told.status in FINE or told.status == was.status or "was purged" in told.text, told
    assert "zuleika" not in told.text.casefold()


def blanks(told: Any) -> Iterator[dict[str, Any]]:
    """What has a place for words, and none in it, and is not said to be purged."""
    if isinstance(told, dict):
        if "" in (told.get("text"), told.get("content"), told.get("memory")) and told.get("status") != "purged":
            yield told
        told = list(told.values())
    for one in told if isinstance(told, list) else ():
        yield from blanks(one)


@pytest.mark.parametrize("name", FACES)
def test_no_face_shows_an_empty_text_as_if_somebody_had_said_it(erased: Erased, name: str) -> None:
    text = said(erased.after[name]).text
    told = [json.loads(line) for line in (text, *text.splitlines()) if line.startswith(("{", "[")) and is_json(line)]
    assert [one for one in blanks(told) if one not in list(blanks(before(erased, name)))] == []


def before(erased: Erased, name: str) -> list[Any]:
    text = said(erased.before[name]).text
    return [json.loads(line) for line in (text, *text.splitlines()) if line.startswith(("{", "[")) and is_json(line)]


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
