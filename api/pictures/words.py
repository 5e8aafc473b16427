"""The words of the pictures in English and Chinese; names of laws, events, links and reasons are the console's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from engramlog_server.api.choices import LANGUAGES
from engramlog_server.projections.fold.changelog import reason_told

_ROW = re.compile(r'"([\w.-]+)":\s*\[\s*("(?:[^"\\]|\\.)*"),\s*("(?:[^"\\]|\\.)*"),?\s*\]')
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


SENTENCES: Mapping[str, tuple[str, str]] = {
    "by_every_law": ("Weight under every law", "各条规律下的权重"),
    "span": ("{} – {} UTC", "{} – {}（UTC）"),
    "normal_from": ("normal from {}", "{} 起正常显示"),
    "not_there": ("no weight", "无权重"),
    "thin": ("thin: withheld from normal mode", "细线：正常模式不显示"),
    "as_of": ("as of {}", "截至 {}"),
    "known": ("as known by {}", "按 {} 时所知"),
    "law_title": ("{}: {} at the end; normal mode from {}", "{}：最后为 {}；正常模式从 {} 起显示"),
    "mark_title": ("{}, {} UTC\n{} at {}", "{}，{}（UTC）\n{}，位置 {}"),
    "marks_title": ("{} x {}, {} – {} UTC", "{} × {}，{} – {}（UTC）"),
    "changes": ("{}: {} → {}", "{}：{} → {}"),
    "weights_then": ("{}: {}", "{}：{}"),
    "others": ("others", "其他"),
    "curves_told": (
        "Curves of its weight from {} to {} UTC. At the end: {}.",
        "从 {} 到 {}（UTC）的权重曲线。最后：{}。",
    ),
    "events_told": ("Events: {}.", "事件：{}。"),
    "no_events": ("Nothing touched it in this time.", "这段时间里没有事件涉及它。"),
    "map_of": ("Memories about “{}”", "关于“{}”的记忆"),
    "map_plain": ("Map", "地图"),
    "overview": ("Overview of memories", "记忆概览"),
    "memory": ("{} memory", "{} 条记忆"),
    "memories": ("{} memories", "{} 条记忆"),
    "association": ("{} association", "{} 个关联"),
    "associations": ("{} associations", "{} 个关联"),
    "cluster": ("{} cluster", "{} 个簇"),
    "clusters": ("{} clusters", "{} 个簇"),
    "truncated": ("there is more than fits the limit", "超出上限的没有显示"),
    "weaker": ("{} weaker associations are not drawn", "另有 {} 个较弱的关联未画出"),
    "centre": ("ringed: best matches", "带环：最相符"),
    "cluster_title": ("Cluster {}: {}", "簇 {}：{}"),
    "edge_title": ("{} – {}\n{} {}", "{} – {}\n{} {}"),
    "node_title": ("{}\n{}, weight {}", "{}\n{}，权重 {}"),
    "nothing": ("Nothing is known about this.", "对此一无所知。"),
    "withheld_all": ("Nothing is shown about this in this mode.", "此模式下没有可显示的内容。"),
    "unlabelled": ("{} of {} have no label for want of room", "{1} 条中有 {0} 条因位置不够没有标签"),
    "unnamed": ("{} clusters have no name here for want of room", "{} 个簇因位置不够没有名称"),
    "left_out": ("{} of {} are left out, the lightest", "{1} 条中略去了最轻的 {0} 条"),
    "nodes_told": ("The heaviest: {}.", "权重最高的：{}。"),
}
"""By their names, in both languages; `{}` stands for what is told."""


class PictureWords:
    """The words of a language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._place = LANGUAGES.index(language)

    def told(self, name: str, *values: object) -> str:
        """One of `SENTENCES`."""
        return SENTENCES[name][self._place].format(*values)

    def counted(self, one: str, several: str, number: int) -> str:
        """So many of something."""
        return self.told(one if number == 1 else several, f"{number:,}")

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
