"""CPU of a question by meaning: the default search with the default model, in one process, warm, 200 different questions."""

from __future__ import annotations

from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from benchmarks.output import Row
from benchmarks.texts import chinese, english
from engramlog_server.events.text import USE
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.wiring import open_application
from engramlog_server.projections.decide.commands import NewTurn

SIZES, QUESTIONS, WARM, AT_ONCE = (1_000, 10_000), 200, 20, 100
LANGUAGES = {"en": english, "zh": chinese}


def measure_questions(sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """A row for each language and number of memories: milliseconds of CPU of this process, Redis apart."""
    with TemporaryDirectory(prefix="engramlog-questions-") as folder:
        settings = Settings(data=Path(folder) / "data", embedder=USE, extraction="off")
        with open_application(settings) as application:
            return [_row(application, language, size) for language in LANGUAGES for size in sizes]


def _row(application: Any, language: str, size: int) -> Row:
    owner, chance = f"{language}-{size}", Random(size)
    texts = [LANGUAGES[language](chance) for _ in range(size)]
    for start in range(0, size, AT_ONCE):
        turns = [NewTurn("user", text) for text in texts[start : start + AT_ONCE]]
        application.rememberer.add_turns(owner, turns, session=f"s{start // AT_ONCE}")
    application.embeddings.embed(owner)
    asked = questions(language, QUESTIONS + WARM)
    for question in asked[:WARM]:
        meaning = application.reader.search(owner, question, limit=10)["meaning"]
        assert meaning["embedded"] == meaning["of"] == size, meaning
    found = [_milliseconds(application, owner, question) for question in asked[WARM:]]
    p90 = quantiles(found, n=10, method="inclusive")[-1]
    return {
        "language": language,
        "memories": size,
        "questions": len(found),
        "cpu p50 ms": round(median(found), 2),
        "cpu p90 ms": round(p90, 2),
    }


def _milliseconds(application: Any, owner: str, question: str) -> float:
    start = process_time()
    application.reader.search(owner, question, limit=10)
    return (process_time() - start) * 1e3


def questions(language: str, count: int) -> list[str]:
    """Different questions of about six words, in one language."""
    chance, found = Random(7), dict[str, None]()
    while len(found) < count:
        text = LANGUAGES[language](chance)
        found[text[:14] if language == "zh" else " ".join(text.split()[:7])] = None
    return list(found)
