"""The ways in which Chinese states something in the first person: one rule each, tried in order. Word lists, no model.

First come rules with a class of their own (`_TYPED`). Then general shapes (`_GENERAL`): the subject is 我 or one of one's people;
V了 and V过 mark what happened, 将 and 即将 what is to come, 在V what is going on, 每 how one lives, 是 and 在 with a place or a
trade who one is. Verbs of thinking, feeling and saying state nothing that lasts. Then who one is by trade, year, sex or standing,
what one is not or has not done yet, what one seldom does, and what one is going to begin (`_FURTHER`).

`chinese_clauses` cuts a text into clauses; `chinese_statement` gives what one states, about the user or a named person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.shape import (
    Clause,
    ExtractedStatement,
    ExtractionRule,
    StatedTriple,
    TurnText,
)
from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.patterns import HAN, regex
from engramlog_server.projections.language.similar import polarity, speaks_from_its_day
from engramlog_server.projections.language.times.bounds import limited_to, of_another_time, set_in

_NUMERAL = "(?:\\d{1,2}|[一二三四五六七八九十]{1,3})"
_SELF = "(?:我(?:本人|自己|个人)?)"
_AT_TIMES = (
    "(?:今天|昨天|前天|明天|后天|最近|近来|上周末?|上个?月|去年|今年|明年|下周末?|下个?月|这周末?|周末"
    "|周[一二三四五六日]|晚上|早上|今晚|昨晚"
    "|刚才|刚刚|刚(?!刚)|现在|目前|已经|之前|以前|曾经|平时|有时候?|经常|常常|每天|每周|通常|一般|一直|早就|终于|正在"
    "|也|还|又|都|就|才|真的|其实|基本上|主要|早上|下午|中午|傍晚|\\d+月\\d+[日号])"
)
_WITH_OTHERS = "(?:(?:和|跟|与|同)[^，。]{1,12}?(?:一起|一块儿?)?|独自|一个人)?"
_VERY = (
    "(?:最近|最|只|就|很|非常|特别|十分|比较|超级?|挺|真的|尤其|更|也|还|都|一直|从小|向来|其实|确实|主要|一般"
    "|通常|平时|蛮|相当){0,4}"
)
_DID = (
    "(?:去了|参加了|参观了|参观|买了|看了|读了|吃了|学了|学会了|学到了|做了|开始了?|完成了|报名了?|报了|搬到了?"
    "|搬家到|养了|尝试了|试了|遇到了|认识了"
    "|换了|辞了|辞掉了|失去了|毕业于|毕业了|加入了|获得了|赢了|拿到了|收到了|画了|写了|弹了|打了|拍了|听了|玩了"
    "|跑了|爬了|订了|预订了|约了|见了|"
    "丢了|被[^，。]{2,12}(?:了)|经历了|通过了|考上了|考了|考过了|举办了|发表了|创作了|制作了|领养了|结束了|取得了"
    "|拜访了|游览了|品尝了|处理了|送了)"
)


def _pet() -> str:
    return f"(?:只|条|个|匹|头)?[^，。]{{0,6}}(?:{either(words('pets', 'chinese'))})"


def _job() -> str:
    return f"(?:[^，。的]{{0,10}}(?:{either(words('jobs', 'chinese'))}))"


def _surname() -> str:
    return f"[{''.join(words('surnames', 'chinese'))}]"


_TYPED: tuple[ExtractionRule, ...] = (
    ExtractionRule(lambda: f"我是(?P<object>{_surname()}[{HAN}]{{1,2}}(?<!人))$", "identity", "fact", 0.8, "名字", loose=True),
    ExtractionRule(
        "(?:我叫|我的名字(?:是|叫)|叫我|我名叫|我姓名是)(?P<object>[^，。！？\\s的吧就]{1,12})(?:就行|就好|吧)?$",
        "identity", "fact", 0.9, "名字", loose=True),
    ExtractionRule(
        f"{_SELF}(?:今年|现在|已经|刚满|刚|快|也|才|都|就){{0,4}}(?P<object>[\\d一二三四五六七八九十两]{{1,4}}岁)(?:半)?了?$",
        "identity", "fact", 0.85, "年龄", loose=True),
    ExtractionRule(
        "(?:我的生日(?:是|在)|我(?:出生于|生于|出生在))(?P<object>[^，。]{2,20}?)$|我是(?:在)?"
        "(?P<object2>[^，。]{2,20}?)出生的?$",
        "identity", "fact", 0.85, "出生", loose=True),
    ExtractionRule(
        f"{_SELF}(?:现在|目前|一直|平时)?(?:住在|居住在|定居在?|生活在)(?P<object>[^，。]{{2,20}})$"
        f"|{_SELF}(?:最近|刚刚|刚(?!刚)|已经|上个?月|去年|今年|上周){{0,4}}搬家?[到去]了?(?P<object2>[^，。了]{{2,20}})了?$",
        "identity", "fact", 0.85, "住在", loose=True),
    ExtractionRule(
        f"{_SELF}(?:来自|老家(?:是|在)|的(?:老家|家乡)(?:是|在))(?P<object>[^，。]{{2,20}})$|{_SELF}是"
        f"(?P<object2>(?!地球|火星|外星)[^，。的]{{2,8}}人)$",
        "identity", "fact", 0.85, "来自", loose=True),
    ExtractionRule(
        lambda: f"{_SELF}(?:是|现在是|目前是|(?:现在|目前|一直)?在[做当])(?:一名|一位|一个|个|名|位)?(?P<object>{_job()})$",
        "identity", "fact", 0.85, "是", loose=True),
    ExtractionRule(
        f"{_SELF}的(?:职业|工作|专业)(?:是|为)(?P<object>[^，。]{{2,20}})$|{_SELF}(?:是)?学(?P<object2>[^，。]{{2,8}}专业)的?$",
        "identity", "fact", 0.85, "职业", loose=True),
    ExtractionRule(
        f"{_SELF}(?:现在|目前|一直|正)?在(?P<object>(?![找换忙干]|做(?:我|自己))[^，。]{{2,20}}?(?:工作|上班|上学|读书|读研|读博|任教|实习"
        f"|当[^，。]{{2,6}}))(?:了[^，。]{{1,6}}年)?$",
        "identity", "fact", 0.8, "在", loose=True),
    ExtractionRule(
        f"{_SELF}(?:已经|刚|现在|目前|去年|今年){{0,4}}(?P<object>结婚|离婚|订婚|单身|怀孕|退休|失业)了?$",
        "identity", "fact", 0.85, "是", loose=True),
    ExtractionRule(f"{_SELF}对(?P<object>[^，。]{{1,12}})过敏$", "identity", "fact", 0.9, "过敏", loose=True),
    ExtractionRule(
        f"{_SELF}(?:有|患有|得了|被诊断(?:为|出|患有))(?P<object>[^，。]{{0,6}}(?:糖尿病|高血压|哮喘|抑郁症|焦虑症"
        "|失眠症?|心脏病|胃病|癌症|鼻炎|近视))$",
        "identity", "fact", 0.85, "患有", loose=True),
    ExtractionRule(
        lambda: f"{_SELF}(?:家里?)?(?:现在|还)?有(?P<object>[一二两三四五几\\d]?(?:个|位|名)?[^，。有没]{{0,4}}{kin.chinese()})$",
        "identity", "fact", 0.85, "有", loose=True),
    ExtractionRule(
        lambda: f"{_SELF}(?:家里?|们家)?(?:最近|刚|现在)?(?:有|养了?|领养了)(?P<object>[一二两三四五\\d]{_pet()}"
        f"(?:[^，。]{{0,12}}))$",
        "fact", "fact", 0.85, "有", loose=True),
    ExtractionRule(
        f"{_SELF}{_VERY}(?:喜欢|爱|热爱|欣赏|感兴趣)的(?P<slot>[^，。是]{{1,12}}?)(?:就|还|一直)?是(?P<object>[^，。]{{1,30}})$",
        "stable_preference", "user_preference", 0.85, "最喜欢的", loose=True),
    ExtractionRule(
        f"{_SELF}(?:不是|并非)(?P<not>[^，。]{{1,15}})，?而是(?P<object>[^，。]{{1,20}})$",
        "identity", "fact", 0.8, "是", loose=True),
    ExtractionRule(
        f"{_SELF}{_VERY}(?:不再|已经不|现在不|不)(?:怎么|太|大|那么|是很)?(?:喜欢|爱|想|吃|喝|抽|玩|看|用|去|做)"
        f"(?P<object>[^，。]{{1,20}}?)了$",
        "stable_preference", "user_preference", 0.85, "喜欢", True, loose=True),
    ExtractionRule(
        f"{_SELF}{_VERY}(?:不再|不)(?:怎么|太|大|是很|那么)?(?:喜欢|爱吃|爱喝|爱看|爱)(?P<object>[^，。]{{1,25}})$"
        f"|{_SELF}{_VERY}(?:讨厌|厌恶|反感|受不了|害怕|最怕)(?P<object2>[^，。]{{1,25}})$",
        "stable_preference", "user_preference", 0.85, "喜欢", True, loose=True),
    ExtractionRule(
        f"{_SELF}(?:现在|目前)?{_VERY}(?:(?:还是|仍然|依然|仍旧|依旧|又){_VERY})?(?:喜欢|喜爱|热爱|爱吃|爱喝|爱看|爱听|爱玩|爱好|钟爱|偏爱|酷爱|着迷于|沉迷于|迷上了)"
        f"(?P<object>[^，。]{{1,40}})$",
        "stable_preference", "user_preference", 0.8, "喜欢", loose=True),
    ExtractionRule(
        f"{_SELF}{_VERY}对(?P<object>[^，。]{{1,20}}?)(?:很|非常|特别|比较|十分|真的){{0,4}}(?:感兴趣|有兴趣|着迷"
        "|情有独钟)$",
        "stable_preference", "user_preference", 0.8, "喜欢", loose=True),
    ExtractionRule(
        f"{_SELF}的(?:兴趣爱好|爱好|兴趣|业余爱好)(?:就?是|包括|有|主要是)(?P<object>[^，。]{{1,40}})$",
        "stable_preference", "user_preference", 0.85, "喜欢", loose=True),
    ExtractionRule(
        f"{_SELF}是(?:个|一个)?(?P<object>[^，。]{{1,15}}(?:迷|粉丝|爱好者|球迷|影迷|控))$",
        "stable_preference", "user_preference", 0.8, "是", loose=True),
    ExtractionRule(
        f"{_SELF}(?:平时|通常|一般|更|比较|还是){{0,4}}(?:偏好|倾向于?|习惯(?:了|于)?)(?P<object>[^，。]{{2,30}})$",
        "stable_preference", "user_preference", 0.75, "偏好"),
    ExtractionRule(
        f"{_SELF}(?:也|还)?(?:会|能)(?P<object>(?:说|讲|弹|拉|吹|唱|跳|游泳|编程|写代码|做饭|做菜|开车|滑雪|下棋"
        f"|画画)[^，。去看试]{{0,12}})$|{_SELF}(?:比较|很|非常|特别|最){{0,4}}(?:擅长|精通|熟悉|拿手)"
        f"(?P<object2>[^，。]{{2,20}})$",
        "skill", "fact", 0.8, "会", loose=True),
    ExtractionRule(
        f"{_SELF}(?P<object>(?:学|练|练习|学习|从事|打|弹)[^，。]{{1,12}}(?:已经)?"
        "(?:有)?[\\d一二两三四五六七八九十几多半]+(?:多)?(?:年|个月)(?:多|了)?)$",
        "skill", "fact", 0.8),
    ExtractionRule(
        f"{_SELF}{_AT_TIMES}{{0,5}}(?P<object>决定(?:了|要)?[^，。]{{3,30}})$|{_SELF}{_AT_TIMES}{{0,5}}"
        f"(?P<object2>选择了[^，。]{{2,30}})$",
        "fact", "decision", 0.8),
    ExtractionRule(
        f"(?:{_AT_TIMES}{{0,5}}{_SELF}|{_AT_TIMES}{{1,5}}){_AT_TIMES}{{0,5}}(?P<object>(?:打算|计划|准备|预计|约好了?|安排了?|即将|马上要)(?:在"
        f"|要|去|和|跟)?[^，。]{{3,35}})$",
        "temporary", "plan", 0.75),
    ExtractionRule(
        f"{_SELF}{_AT_TIMES}{{0,5}}(?P<object>(?:明天|后天|下周|下个月|周末|明年|今晚|暑假|寒假|国庆)[^，。]{{0,4}}(?:要|会"
        f"|将)[^，。]{{2,30}})$|(?:大?后天|明[天早晚]|[这本下]个?(?:周|星期|礼拜)"
        f"[一二三四五六日天末]?|(?:[这本下]个?月|{_NUMERAL}月){_NUMERAL}[号日]|下个?月|周[一二三四五六日])"
        f"(?:早上|上午|中午|下午|晚上)?我(?P<object2>(?:要|会|将|得)[^，。]{{2,30}})$",
        "temporary", "plan", 0.75),
    ExtractionRule(
        f"{_SELF}(?P<object>(?:去|到|飞|回)[^，。我你]{{1,10}}的(?:火车|高铁|动车|飞机|航班|大巴|船)(?:是|在)?[^，。]{{0,4}}?(?:{_NUMERAL}月|{_NUMERAL}[日号]"
        "|[这本下]?(?:个?(?:周|星期|礼拜))[一二三四五六日天末]|明[天早晚]|后天|今[天晚])[^，。你吗]{0,14})$",
        "temporary", "plan", 0.75, loose=True),
    ExtractionRule(
        f"{_SELF}{_AT_TIMES}{{0,3}}(?P<object>(?:改|转|调|跳槽)?(?:去|到|进)(?!年)[^，。你他她]{{2,16}}?(?:上班|工作|教书|任教|坐办公室|读书|读研|[当做][^，。了]{{2,6}}))了$",
        "fact", "fact", 0.75, loose=True),
    ExtractionRule(
        f"{_SELF}{_AT_TIMES}{{0,3}}(?P<object>把[^，。你他她它这那]{{1,12}}(?:退|卖|停|关|转让|送人|辞|戒|租出去|租给[^，。]{{1,8}})掉?了)$",
        "fact", "fact", 0.75, loose=True),
    ExtractionRule(
        f"{_SELF}{_AT_TIMES}{{0,5}}(?P<object>(?:一直|很|特别|非常)?(?:想要?|希望|梦想)(?:能)?(?:去|学|学习|买|成为|当|考|开"
        f"|养|写)(?!一?下|看看)[^，。]{{2,25}})$",
        "short_term_preference", "plan", 0.65),
    ExtractionRule(
        f"(?:{_AT_TIMES}{{0,5}}{_SELF}|{_AT_TIMES}{{1,5}}){_AT_TIMES}{{0,5}}{_WITH_OTHERS}(?:也|还)?(?P<object>{_DID}[^，。]{{2,40}})$",
        "fact", "fact", 0.7),
    ExtractionRule(
        f"(?:{_AT_TIMES}{{0,5}}{_SELF}|{_AT_TIMES}{{1,5}}){_AT_TIMES}{{0,5}}(?P<object>(?:正在|在|正)(?:学习?|读|看|写|做|准备|练习?|练|忙|研究"
        f"|找|追)[^，。]{{2,30}})$",
        "temporary", "fact", 0.7),
    ExtractionRule(
        f"{_SELF}(?P<object>(?:经常|常常?|每天|每周|每个?月|平时|通常|一般)(?:都|会){{0,4}}[^，。]{{3,30}})$",
        "stable_preference", "fact", 0.75),
)  # fmt: skip

TIME = (
    "(?:(?:今天|昨天|前天|前几天|那天|今早|今晚|昨晚|刚才|刚刚|最近|近来|上次|这次|去年|前年|今年|(?:上|这|本)个?(?:周|星期|礼拜|月|学期|季度)"
    "[一二三四五六日天末]?|周[一二三四五六日末]|星期[一二三四五六日天]|[\\d一二三四五六七八九十两几]+(?:年|个月|天|周)(?:以?前)|\\d{4}年|\\d{1,2}月(?:\\d{1,2}[日号])?"
    "|[春夏秋冬](?:天|季)(?:的?时候)?|[上下]半年|(?:年|月)[初底]|国庆|春节|五一|暑假|寒假|假期)(?:的?(?:早上|上午|中午|下午|傍晚|晚上|夜里|凌晨))?|(?:早上|上午|中午|下午|傍晚|晚上))"
)
"""A time that may stand before or behind the subject."""
ADVERB = "(?:已经|刚刚?|终于|又|也|还|都|就|才|先后?|一共|总共|曾经?|其实|真的|后来|特意|亲手|亲自|第一次|成功|顺利|再次|专门)"
_NAMED = "(?:《[^》]{1,30}》|(?:名?叫做?|名字[叫是]|名为)[^，。]{1,16})"
"""The name of the thing before it."""
_AND = "(?:(?:和|跟|与|同)[^，。]{1,10}?(?:一起|一块儿?)?|独自|一个人|自己|[给在从向为到去][^，。了]{1,10}?)?"
_NO_DEED = (
    "[我你他她]|觉得?|感|知|认为?|以为?|说|问|听说|想|变|成为?|当|怕|忘|懂|明白|习惯|喜欢|爱上?|讨厌|看[到见]|发现|意识|除|为|算|够|好|坏|累|困|饿|病|老|胖|瘦"
    "|对|错|到时|受够|差|完|行|来|走|起|等|随|随便|答应|忘记|记得|告诉|回答|理解|了解|熟悉|希望|担心|后悔|生气|高兴|开心|难过|失望|跟|有|没|不|是|像|至|经"
)
_DEED = f"(?!{_NO_DEED})[{HAN}]{{1,3}}?(?:了|过|到了|完了|掉了|上了)"
SELF = f"(?:{TIME}|{ADVERB}){{0,3}}我(?:自己|本人|们?家)?(?:{TIME}|{ADVERB}){{0,4}}"
"""Of times and adverbs a few are enough: they fit in more than one way, so that more would take time without bound."""
_NUMBER = "[\\d.一二三四五六七八九十百两零半几]"
_INSTRUMENTS = "吉他|钢琴|小提琴|大提琴|古筝|二胡|琵琶|尤克里里|笛子|架子鼓|口琴|萨克斯|电子琴|贝斯|葫芦丝"
_TONGUES = (
    "英语|英文|日语|日文|法语|德语|韩语|俄语|西班牙语|意大利语|粤语|上海话|四川话|闽南语|普通话|手语|阿拉伯语|葡萄牙语"
)
_CAN = (
    f"(?:(?:弹|拉|吹|打|说|讲|写|做|画|跳|唱|下|修|开|织|用|玩|包)[^，。、和]{{1,8}}|{_INSTRUMENTS}|{_TONGUES}|画画|书法|唱歌|跳舞|游泳|编程"
    "|做饭|烹饪|开车|滑雪|滑冰|摄影|剪辑|轮滑|骑马|瑜伽|太极拳?|武术|下棋|围棋|象棋|PS|Python|Java)"
)


def _places() -> str:
    """Places that are known, as alternatives."""
    return f"(?:{either(words('places', 'chinese'))})(?:市|省|这边|那边)?"


def one_of_ours() -> str:
    """One of one's people or animals."""
    return (
        f"(?:{kin.chinese()}|室友|舍友|同桌|邻居|老师|导师|朋友|闺蜜|同事|同学|老板|领导|上司|房东"
        "|(?:家的?)?(?:猫|狗|猫咪|狗狗|宠物))"
    )


