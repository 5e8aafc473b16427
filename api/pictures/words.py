"""The words of the pictures in English and Chinese. Names that have no Chinese one here stand as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

_LAWS = {"weighted": "加权", "ebbinghaus": "艾宾浩斯", "consolidating": "巩固", "tiered": "分层"}
_KINDS = {
    "create": "产生",
    "mention": "提到",
    "reinforce": "加强",
    "access": "读取",
    "negate": "否定",
    "reaffirm": "重新肯定",
    "revise": "改写",
    "merge": "合并",
    "unmerge": "撤销合并",
    "compress": "压缩",
    "promote": "提升",
    "keep": "保留",
    "restore": "恢复",
    "delete": "删除",
    "purge": "清除",
    "erase": "永久擦除",
    "link": "关联",
    "review": "复习",
    "parameters": "改变参数",
    "sensitivity": "敏感级别",
    "ground": "依据变化",
    "reject": "拒绝",
    "readmit": "重新接受",
    "set_aside": "搁置来源",
    "bring_back": "恢复来源",
}
_LINKS = {
    "keyword": "关键词",
    "co-task": "同一任务",
    "temporal": "时间相近",
    "related": "已说明相关",
    "co-hit": "一起被想起",
    "meaning": "意思相近",
}
_LINKS_EN = {
    "keyword": "keywords",
    "co-task": "same task",
    "temporal": "near in time",
    "related": "told as related",
    "co-hit": "recalled together",
    "meaning": "alike in meaning",
}


class PictureWords(NamedTuple):
    """Sentences of a language; `{}` stands for what is told."""

    laws: Mapping[str, str]
    kinds: Mapping[str, str]
    links: Mapping[str, str]
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
    no_links: str
    nothing: str
    withheld_all: str
    unlabelled: str
    unnamed: str
    left_out: str
    nodes_told: str

    def law(self, name: str) -> str:
        """A law's name."""
        return self.laws.get(name, name)

    def kind(self, name: str) -> str:
        """A kind of event."""
        return self.kinds.get(name, name.replace("_", " "))

    def link(self, name: str) -> str:
        """A kind of association."""
        return self.links.get(name, name.replace("_", " "))

    @staticmethod
    def several(words: tuple[str, str], number: int) -> str:
        """So many of something."""
        return words[number != 1].format(f"{number:,}")


WORDS: Mapping[str, PictureWords] = {
    "en": PictureWords(
        laws={},
        kinds={},
        links=_LINKS_EN,
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
        no_links="no associations between them",
        nothing="Nothing is known about this.",
        withheld_all="Nothing is shown about this in this mode.",
        unlabelled="{} of {} have no label for want of room",
        unnamed="{} clusters have no name here for want of room",
        left_out="{} of {} are left out, the lightest",
        nodes_told="The heaviest: {}.",
    ),
    "zh": PictureWords(
        laws=_LAWS,
        kinds=_KINDS,
        links=_LINKS,
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
        no_links="它们之间没有关联",
        nothing="对此一无所知。",
        withheld_all="此模式下没有可显示的内容。",
        unlabelled="{1} 条中有 {0} 条因位置不够没有标签",
        unnamed="{} 个簇因位置不够没有名称",
        left_out="{1} 条中略去了最轻的 {0} 条",
        nodes_told="权重最高的：{}。",
    ),
}
