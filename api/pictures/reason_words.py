"""Why, in Chinese: what a mark of a curve says of its event. The English is the service's own (`projections/fold/reasons.py`).

The console has the same sentences, and more, in `words/reasons.js`; a test holds both to each other.
"""

from __future__ import annotations

from collections.abc import Mapping

from projections.fold.reasons import reason_told

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