def _one_of_mine() -> str:
    return f"(?:(?!自己)[^，。的我和跟与同]{{0,3}}(?:的)?{one_of_ours()})"


def _jobs() -> str:
    """What somebody is by work or by standing, as alternatives."""
    return f"(?:{either(words('jobs', 'chinese'))})"


_GENERAL: tuple[ExtractionRule, ...] = (
    ExtractionRule(
        lambda: f"{SELF}(?:现在|目前|一直|正){{0,2}}在(?P<object>{_places()}(?:[{HAN}]{{0,6}}区)?)(?:的|呢|住|生活|定居)?$",
        "identity", "fact", 0.8, "在", loose=True),
    ExtractionRule(lambda: f"{SELF}是(?P<object>{_places()})的$", "identity", "fact", 0.8, "来自", loose=True),
    ExtractionRule(
        f"{SELF}(?:现在|目前|一直){{0,2}}是(?P<object>(?:做|搞|干|教|学|卖|开|跑|写|画|从事)[^，。的是]{{1,10}}|当[^，。的是]{{1,6}})的$",
        "identity", "fact", 0.8, loose=True),
    ExtractionRule(
        lambda: f"{SELF}(?:现在|目前|以后)?是(?:一?[名位个])?(?P<object>[^，。的是]{{0,10}}{_jobs()})$",
        "identity", "fact", 0.8, "是", loose=True),
    ExtractionRule(
        f"{SELF}(?:的)?(?P<object>(?:身高|体重|血型|星座|鞋码|工资|月薪|年薪)(?:是|有|大概)?[^，。你吗]{{1,12}})$",
        "identity", "fact", 0.85, loose=True),
    ExtractionRule(
        f"{SELF}(?P<object>在[^，。]{{2,20}}?(?:工作|上班|上学|读书|任教|生活|住)了[^，。]{{1,6}}(?:年|个?月))$",
        "identity", "fact", 0.8, loose=True),
    ExtractionRule(
        f"{SELF}(?:会|能)(?:一点点?|点|些)?(?P<object>{_CAN}(?:(?:、|和|以及|，还会|还有){_CAN}){{0,6}})$",
        "skill", "fact", 0.8, "会", loose=True),
    ExtractionRule(
        lambda: (
            f"(?:{TIME}){{0,3}}我的?(?P<who>{_one_of_mine()})(?:[^，。我你他她的是说问想让叫觉认以]{{0,3}})?(?P<object>(?:今年|现在|最近|目前|也|都|刚|已经|一直|特别|很|非常|平时|每天|经常|总是|老是){{0,4}}"
            f"(?:(?:是|有|会|在(?![打看吃睡玩做忙等听洗干说想])|叫(?![我你他她人])|姓|住|做|开|教|学|养|爱|喜欢|讨厌|收集|从事|身高|体重|属|搬|考|送|给我)[^，。]{{1,24}}"
            f"|(?:毕业|退休|去世|结婚|怀孕|生病|住院|{_NUMBER}{{1,3}}岁|对[^，。]{{1,10}}过敏)[^，。]{{0,20}}|{_DEED}[^，。]{{1,24}}))$"
        ),
        "fact", "fact", 0.75, loose=True),
    ExtractionRule(
        f"{SELF}(?P<object>(?:将要|将会|将(?=[参去到在于开举搬入成担尝])|即将|马上就?要|快要|正?准备|打算|计划)(?!说|问|是|有)[^，。]{{2,30}})$",
        "temporary", "plan", 0.75),
    ExtractionRule(
        f"{SELF}(?P<object>(?:(?:几乎|基本上?)?每(?:天|晚|周|月|年|早|次|个?(?:周末|月|星期|礼拜|早晨|晚上))|天天|一周{_NUMBER}+次|一天)"
        "[^，。你吗]{3,30})$",
        "stable_preference", "fact", 0.75, loose=True),
    ExtractionRule(
        "(?P<object>[^，。我你他她它这那]{2,8}每(?:[隔逢][^，。]{1,5}|个?[天周月年][^，。我]{0,6}?)[^，。我你]{0,8}我[^，。]{1,12})$",
        "stable_preference", "fact", 0.7, loose=True),
    ExtractionRule(
        f"{SELF}{_AND}(?P<object>(?:去|来|出去|回|跑去)?{_DEED}[^，。了]{{2,40}}(?:了)?(?:，{_NAMED})?)$",
        "fact", "fact", 0.65),
)  # fmt: skip
_ELIDED = regex(
    "(?:现在|目前|平时|最近|已经|也|还|每天|经常|不?喜欢|讨厌|会[弹说做唱跳画]|住在|毕业于|来自|正在|在(?!说|想|吗)|身高|今年|打算|计划|从事|养了?|有[一两三]|今天|昨天|后来|不[吃喝抽])"
)
"""A clause that goes on about the subject of the one before."""
_HAS_ONE = regex(lambda: f"^我(?:还|也)?有(?:一?[个位名])?(?P<who>{kin.chinese()})$")
_SUBJECT = regex(lambda: f"^[^，。我你他她它]{{0,6}}我(?P<who>的?(?:{_one_of_mine()}))?")
"""The subject of a clause: its speaker, or one of their people."""


