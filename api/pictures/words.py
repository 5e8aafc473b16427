"""The words of the pictures in English and Chinese; names of laws, events, links and reasons are the console's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from engramlog_server.projections.fold.reasons import reason_told

_ROW = re.compile(r'"([\w.-]+)":\s*\[\s*("(?:[^"\\]|\\.)*"),\s*("(?:[^"\\]|\\.)*"),?\s*\]')
LANGUAGES = ("en", "zh")
FOLDER = ("console", "words")


@cache
def console_words(language: str) -> Mapping[str, str]:
    """The words of the console by their keys: `law.tiered`, `decision.merge`, `why.created` ..."""
    place, found = LANGUAGES.index(language), dict[str, str]()
    for file in files("engramlog_server.api").joinpath(*FOLDER).iterdir():
        if file.name.endswith(".js"):
            rows = _ROW.findall(file.read_text("utf-8"))
            found |= {key: json.loads(texts[place]) for key, *texts in rows}
    return found


class PictureWords(NamedTuple):
    """Sentences of a language; `{}` stands for what is told."""

    language: str
    by_every_law: str
    span: str
    normal_from: str
    not_there: str
    thin: str
    as_of: str
    known: str
    law_title: str
    mark_title: str
    marks_title: str
    changes: str
    weights_then: str
    others: str
    curves_told: str
    events_told: str
    no_events: str
    map_of: str
    map_plain: str
    overview: str
    memories: tuple[str, str]
    links_told: tuple[str, str]
    clusters: tuple[str, str]
    truncated: str
    weaker: str
    centre: str
    cluster_title: str
    edge_title: str
    node_title: str
    nothing: str
    withheld_all: str
    unlabelled: str
    unnamed: str
    left_out: str
    nodes_told: str

    def law(self, name: str) -> str:
        """A law's name; in English as commands take it."""
        return name if self.language == "en" else self._named("law", name)

    def kind(self, name: str) -> str:
        """A kind of event; in English as the change log has it."""
        return name.replace("_", " ") if self.language == "en" else self._named("decision", name)

    def link(self, name: str) -> str:
        """A kind of association."""
        return self._named("link", name)

    def _named(self, kind: str, name: str) -> str:
        return console_words(self.language).get(f"{kind}.{name}", name.replace("_", " "))

    @staticmethod
    def several(words: tuple[str, str], number: int) -> str:
        """So many of something."""
        return words[number != 1].format(f"{number:,}")


WORDS: Mapping[str, PictureWords] = {
    "en": PictureWords(
        language="en",
        by_every_law="Weight under every law",
        span="{} – {} UTC",
        normal_from="normal from {}",
        not_there="no weight",
        thin="thin: withheld from normal mode",
        as_of="as of {}",
        known="as known by {}",
        law_title="{}: {} at the end; normal mode from {}",
        mark_title="{}, {} UTC\n{} at {}",
        marks_title="{} x {}, {} – {} UTC",
        changes="{}: {} → {}",
        weights_then="{}: {}",
        others="others",
        curves_told="Curves of its weight from {} to {} UTC. At the end: {}.",
        events_told="Events: {}.",
        no_events="Nothing touched it in this time.",
        map_of="What is known about “{}”",
        map_plain="Map",
        overview="What is known, at a glance",
        memories=("{} memory", "{} memories"),
        links_told=("{} association", "{} associations"),
        clusters=("{} cluster", "{} clusters"),
        truncated="there is more than fits the limit",
        weaker="{} weaker associations are not drawn",
        centre="ringed: best matches",
        cluster_title="Cluster {}: {}",
        edge_title="{} – {}\n{} {}",
        node_title="{}\n{}, weight {}",
        nothing="Nothing is known about this.",
        withheld_all="Nothing is shown about this in this mode.",
        unlabelled="{} of {} have no label for want of room",
        unnamed="{} clusters have no name here for want of room",
        left_out="{} of {} are left out, the lightest",
        nodes_told="The heaviest: {}.",
    ),
    "zh": PictureWords(
        language="zh",
        by_every_law="各条规律下的权重",
        span="{} – {}（UTC）",
        normal_from="{} 起正常显示",
        not_there="无权重",
        thin="细线：正常模式不显示",
        as_of="截至 {}",
        known="按 {} 时所知",
        law_title="{}：最后为 {}；正常模式从 {} 起显示",
        mark_title="{}，{}（UTC）\n{}，位置 {}",
        marks_title="{} × {}，{} – {}（UTC）",
        changes="{}：{} → {}",
        weights_then="{}：{}",
        others="其他",
        curves_told="从 {} 到 {}（UTC）的权重曲线。最后：{}。",
        events_told="事件：{}。",
        no_events="这段时间里没有事件涉及它。",
        map_of="关于“{}”的记忆",
        map_plain="地图",
        overview="记忆概览",
        memories=("{} 条记忆", "{} 条记忆"),
        links_told=("{} 个关联", "{} 个关联"),
        clusters=("{} 个簇", "{} 个簇"),
        truncated="超出上限的没有显示",
        weaker="另有 {} 个较弱的关联未画出",
        centre="带环：最相符",
        cluster_title="簇 {}：{}",
        edge_title="{} – {}\n{} {}",
        node_title="{}\n{}，权重 {}",
        nothing="对此一无所知。",
        withheld_all="此模式下没有可显示的内容。",
        unlabelled="{1} 条中有 {0} 条因位置不够没有标签",
        unnamed="{} 个簇因位置不够没有名称",
        left_out="{1} 条中略去了最轻的 {0} 条",
        nodes_told="权重最高的：{}。",
    ),
}


_VALUES = {"known": "trust", "resolution": "memory.negate.resolution"}
"""Of a reason: whose words a value is told in, where that is not its own name."""


def chinese_reason(reason: str) -> str:
    """A sentence of the folds in Chinese; what has no Chinese here stands as it is."""
    told, words = reason_told(reason), console_words("zh")
    sentence = words.get(f"why.{told.code}")
    if sentence is None:
        return reason
    return sentence.format(
        **{name: words.get(f"{_VALUES.get(name, name)}.{value}", value) for name, value in told.values.items()}
    )
