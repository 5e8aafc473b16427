"""What is usual of a model's vectors, measured on texts that have nothing to do with each other. Pure.

In some models all vectors lie in one corner: of multilingual-e5-small, unrelated texts have cosines about .78. Beside that
nothing stands out, whatever is asked. So what such vectors have in common, their mean, is taken away before they are compared;
and how far unrelated texts still differ tells what it means to stand out.

Under the bilingual model some statements are near to every question. So a share of the mean vector of questions is taken from
each question: measured on everyday facts in Chinese, .02 more of them are among the first ten.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from engramlog_server.projections.embedding import use
from engramlog_server.projections.embedding.meaning import Usual, Vectors

TEXTS = (
    "The train leaves at eight in the morning.",
    "My sister bought a red bicycle.",
    "How do I fix a leaking tap?",
    "Prices rose by three percent last year.",
    "Thank you, that was very kind of you.",
    "The team lost the match again.",
    "She wrote a program that sorts names.",
    "It rained all day in the mountains.",
    "我最近在学做红烧肉。",
    "请帮我把这份合同翻译一下。",
    "他小时候住在海边。",
    "手机电池坏了，怎么办？",
    "明天下午三点开会。",
    "这部电影讲的是一只猫。",
    "你好，很高兴认识你！",
    "医生让他每天散步半小时。",
)
COMMON = 0.35
"""Mean cosine of unrelated texts from which on they are taken to have a common part. Measured: .17 MiniLM, .07 USE, .78 E5."""


QUESTIONS = Path(__file__).with_name("questions_use.npy")
"""Mean whole vector of `projections.embedding.idle.FIXED` under the bilingual model; `python -m benchmarks.change` writes it."""
QUESTION_SHARE = 0.75


def usual_of(wholes: Vectors, model: str = "") -> Usual:
    """What is usual of a model by its whole vectors of `TEXTS`, of length 1, shape (texts, d)."""
    places = np.triu_indices(len(wholes), 1)
    cosines = (wholes @ wholes.T)[places]
    centre: Vectors = wholes.mean(axis=0)
    questions = _questions() if model == use.MODEL and centre.size == use.DIMENSIONS else None
    if float(cosines.mean()) < COMMON:
        return Usual(np.zeros_like(centre), float(cosines.std()), questions)
    apart = wholes - centre
    apart /= np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), np.float32(1e-6))
    return Usual(centre, float((apart @ apart.T)[places].std()))


@cache
def _questions() -> Vectors:
    return QUESTION_SHARE * np.asarray(np.load(QUESTIONS), np.float32)