def _with_subject(piece: str, subject: str) -> str:
    """The clause with its omitted subject put back; `subject` is 我, or one of the speaker's people."""
    return f"{subject}{piece}" if subject and _ELIDED.match(piece) else piece


def _subject_of(piece: str) -> str:
    """Of whom a clause speaks: 我, 我爸爸; else an empty string."""
    found = _HAS_ONE.match(piece) or _SUBJECT.match(piece)
    return "" if found is None else f"我{found['who'] or ''}"


_NOW = "(?:(?:现在|目前|今年|平时|一直|已经|也|才|都|就|还|刚|只|其实|当然|可|真的?){0,3})"
_SELF_NOW = f"(?:{TIME}){{0,2}}我{_NOW}"
_STUDENT = "(?:上学|读书|上大学|读大学|读研究?生?|读博士?|上高中|上初中|实习|考研|待业|创业)"

_BEGUN = (
    "(?:运动|健身|锻炼|减肥|减脂|跑步|练|学|上[班学课]|工作|读研|读博|读书|考|找工作|备考|写|存钱|攒钱"
    "|戒|培训|实习|创业|装修|早起|养|治疗|复习)"
)
"""What one begins on purpose, and goes on with."""
_OUTWARD = (
    "(?!吃(?:亏|醋|苦|惊|瘪|香|力|闭门羹|软|硬|老本)|看(?:错|走眼|见|不|得|开|破|穿|透|轻|重|上|好)|打(?:扰|断|听|算|搅|折扣"
    "|退堂鼓|动)"
    "|出(?:错|现|丑|事|差错|风头|头|面|卖)|听(?:说|话|从|见|信)|买账|喝倒?彩|读懂|写错|玩(?:弄|笑|命)|穿帮|用(?:心|力|到)"
    "|坐(?:享|视|以)|去(?:想|管|计较|在乎|怀疑|关心|争|考虑|打听|评价|责怪|说|问))"
)
"""No figure of speech: 吃亏 eats nothing."""

