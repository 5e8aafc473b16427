"""The words of one turn and of what was made of it are erased while a process has them in memory: what each face tells then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from ops.erasing.words import WordsCertificate, WordsPlan, carry_out_words
from ops.settings import Settings
from ops.store import open_the_store
from ops.wiring import application_on
from tests.faces import FACES
from tests.given.faces import ENGLISH, OWNER, tell_all, untold_world
from tests.integration.erasing.test_every_face import Asking, Said, said

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


def test_dump(erased: Erased) -> None:
    from pathlib import Path
    import os

    if out := os.environ.get("D_OUT"):
        Path(out).mkdir(exist_ok=True)
        for name, text in erased.after.items():
            (Path(out) / name.replace("/", "_").replace(" ", "~")[:120]).write_text(
                name + "\n" + text + "\n\nBEFORE " + erased.before[name]
            )


@pytest.mark.parametrize("name", FACES)
def test_no_face_fails_or_tells_a_word_of_it(erased: Erased, name: str) -> None:
    told: Said = said(erased.after[name])
    was: Said = said(erased.before[name])
    assert told.status in FINE or (told.status == was.status) or "was purged" in told.text, told
    assert "zuleika" not in told.text.casefold()
