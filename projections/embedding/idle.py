"""Whether a message needs memory, if its words leave that open: how much nearer it is to the owner's memories than idle ones. Pure.

score    = best cosine with a memory + personal - idle       each the mean of the three best cosines with fixed messages
nearness = (score - mean) / standard deviation               of the scores of the idle messages, each without itself
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engramlog_server.projections.embedding.meaning import Vectors

NEAR, SURE = -0.3, 1.8
"""Nearness from which a message gets a few lines, and from which it counts as one that needs memory.

A few lines too many cost less than a memory that is not found, so `NEAR` is low.
"""
_ALIKE = 3
"""Fixed messages of each kind that a message is compared with: the nearest."""

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
"""Messages that need no memory."""
PERSONAL = (
    "Which day is the check-up?",
    "What is the dog's name?",
    "Who picks up the kids on Thursdays?",
    "Where is the spare key kept?",
    "What's planned for next weekend?",
    "Which medicines are taken daily?",
    "Any food to avoid?",
    "When does the project go live?",
    "What's the boss like?",
    "How long is the commute?",
    "Which gym is it?",
    "What size are the shoes?",
    "Who is coming for dinner?",
    "When is the lease up?",
    "What instrument is being practised?",
    "How should replies be written?",
    "What did the doctor say?",
    "Which team gets support on match days?",
    "How much is left on the mortgage?",
    "Where did the honeymoon take place?",
    "体检是哪一天？",
    "宠物叫什么名字？",
    "周四谁接孩子？",
    "备用钥匙放在哪儿？",
    "下个周末有什么安排？",
    "每天要吃什么药？",
    "有什么忌口？",
    "项目什么时候上线？",
    "老板是个什么样的人？",
    "上班路上要多久？",
    "去的是哪家健身房？",
    "鞋子穿多大码？",
    "晚饭都有谁来？",
    "租约什么时候到期？",
    "在学什么乐器？",
    "回复要写成什么风格？",
    "医生怎么说的？",
    "最支持哪支球队？",
    "房贷还剩多少？",
    "蜜月去了哪里？",
)
"""Messages that need memory although they do not name the speaker."""
FIXED = IDLE + PERSONAL


class Usual(NamedTuple):
    """Scores of the idle messages in an owner's store."""

    mean: float
    spread: float


def usual(wholes: Vectors, fixed: Vectors) -> Usual:
    """What idle messages reach among an owner's vectors, shape (rows, d); `fixed`: vectors of FIXED."""
    scores = (wholes @ fixed[: len(IDLE)].T).max(axis=0) + np.array(
        [_personal(fixed[at], np.delete(fixed, at, axis=0)) for at in range(len(IDLE))]
    )
    return Usual(float(scores.mean()), max(float(scores.std()), 1e-6))


def nearness(wholes: Vectors, fixed: Vectors, idle: Usual, asked: Vectors) -> float:
    """How far a message stands above idle ones, in standard deviations of these; negative if it stands below their mean."""
    return (float((wholes @ asked).max()) + _personal(asked, fixed) - idle.mean) / idle.spread


def _personal(asked: Vectors, fixed: Vectors) -> float:
    """How much nearer a message is to the personal messages, the last of `fixed`, than to the idle ones."""
    cosines, at = fixed @ asked, len(fixed) - len(PERSONAL)
    return float(np.sort(cosines[at:])[-_ALIKE:].mean() - np.sort(cosines[:at])[-_ALIKE:].mean())