_WHO = (
    "是(?:(?:(?:一?[个名位])?(?:女的|男的|[男女](?:生|人|孩子?|士)|本地人|外地人|独生(?:子女?|女)))"
    f"|[{HAN}]{{2,8}}(?:行业|专业|公司)的?|(?:\\d{{2}}|\\d{{4}}|[〇零一二三四五六七八九]{{2,4}})年(?:出生)?的)"
    "|(?:是|读|上|在读|念)?(?:大[一二三四五]|研[一二三]|博[一二三]|高[一二三]|初[一二三]|[小大]学[一二三四五六]年级)(?:的|了|的?学生)?"
    f"|在[{HAN}]{{2,6}}行业|(?:做|学|教|干|卖|开|读|从事)的?是(?!自己|什么|一?个?[人事]|[^，。]{{0,6}}(?:梦|饭|菜|题|作业|事情?"
    "|功课?|善|错|对))[^，。你我吗]{1,15}[^，。你我吗的]"
    "|没有?(?:毕业|结婚|工作过|成年|退休|生孩子|谈过恋爱|谈恋爱|女朋友|男朋友|对象|孩子|兄弟姐妹)"
    f"|(?:还)?在{_STUDENT}的?|(?:快|刚满|刚)?[1-9]\\d了?"
)
"""Trade, year of birth, sex or civil status of the speaker."""

_FURTHER: tuple[ExtractionRule, ...] = (
    ExtractionRule(f"{_SELF_NOW}(?P<object>{_WHO})$", "identity", "fact", 0.8, loose=True),
    ExtractionRule(
        lambda: f"{_SELF_NOW}[是在](?P<object>{_places()}(?![{HAN}]*(?:大学|学院|公司|医院|中学))[{HAN}]{{0,5}}?)(?:的人?)?$",
        "identity", "fact", 0.8, "来自", loose=True),
    ExtractionRule(
        lambda: (
            f"{_SELF_NOW}(?:是)?(?P<object>在[^，。我]{{1,14}}?(?:[做当任](?:一?[名位个])?[^，。]{{0,6}}?(?:{_jobs()}|微商|销售|助理"
            f"|客服|文员|学徒|兼职|生意)|带(?:孩子|娃|宝宝)|教书|养老|待产))(?:的)?$"
            f"|{_SELF_NOW}不是(?:专门)?(?P<object2>(?:做|搞|干|学|教|卖)[^，。的这那]{{1,10}}的|本地人|{_places()}(?:人|的)?|{_jobs()})$"
        ),
        "identity", "fact", 0.75, loose=True),
    ExtractionRule(f"{_SELF_NOW}(?:还)?在(?P<object>上班)(?:了|的)?$", "temporary", "fact", 0.6, loose=True),
    ExtractionRule(
        f"{_SELF_NOW}(?P<object>(?:很少|极少|从不|从来不|不怎么){_OUTWARD}(?:去|看|听|吃|喝|玩|用|穿|买|打|读|写|出|坐|抽|运动|锻炼"
        f"|熬夜|做饭)[^，。你他她]{{1,14}})$",
        "stable_preference", "fact", 0.7, loose=True),
    ExtractionRule(
        f"{SELF}(?P<object>(?:要|得|会)开始{_BEGUN}[^，。你吗]{{0,18}})$", "temporary", "plan", 0.7, loose=True),
    ExtractionRule(
        f"{SELF}(?:正)?在?(?P<object>计划[去要在]?[^，。]{{3,24}})$", "temporary", "plan", 0.7),
)  # fmt: skip


