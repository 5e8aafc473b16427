"""The words of the pictures in English and Chinese. Names that have no Chinese one here stand as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engramlog_server.projections.fold.reasons import reason_told

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
        nothing="对此一无所知。",
        withheld_all="此模式下没有可显示的内容。",
        unlabelled="{1} 条中有 {0} 条因位置不够没有标签",
        unnamed="{} 个簇因位置不够没有名称",
        left_out="{1} 条中略去了最轻的 {0} 条",
        nodes_told="权重最高的：{}。",
    ),
}


_CHINESE: Mapping[str, str] = {
    "created": "新的记忆",
    "mentioned": "再次提及",
    "mentioned_often": "一天之内频繁提及",
    "said_again": "用户再次这样说",
    "mentioned_queue_full": "再次提及；已有 {most} 项对它的更改待人处理，达到上限",
    "reaffirmation_waits": "用户曾否定它：是否重新成立，待其本人确认",
    "revised": "内容的新版本",
    "level": "层级：{level}",
    "deleted_by_user": "由人删除",
    "deleted_by_cleanup": "自动清理",
    "deletion_undone": "撤销了删除",
    "purged_in_time": "删除后保留期已满",
    "erased_for_good": "其内容已永久擦除",
    "negated": "已否定，方式：{resolution}",
    "negated_before_said": "否定早于用户最近一次这样说",
    "merged_from": "由 {count} 条记忆合并",
    "merged_into": "合并到 {memory}",
    "came_back": "其来源已恢复",
    "back_from": "从 {memory} 恢复",
    "outcome_cooling": "结果：{outcome}；不增强：仍在上次的冷却期内",
    "outcome_limited": "结果：{outcome}；不增强：已达到一天的上限",
    "outcome": "结果：{outcome}",
    "graded": "复习评分 {grade}",
    "tier_without_ground": "等级：{tier}；没有依据，不会出现在每个提示中",
    "tier": "等级：{tier}",
    "kept_tier": "评审者维持其等级",
    "kept": "评审者予以保留",
    "kept_back_to_threshold": "评审者予以保留：重要性回到评审阈值",
    "kept_tier_by": "{actor}维持其等级",
    "kept_by_back_to_threshold": "{actor}予以保留：重要性回到评审阈值",
    "kept_by": "{actor}予以保留",
    "sensitivity_by_hand": "敏感度 {level}，人工设定（此前为 {before}）",
    "sensitivity_by_rules": "敏感度 {level}，由规则 {rules} 判定（此前为 {before}）",
    "possible_conflict": "可能的冲突",
    "linked": "关联：{link}",
    "backs_triple": "支持一个三元组",
    "backs_triple_no_more": "不再支持一个三元组",
    "ground_changed": "其依据已改变",
    "ground_same": "其依据与所述一致",
    "waits": "待人处理：来者为{trust}，而它为{known}",
    "accepted": "已接受",
    "edited": "已编辑",
    "rejected": "已拒绝",
    "value_rejected": "其所述被拒绝",
    "value_readmitted": "其所述仍然成立",
    "source_withheld": "该来源所说的内容被隐藏",
    "source_counts": "该来源所说的内容重新计入",
    "revealed": "有人要求查看原文：{by}，{face}",
    "named": "{event} 提到它",
    "profile": "所有者从此采用的定律",
    "parameters": "所有者从此采用的参数",
    "parameters_but_promotion": "所有者从此采用的参数，晋升参数除外：只有操作员能更改",
    "alike": "从此在所有者的搜索中，两个词视为相近",
    "not_alike": "从此在所有者的搜索中，两个词不是同义词",
    "read": "{by} 已读取 {count} 个轮次",
    "dropped": "{position} 曾被搁置，现由{actor}丢弃",
}
_VALUES: Mapping[str, Mapping[str, str]] = {
    "level": {"full": "完整", "summary": "摘要", "tag": "标签", "trace": "痕迹", "archive": "归档"},
    "tier": {"system": "系统", "core": "核心", "fact": "事实", "episode": "情景"},
    "outcome": {"used": "已使用", "task_success": "任务成功", "task_failure": "任务失败", "manual_review": "人工查看"},
    "resolution": {"latest_wins": "以最新为准", "version_keep": "保留两个版本", "weight_balance": "按权重平衡"},
    "actor": {"user": "用户", "assistant": "助手", "judge": "判定者", "system": "系统", "operator": "操作员"},
}
_TRUSTS: Mapping[str, str] = {
    "asserted": "本人陈述",
    "inferred": "推断",
    "imported": "导入",
    "proposed": "提议",
    "disputed": "有争议",
    "rejected": "已拒绝",
}


def chinese_reason(reason: str) -> str:
    """A sentence of the folds in Chinese; what has no Chinese here stands as it is."""
    told = reason_told(reason)
    sentence = None if told.code is None else _CHINESE.get(told.code)
    if sentence is None:
        return reason
    words = {"trust": _TRUSTS, "known": _TRUSTS, **_VALUES}
    return sentence.format(**{name: words.get(name, {}).get(value, value) for name, value in told.values.items()})
