"""Forty messages that need no memory: how near they come to an owner's memories is the measure of what is near at all. Pure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from projections.embedding.meaning import Vectors

NEAR, SURE = 0.5, 0.9
"""Share of idle messages that a message must come nearer than: to get a few lines, and to count as one that needs memory."""

IDLE = (
    "What is 48 divided by 6?",
    "Who painted the Mona Lisa?",
    "How many metres are in a mile?",
    "Explain photosynthesis to a child.",
    "Give me three synonyms for happy.",
    "What does the acronym NASA stand for?",
    "Write a limerick about a cat and a piano.",
    "How do I undo the last commit in git?",
    "What's the boiling point of alcohol?",
    "Translate good morning into Italian.",
    "Write a function that reverses a string.",
    "Which is larger, Canada or China?",
    "What is the plural of phenomenon?",
    "Why do cats purr?",
    "Name the planets of the solar system.",
    "How long should rice be cooked?",
    "What year did the Berlin Wall fall?",
    "Make this sentence shorter.",
    "hello there",
    "ok great, thank you",
    "36除以4等于几？",
    "蒙娜丽莎是谁画的？",
    "一英里等于多少米？",
    "给小朋友解释一下什么是重力。",
    "给我三个“高兴”的近义词。",
    "WTO是什么的缩写？",
    "写一首关于秋天的五言绝句。",
    "怎么用命令行删除一个文件夹？",
    "酒精的沸点是多少？",
    "把“早上好”翻译成日语。",
    "写一个反转字符串的函数。",
    "加拿大和中国哪个面积大？",
    "“守株待兔”是什么意思？",
    "猫为什么会打呼噜？",
    "太阳系有哪几颗行星？",
    "米饭要煮多久？",
    "长城是什么时候修建的？",
    "把这句话改短一点。",
    "你好",
    "好的，非常感谢",
)


def reached(wholes: Vectors, idle: Vectors) -> npt.NDArray[np.float32]:
    """What the best match of each idle message reaches among an owner's vectors, shape (rows, d); ascending."""
    return np.sort((wholes @ idle.T).max(axis=0))


def nearness(wholes: Vectors, idle: npt.NDArray[np.float32], asked: Vectors) -> float:
    """Share, 0 to 1, of idle messages that a message comes nearer than to an owner's memories."""
    return float((idle < float((wholes @ asked).max())).mean())