_COMPILED = tuple((regex(rule.pattern), rule) for rule in (*_TYPED, *_GENERAL, *_FURTHER))
"""The rules in the order in which they are tried."""


_MOST_OF_A_THING, _MOST_TO_DO = 16, 24
"""Of an object that is a thing, and of one that is something to be done."""
_OFTEN = "(?:每天|天天|经常|常常?|时常|平时|通常|一般|总是|一直|有时候?|偶尔|每周|每个?月|每年|周末|晚上|早上|睡前)"
_TIME = (
    "(?:今天|昨天|前天|明天|后天|最近|近来|上周末?|上个?月|去年|今年|明年|下周末?|下个?月|这周末?|周末|周[一二三四五六日]|晚上|早上|今晚"
    "|昨晚|刚才|刚刚|刚(?!刚)|现在|目前|已经|之前|以前|曾经|终于|正在|也|还|又|都|就|才|真的|其实|上午|下午|中午|傍晚|\\d+月\\d+[日号])"
)
_WITH = "(?:(?:和|跟|与|同)[^，。了]{1,10}?(?:一起|一块儿?)|独自|一个人|自己)?"
_I = f"^(?:{_TIME}){{0,4}}我?(?:们家)?(?:{_TIME}){{0,4}}{_WITH}(?:{_TIME}){{0,4}}"
_DONE = (
    "参观|参加|买|看|读|吃|做|完成|报名|收养|领养|养|尝试|认识|加入|获得|收到|画|写|拍|听|玩|爬|订|预订|拜访|游览|品尝|举办|发表|创作|制作"
    "|通过|考上|学会|取得|送|赢得|拿到"
)
_WISH = _I + (
    "(?:一直|很|特别|非常)?(?:想要?|希望|梦想)(?:能)?(?P<todo>(?:去|学|学习|买|成为|当|考|开|养|写)(?!的|了)[^，。]{2,25})$"
)
_HABIT = (
    f"^我(?P<often>{_OFTEN}){{1,3}}(?:都|会|也){{0,3}}{_WITH}(?P<does>做|看|听|吃|喝|打|玩|读|弹|练|写|画|学|跑|用)"
    "(?P<object>[^，。]{1,12})$"
)
_PLAIN: tuple[tuple[str, str], ...] = (
    (_I + "去(?:过|了)(?P<place>[^，。]{2,20})$", "去"),
    (_I + f"(?P<verb>{_DONE})(?:过|了)(?P<object>[^，。]{{1,20}})$", ""),
    (_I + "(?:开始|正在|在|正)?(?P<verb>学习|学)(?:如何|怎么)?(?P<object>[^，。会了过]{1,16})$", "学习"),
    (_I + "(?:开始)?(?:正在|在|正)(?P<verb>读|看|写|准备|研究|找|练习|练|追)(?:一[本部篇场份个])?(?P<object>[^，。]{2,20})$", ""),
    (_I + "(?:打算|计划|准备|预计|决定)(?:了|要|在)?(?P<todo>[^，。]{2,30})$", "计划"),
    (_WISH, "想"),
    (_I + "(?:从来没有?|从没|没有?)(?P<never>去|看|吃|学|养|玩|喝|读|参加|做)过(?P<object>[^，。]{1,15})$", ""),
    (_HABIT, ""),
    (_I + "戒(?:了|掉了?)?(?P<object>[^，。了]{1,8})了?$", "戒了"),
    (_I + "(?P<verb>毕业于)(?P<object>[^，。]{2,16})$", ""),
)  # fmt: skip
_RULES = tuple((regex(pattern), predicate) for pattern, predicate in _PLAIN)
_OF_KIN = regex(
    lambda: (
        f"^我的?(?P<who>(?:小|大)?(?:{kin.chinese()}|猫|狗|老师|朋友|同事|老板))(?:今年|现在|最近|目前|也|都|刚)*"
        "(?P<verb>叫|住在|喜欢|爱|考上了?|是|在)(?P<object>[^，。]{1,15})$"
    )
)
_KIN_VERBS = {"叫": "名字", "爱": "喜欢", "考上了": "考上"}
_AGED = regex(
    lambda: (
        f"^我的?(?P<who>{kin.chinese()})(?:今年|现在|已经|刚)*(?P<object>[\\d一二三四五六七八九十]{{1,3}}岁)(?:了|半)*$"
    )
)
_NAME = regex(rf"(?!我)[{HAN}]{{1,4}}(?<!人)|[A-Za-z][\w·. -]{{0,14}}")
_PURPOSE = regex(
    "(?:散步|游泳|玩耍?|吃饭|购物|锻炼|跑步|逛街?|旅游|旅行|看电影|学习|参观|写生|工作|上班|买[^，。]{1,8}|吃[^，。]{1,8}|看[^，。]{1,8}"
    "|观看[^，。]{1,8}|欣赏[^，。]{1,8}|参加[^，。]{1,8}|喝[^，。]{1,6}|玩了?[^，。]{1,8}|和[^，。]{1,10}|跟[^，。]{1,10}|拍照|运动|健身|度假|降温|放松|休息)$"
)
_SHORT_TITLE = regex("《[^》]{1,30}》")
_COUNTED = regex(
    "^(?:一|这|那)?(?:一|几|两|些|点)?(?:家|个|部|本|场|道|只|条|次|张|首|份|种|件|门|些|位|款|幅|篇|座|趟|下)"
)
_THING_POINTS = regex(
    "^(?:快?[一二两三四五六七八九十几半\\d]+(?:多|个)*(?:年|天|月|周|小时|口|遍|回|场|半)|好几|好多|人|一些其他|其他|的|了|过|着|得|这|那|它|他|她|你|您|什么|怎么|自己$|一下|一些$|东西|事情|问题|很多|很久|好久)|[你您它就却]|^\\W*$"
)
_VAGUE_THING = regex(
    "(?:东西|事情?|问题|方面|时候|感觉|方法|建议|内容|的人|一下|一会儿?|一点|有关|之类|等等|好多|不少|地方|活动)$"
)
_ONE_CHARACTER = frozenset("饭菜茶酒烟肉鱼书歌画琴棋猫狗")
"""Things that one character names."""
_HOW_MUCH: tuple[tuple[str, float], ...] = (
    ("每天|天天|总是|一直|向来|从小", 1.0),
    ("最(?:喜欢|爱|怕|讨厌)|极了", 1.0),
    ("非常|特别|十分|超级|热爱|酷爱|尤其|情有独钟|着迷|迷上", 0.9),
    ("很|相当|真的|讨厌|厌恶|受不了", 0.8),
    ("通常|一般|平时", 0.8),
    ("经常|常常?|时常", 0.7),
    ("比较|挺|蛮|还算", 0.6),
    ("有时候?|有点", 0.4),
    ("偶尔", 0.3),
    ("很少|不怎么|不太", 0.2),
)
_DEGREES = tuple((regex(pattern), degree) for pattern, degree in _HOW_MUCH)
_WHEN = regex(
    "(?P<when>(?:每天|每周|每个?月|每年|每个?周末|周末|周[一二三四五六日]|早上|晚上|下午|中午|夜里|睡前|饭后|睡觉前|下班后|放学后|雨天|夏天|冬天"
    "|春天|秋天|(?:在)?[^，。我]{1,10}?(?:的时候|时候?|之余|以后|之后|之前)){1,4})"
)


