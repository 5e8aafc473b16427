"""Which embedder counts for whom, and what a process may use."""

from __future__ import annotations

from collections import Counter
from threading import Thread

import pytest

from engramlog_server.events.errors import BadSetting
from engramlog_server.events.text import BUILT_IN
from engramlog_server.projections.embedding.choosing import EmbedderChosen, EmbedderPlan, Embedders
from tests.doubles.embedding import WordEmbedder
from tests.rows import each_row


@each_row(
    ("parameter", "setting", "default", "letters", "chosen"),
    [
        ("store", None, "none", True, ("none", "none", "store")),
        ("store", None, "auto", False, ("minilm", "auto", "store")),
        ("store", None, "auto", True, ("use", "auto", "store")),
        ("store", None, "minilm", True, ("minilm", "minilm", "store")),
        ("store", "words:mine", "auto", True, ("words:mine", "words:mine", "setting")),
        ("store", "minilm", "none", True, ("minilm", "minilm", "setting")),
        ("store", "minilm", "auto", True, ("minilm", "minilm", "setting")),
        ("store", "auto", "none", True, ("use", "auto", "setting")),
        ("use", None, "none", False, ("use", "use", "owner")),
        ("use", "minilm", "none", False, ("use", "use", "owner")),
        ("auto", "minilm", "none", True, ("use", "auto", "owner")),
        ("none", "minilm", "auto", True, ("none", "none", "owner")),
        ("use", "none", "auto", True, ("none", "none", "setting")),
        ("store", "none", "auto", True, ("none", "none", "setting")),
        ("openai:m", "openai:m", "none", True, ("openai:m", "openai:m", "owner")),
    ],
)
def test_the_owner_chooses_before_the_setting_and_the_setting_before_the_store(
    parameter: str, setting: str | None, default: str, letters: bool, chosen: tuple[str, str, str]
) -> None:
    found = EmbedderPlan(setting, default).chosen(parameter, lambda: letters)
    assert (found[:3], found.lacking) == (chosen, "")


@each_row("name", ["openai:m", "os:system", "package.part:made"])
@each_row("setting", [None, "auto", "minilm", "openai:other", "package.part:other"])
def test_what_sends_downloads_or_imports_counts_only_where_the_process_is_set_to_the_very_same(
    name: str, setting: str | None
) -> None:
    asked: list[str] = []

    def make(wanted: str) -> WordEmbedder:
        asked.append(wanted)
        return WordEmbedder()

    for parameter, default in ((name, "none"), ("store", name)):
        plan = EmbedderPlan(setting, default)
        found = plan.chosen(parameter, lambda: False)
        if found.name != name:  # the setting stands before the store
            continue
        assert "ENGRAMLOG_EMBEDDER" in found.lacking
        with pytest.raises(BadSetting, match="not set to use it"):
            Embedders(make, plan).get(found)
    assert asked == []


@each_row(
    ("there", "letters", "chosen"),
    [(BUILT_IN, False, "minilm"), (BUILT_IN, True, "use"), (["use"], False, "use"), (["use"], True, "use")],
)
def test_auto_takes_minilm_for_latin_letters_only_where_it_is_installed(
    there: list[str], letters: bool, chosen: str
) -> None:
    def make(name: str) -> WordEmbedder:
        if name not in there:
            raise BadSetting("the embedder minilm needs a package")
        return WordEmbedder(name)

    embedders = Embedders(make, EmbedderPlan(None, "auto"))
    found = embedders.chosen("store", lambda: letters)
    assert (found.name, embedders.get(found).model) == (chosen, chosen)


def test_each_embedder_is_made_once_however_many_ask() -> None:
    made = Counter[str]()

    def make(name: str) -> WordEmbedder:
        made[name] += 1
        return WordEmbedder(name)

    embedders = Embedders(make, EmbedderPlan("auto"))
    wanted = [EmbedderChosen(name, "auto", "setting") for name in BUILT_IN] * 8
    threads = [Thread(target=embedders.get, args=(one,)) for one in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == dict.fromkeys(BUILT_IN, 1)
    assert {name: one.model for name, one in embedders.made.items()} == {name: name for name in BUILT_IN}