def chinese_fact(said: str, name: str) -> StatedTriple | None:
    """The triple of a clause in the first person; None where it is not plain."""
    if (found := _AGED.match(said)) is not None:
        return StatedTriple(f"{name}的{found['who']}", "年龄", found["object"])
    if (found := _OF_KIN.match(said)) is not None:
        thing = _called(found["object"]) if found["verb"] == "叫" else _object(found["object"])
        verb = _KIN_VERBS.get(found["verb"], found["verb"])
        return None if thing is None else StatedTriple(f"{name}的{found['who']}", verb, thing)
    for pattern, predicate in _RULES:
        found = pattern.match(said)
        if found is not None:
            return _fact(found, predicate, name)
    return None


def _degree_of(said: str) -> float | None:
    """How often or how much, from 0 to 1; None where nothing is said of it."""
    return next((degree for pattern, degree in _DEGREES if pattern.search(said)), None)


def _parted(thing: str) -> tuple[str, str | None]:
    """An object without the condition in which it holds, and that condition: 晚上听音乐."""
    found = _WHEN.match(thing)
    if found is None or len(thing) - found.end() < 2:
        return thing, None
    return thing[found.end() :], found["when"]


def _named(thing: str, name: str) -> str:
    """The thing with its speaker by name; a title stays as it is."""
    return thing if _SHORT_TITLE.search(thing) else thing.replace("我", name)


def _fact(found: re.Match[str], predicate: str, name: str) -> StatedTriple | None:
    groups = found.groupdict()
    verb = groups.get("verb") or groups.get("does") or groups.get("never") or ""
    if groups.get("todo"):
        thing = _to_do(str(groups["todo"]))
    elif groups.get("place"):
        thing = _object(_PURPOSE.sub("", str(groups["place"])))
    else:
        thing = _object(str(groups["object"]))
    if thing is None:
        return None
    often = groups.get("often") is not None
    return StatedTriple(name, predicate or verb, _named(thing, name), bool(groups.get("never")),
                _degree_of(found.string) if often else None)  # fmt: skip


def _called(text: str) -> str | None:
    """A name such as 张志强 (张 is no measure word there); None if it is none."""
    return text if _NAME.fullmatch(text) and not _THING_POINTS.search(text) else None


def _object(text: str) -> str | None:
    """A thing by itself: a title where there is one, without measure words; None where it says nothing."""
    title = _SHORT_TITLE.search(text)
    thing = title[0] if title else _COUNTED.sub("", text.strip()).removesuffix("了")
    if (
        not thing
        or len(thing) > _MOST_LETTERS + 14 * bool(title)
        or _THING_POINTS.search(thing)
        or _VAGUE_THING.search(thing)
    ):
        return None
    return thing if len(thing) > 1 or thing in _ONE_CHARACTER else None


def _to_do(text: str) -> str | None:
    thing = text.strip().removesuffix("了")
    if not 2 <= len(thing) <= _MOST_TO_DO or _THING_POINTS.search(thing) or _VAGUE_THING.search(thing):
        return None
    return thing


_MOST_LETTERS = 150
"""A longer clause is no talk."""
_SENTENCE = regex(r"[^。！？?!；;\n…]+[。！？?!；;…]*")
_CLAUSE = regex(r"[^，,]+")
_ASKS = regex(
    "[?？]|[吗么]$|什么|怎么|怎样|如何|为什么|为何|哪[里儿个些种一位]|谁|多少|几[点个岁次]|是不是|有没有|能不能"
    "|可不可以|要不要|会不会|好不好"
    r"|对不对|呢$|(?:你|您).{0,6}(?:吗|呢)|难道|是否|请问"
)
_GOES_ON_NOW = regex("(?<=我)(?P<said>[^，？?你]{0,10}(?:正|在|还|着|才|都|可|没)[^，？?吗]{2,30})呢$")
"""呢 that says that something is going on, or how much: no question."""
_SUPPOSES = regex(
    r"(?:开|说)(?:个|着)?玩笑|骗你|逗你|(?:^|在)(?:我的|这个?)?(?:梦|小说|故事|游戏|剧本|戏)里|假装|扮演|如果|要是|假如|假设|假使|倘若|若是|万一|的话|除非|即使|就算|哪怕|当.{1,10}时(?:候)?$"
    "|^(?:呵呵|行吧|行行行|得了吧|拉倒吧|真行|好家伙)|我还?是(?:秦始皇|皇帝|皇上|玉皇大帝|天王老子|如来佛祖|超人|孙悟空|总统|女王|外星人)(?:[呢啊呀了哦]|(?![一-龥]))|可真.{1,20}呢[。！!]*$"
    "|^(?:请|帮我|给我|替我)*(?:写|编|翻译|改写|续写|润色)[^，：:]{0,6}(?:故事|作文|小说|诗|对话|剧本|歌词|台词|例句)[：:]"
)
UNSURE = regex(
    "可能|也许|或许|大概|好像|似乎|应该|估计|说不定|没准|恐怕|但愿|仿佛|差点|本来想|原本想|听说|据说|据称|梦见"
    "|梦到|开玩笑|骗你|不确定|不知道|不清楚"
)
_REPORTS = regex(r"(?:说|问|告诉[^，。]{1,6}|认为|觉得|以为|写道|表示|回答|建议|提到)(?:过|道|着)?[：:]?[“「\"']?$")
_OTHERS = regex(r"^(?:[^我，。]{1,8})(?:说|问|告诉|认为|觉得|以为|写道|表示|建议|提到|希望)")
_QUOTED = regex(r"[“「『\"]([^”」』\"]{1,200})[”」』\"]")
_BY_A_DOCTOR = regex(
    "^(?:去年|前年|上个?月|上周|最近)?(?:医生|大夫|护士|牙医|中医|体检)(?:说|讲|告诉我|查出来?|诊断|显示)(?=我)"
)
_OWN = regex(
    "(?:从不|从来[不没]|养了|住[在了]?|租在|搬[到去来]了?|在学|改[用坐做骑吃喝练]|换成了?|常年"
    "|(?:做|卖|教|开|搞|干|修)[^，。是了给的]{1,8}的$)(?=[^，。]|(?<=的)$)"
)
"""Statements about the speaker without 我: 从不喝, 卖手工皂的."""
_OF_OTHERS = regex(lambda: f"[他她它]|{one_of_ours()}")
_FILLERS = regex(
    "^(?:(?:嗯+|啊|哦|噢|哈+|哇|唉|哎|是的?|对的?|是啊|好的?|没错|不过|但是?|而且|所以|因为|然后|另外|还有|其实"
    "|说实话|老实说|不对|更正一下?|其实呢"
    "|对了|话说|总之|不|你好啊?|您好|嗨|朋友|那么?|当然|例如|比如|确实|的确|没有|请?(?:帮我)?记住|请?记一下"
    "|别忘了|说错了|我是说|事实上|同时|此外"
    r"|虽然|尽管|毕竟|原来|不好意思|抱歉|AI伴侣|谢谢你?)(?:[，,！!：:、\s]|(?=我|今天|最近|昨天)))+"
)
_CORRECTS = regex(r"^(?:不，|不对|更正|其实|说错了|我说错了|我是说|纠正一下|事实上)")
_POINTS = regex(
    "^(?:这|那|它|他|她|你|您|你们|他们|她们|的|了|其|此|什么|一下|一些|一点|很多|许多|太多|更多|东西|事情"
    "|自己的?$|大家|别人|得|有点|一会|不同|相关)|你|您"
)
LEFT_OPEN = regex(
    r"它|(?<![吉其耳])他们?|她们?|这(?!周|个?月|学期|几天|段时间)|那(?![么])|你|您|上述|以上|其中|这样|那样|某"
)
_VAGUE = regex(
    "^(?:[^，。]{0,4})(?:很多(?:东西|事情?|人)|一些(?:东西|事情|问题|困难|事)|一个问题|问题|困难|东西|事情|的时候|一下)$|什么"
    "|(?:事情?|困难|问题|烦恼|麻烦|挑战|建议|帮助|压力|挫折|东西|收获|感觉|体验|方法|新技能|新的菜|新菜|的歌曲"
    "|的书|本书|本小说|部电影|首歌|的人|活动)$"
    "|一些(?![^，。、《]{2,4}的)(?:[^，。、《]{1,2}|新[^，。、《]{1,4}|[^，。、《]{1,4}的[^，。、《]?)$|一[部本首门道种个家座件款场]?(?:[^，。《的]{0,8}的)?新?(?:演唱会|电影|小说|书|歌曲?|技能|菜"
    "|餐厅|古城|地方|城市|景点|节目|游戏|课程|食物|作品)$"
)
_OUTSIDE = regex(
    "^(?:[吃喝做玩看听去来养买学用打写说想]了?)$|^[闻看听吃喝摸]着.{0,3}$|^(?:外面|里面|[这那][里边])|可多了?$|(?<![回出过起下进])(?<!(?<![晚早])上)[来去]了?$"
    "|^(?:正?在)?(?:[看听玩学练打做跑读写唱画弹养用干吃喝]|从事|练习|学习)[了过]?(?:已经)?有?[好快]?[\\d一二两三四五六七八九十几多半百]+多?"
    "(?:年|个?月|遍|次|天|个?小时|分钟)多?了?$|^(?:正?在)?(?:做|干|忙)自己的(?:工作|事情?)$"
)
"""A verb without what it is done to, a place that is none: what it is about was said elsewhere."""
_RUNS_ON = regex("我(?:每|平时|经常|也|还|就|都|会|要|想|今|在|是|有|没|不|最|很|特别|非常|从|可以|能|觉得|感觉)")
"""A second clause without a comma before it."""
_TITLE = regex("《[^》]*》")
_TO_COME = regex("^我?(?:明天|后天|下周|下个?月|明年|今晚)")
_GOES_ON = regex("而是|名?叫做?|名字[叫是]|《")
_OPEN_END = regex(r"(?:时|时候|后|之后|之前|以来|期间|(?<![一二三四五六七八九十初高])中|里|的|和|跟|与|在)$")
_IS_OF = regex("[是在做教卖搞][^，。]{1,12}的$|[吃喝看听穿][^，。的]{1,6}的$")
"""我是做外贸的: here 的 leads to nothing."""
_BARE_AGE = regex("^我(?:今年|现在|已经|刚|也|才|都|就|快){0,3}[1-9]\\d(?=了?$)")
"""我19了: how old one is."""
_AGE = regex("[\\d一二三四五六七八九十]岁")
_FOR_NOW = regex("最近|现在|目前|这几天|这段时间|近来")
_WHERE = regex("(?P<place>.{2,18})(?P<does>工作|上班|上学|读书|读研|读博|任教|实习)")
PEOPLE_CHINESE = regex(
    "(?:地球|火星|外星|[闲达商老盲好坏男女大病主新名诗军工穷富懒客证路成聪恶能牛猛狠俗粗私当本普通轻年多少机伤残聋哑法情爱恋众强世圣仙]|成年|年轻|中年)人$"
)
"""People by what they are, not by where they are from."""
_BY_DEGREES = frozenset({"喜欢", "偏好"})
"""Predicates that hold more or less, more or less often, or only at times."""
_WE = regex("我们|咱们")
_OURS = regex("^[们們](?=全?家|公司|团队|学校|单位|部门|小区|店|班|组|村|队)")
"""What follows 我 in 我们家: it is of the speaker."""


def chinese_clauses(text: str) -> Iterator[Clause]:
    """The clauses of a text, in order, each with whether it is asserted and whether it asks something."""
    hushed = _QUOTED.sub(lambda found: "~" * len(found[0]) if "我" in found[1] or "你" in found[1] else found[0], text)
    of_others = False
    for sentence in _SENTENCE.finditer(hushed):
        said = sentence[0]
        pieces = [(one.start(), one.end()) for one in _CLAUSE.finditer(said)]
        pieces = list(_joined(said, pieces))
        doubtful, reported, before, subject = _SUPPOSES.search(said) is not None, False, "", ""
        others = of_others
        asks = said.rstrip().endswith(("?", "？")) or said.rstrip("。！!?？… ").endswith("吗")
        for place, (a, b) in enumerate(pieces):
            piece = said[a:b].strip(" 。！!；;…")
            plain = _BY_A_DOCTOR.sub("", piece)
            after = said[slice(*pieces[place + 1])] if place + 1 < len(pieces) else ""
            asked = bool(_ASKS.search(_GOES_ON_NOW.sub(r"\g<said>", piece))) or (
                asks and (place == len(pieces) - 1 or len(pieces) == 1)
            )
            written = text[sentence.start() + a : sentence.start() + b]
            opened = _FILLERS.sub("", plain)
            clause_text = _with_subject(opened, subject) if len(pieces) > 1 else opened
            if not others and subject in ("", "我") and _OWN.match(clause_text):
                clause_text = f"我{clause_text}"
            subject = _subject_of(clause_text) if after and not re.search("我[^，]*[他她它]", clause_text) else ""
            others = others or _OF_OTHERS.search(piece) is not None
            written = clause_text if clause_text != opened or plain != piece else written
            yield Clause(written, sentence.start() + a, sentence.start() + b,
                         not (asked or doubtful or reported or _OTHERS.search(plain)), asked, before, after)  # fmt: skip
            before = piece
            reported = reported or (_REPORTS.search(piece) is not None)
        of_others = _OF_OTHERS.search(said) is not None


def _joined(said: str, pieces: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Clauses that need the next one are read together with it: "不是北京人，而是上海人"."""
    held: tuple[int, int] | None = None
    for a, b in pieces:
        if held is not None and _GOES_ON.match(said[a:b].lstrip()):
            held = (held[0], b)
            continue
        if held is not None:
            yield held
        held = (a, b)
    if held is not None:
        yield held


def chinese_statement(clause: Clause, turn: TurnText) -> ExtractedStatement | None:
    """What a Chinese clause states about its speaker, or None."""
    if len(clause.text) > _MOST_LETTERS:
        return None
    written = "".join(clause.text.split(" ")).replace(",", "，").strip("，。！？!?；;…~ 、:：")
    correction = bool(_CORRECTS.search(written) or _CORRECTS.search(f"{clause.before}，"))
    said = opened_chinese(clause.text)
    said = _BARE_AGE.sub(r"\g<0>岁", said)
    for pattern, rule in _COMPILED:
        found = pattern.match(said)
        if found is not None:
            return _stated(clause, turn, said, found, rule, correction)
    return None


def opened_chinese(text: str) -> str:
    """The clause from its subject on, without the particles at its end."""
    said = "".join(text.split(" ")).replace(",", "，").strip("，。！？!?；;…~ 、:：")
    said = re.sub("^(?:大家|别人|朋友们?|同事们?|家里人)都?(?=叫我)", "", _FILLERS.sub("", said).strip("，：: "))
    return re.sub(r"(?<=[^了吗])(?:呢|啊|呀|哦|啦|(?<!嘻)哈|嘛|吧|的说)+$|(?<=了)[啊呀哦啦哈]+$", "", said)


_TONIGHT = regex(
    "^(?!.{0,4}(?:[周期拜][一二三四五六日天]|[号日]|明天|后天))[^，]{0,4}?(?:今天|今晚|晚上|下午|中午|待会儿?|等会儿?|一会儿?|等下)[^，]{0,4}(?:打算|计划|准备|要|想)"
)
"""A plan of the hour."""
_BARE_WISH = regex(
    "(?:想|想要|考虑|打算|计划|准备)(?:一直)?(?:去|在)?(?:出去|外面|户外|公园里?|外边)?(?:旅游|旅行|玩儿?|散步|走走|逛逛|放松|休息"
    "|爬山|运动)(?:一下)?(?:放松)?(?:一下)?(?:自己|心情)?$|(?:准备|要|打算)(?:去)?(?:睡觉?|吃饭|出门|下班|起床|洗澡)了?$"
)
"""To go somewhere, anywhere."""
_SOMETHING_ELSE = regex("(?:一些|几个)?其他的?|先[去做看吃来]")
_PROMISES = regex("先[将把]|一定会|会(?:尽量|努力|试试|尝试|考虑|记住|注意)|将?尝试一?[些下]|好好[^，。]{1,6}$")
"""Politeness after advice, and steps of a recipe."""
_INTENDS = regex("打算|计划|考虑|决定|准备|将要?|想")


def of_the_hour(said: str) -> bool:
    """Whether a Chinese clause has a plan of the hour, a wish without an object, or one that leans on what was said before."""
    return (
        _TONIGHT.search(said) is not None
        or _PROMISES.search(said) is not None
        or _BARE_WISH.search(said) is not None
        or (_INTENDS.search(said) is not None and _SOMETHING_ELSE.search(said) is not None)
    )


def _stated(
    clause: Clause, turn: TurnText, said: str, found: re.Match[str], rule: ExtractionRule, correction: bool
) -> ExtractedStatement | None:
    groups = found.groupdict()
    thing = (groups.get("object") or groups.get("object2") or "").strip()
    if _WE.search(said) or not says_something(said, thing, 1 if rule.loose else 3) or of_the_hour(said):
        return None
    name = turn.name or "用户"
    denied = groups.get("not")
    asserted = clause.asserted and not UNSURE.search(said)
    ended = (rule.dislikes and said.endswith("了")) or bool(re.search("戒了|戒掉|放弃了?|停止了?|不再", said))
    content = f"{name}是{thing}" if denied else about(said, name)
    when, until = set_in(clause.before), limited_to(clause.after)
    content = "，".join(part for part in (when, content, until) if part)
    passing = rule.category in ("fact", "temporary", "short_term_preference")
    aged = _AGE.search(said) is not None and not of_another_time(content, turn.year)
    if passing or aged or speaks_from_its_day(said):
        content = turn.dated(content, han=True)
    ends = f"{name}是{denied}" if denied else f"{name}喜欢{thing}" if ended else None
    turned = polarity(said) if not denied else 1
    twice = rule.dislikes and turned == 1
    category, kind = rule.category, rule.kind
    if category == "stable_preference" and _FOR_NOW.search(said):
        category = "short_term_preference"
    if (category, kind) == ("fact", "fact") and _TO_COME.search(said):
        category, kind = "temporary", "plan"
    elsewhen = rule.predicate == "年龄" and of_another_time(content, turn.year)
    triple = None if twice or elsewhen else _triple(said, groups, thing, rule, name)
    return ExtractedStatement(content, category, kind, turned, asserted, rule.confidence,
                     (clause.start, clause.end), (), triple, correction or denied is not None, ends)  # fmt: skip


def _triple(
    said: str, groups: dict[str, str | None], thing: str, rule: ExtractionRule, name: str
) -> StatedTriple | None:
    if rule.predicate is None:
        return chinese_fact(said, name)
    predicate = rule.predicate
    if groups.get("slot") is not None:  # 我最喜欢的颜色是, 我喜欢的都是
        slot = str(groups["slot"]).rstrip("都就也还")
        predicate = f"{'最' if '最' in said else ''}喜欢的{slot}" if slot else "喜欢"
    if predicate == "在" and thing.startswith("做"):
        return None
    if predicate == "在" and (found := _WHERE.fullmatch(thing)) is not None:
        return StatedTriple(name, f"{found['does']}于", found["place"])
    thing = re.sub("^[个位名]", "", thing) or thing
    if predicate == "来自" and thing.endswith("人"):
        return None if PEOPLE_CHINESE.search(thing) else StatedTriple(name, predicate, thing[:-1])
    if predicate not in _BY_DEGREES:
        return StatedTriple(name, predicate, _named(thing, name), rule.dislikes)
    thing = re.sub("[也都还了]+$", "", re.sub("^[^的，]{1,3}的[就都]?是", "", thing)) or thing
    # What is denied under a condition is not denied without it: then the condition stays with the thing.
    thing, condition = (thing, None) if rule.dislikes else _parted(thing)
    return StatedTriple(name, predicate, _named(thing, name), rule.dislikes, _degree_of(said), condition)


def about(said: str, name: str) -> str:
    """The clause about its speaker by name."""
    if "我" not in said:
        return f"{name}{said}"
    start = said.index("我")
    head, rest = said[:start], _OURS.sub("", said[start + 1 :], count=1)
    rest = rest.replace("我的", "自己的").replace("我", name)
    if rest[:1] in ("们", "們"):
        name, rest = f"{name}等人", rest[1:]
    return f"{head}{name}{rest}" if not head else f"{name}{head}{rest}"


def says_something(said: str, thing: str, least: int = 1) -> bool:
    """Whether the clause stands by itself: it names what it is about, and points at nothing outside."""
    if (
        _POINTS.search(thing)
        or _VAGUE.search(thing)
        or _OUTSIDE.search(thing.replace("我的", "自己的"))
        or _RUNS_ON.search(_TITLE.sub("", thing))
        or LEFT_OPEN.search(said)
        or said.count("《") != said.count("》")
        or (_OPEN_END.search(said) and not _IS_OF.search(said))
    ):
        return False
    return len(thing) >= least
