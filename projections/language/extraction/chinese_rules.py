"""The ways in which Chinese states something in the first person: one rule each, tried in order. Word lists, no model."""

from __future__ import annotations

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.shape import ExtractionRule
from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN

_NUMERAL = "(?:\\d{1,2}|[一二三四五六七八九十]{1,3})"
_SELF = "(?:我(?:本人|自己|个人)?)"
_WHEN = (
    "(?:今天|昨天|前天|明天|后天|最近|近来|上周末?|上个?月|去年|今年|明年|下周末?|下个?月|这周末?|周末"
    "|周[一二三四五六日]|晚上|早上|今晚|昨晚"
    "|刚才|刚刚|刚(?!刚)|现在|目前|已经|之前|以前|曾经|平时|有时候?|经常|常常|每天|每周|通常|一般|一直|早就|终于|正在"
    "|也|还|又|都|就|才|真的|其实|基本上|主要|早上|下午|中午|傍晚|\\d+月\\d+[日号])"
)
_AND = "(?:(?:和|跟|与|同)[^，。]{1,12}?(?:一起|一块儿?)?|独自|一个人)?"
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


RULES: tuple[ExtractionRule, ...] = (
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
        f"{_SELF}{_WHEN}{{0,5}}(?P<object>决定(?:了|要)?[^，。]{{3,30}})$|{_SELF}{_WHEN}{{0,5}}"
        f"(?P<object2>选择了[^，。]{{2,30}})$",
        "fact", "decision", 0.8),
    ExtractionRule(
        f"(?:{_WHEN}{{0,5}}{_SELF}|{_WHEN}{{1,5}}){_WHEN}{{0,5}}(?P<object>(?:打算|计划|准备|预计|约好了?|安排了?|即将|马上要)(?:在"
        f"|要|去|和|跟)?[^，。]{{3,35}})$",
        "temporary", "plan", 0.75),
    ExtractionRule(
        f"{_SELF}{_WHEN}{{0,5}}(?P<object>(?:明天|后天|下周|下个月|周末|明年|今晚|暑假|寒假|国庆)[^，。]{{0,4}}(?:要|会"
        f"|将)[^，。]{{2,30}})$|(?:大?后天|明[天早晚]|[这本下]个?(?:周|星期|礼拜)"
        f"[一二三四五六日天末]?|(?:[这本下]个?月|{_NUMERAL}月){_NUMERAL}[号日]|下个?月|周[一二三四五六日])"
        f"(?:早上|上午|中午|下午|晚上)?我(?P<object2>(?:要|会|将|得)[^，。]{{2,30}})$",
        "temporary", "plan", 0.75),
    ExtractionRule(
        f"{_SELF}{_WHEN}{{0,5}}(?P<object>(?:一直|很|特别|非常)?(?:想要?|希望|梦想)(?:能)?(?:去|学|学习|买|成为|当|考|开"
        f"|养|写)(?!一?下|看看)[^，。]{{2,25}})$",
        "short_term_preference", "plan", 0.65),
    ExtractionRule(
        f"(?:{_WHEN}{{0,5}}{_SELF}|{_WHEN}{{1,5}}){_WHEN}{{0,5}}{_AND}(?:也|还)?(?P<object>{_DID}[^，。]{{2,40}})$",
        "fact", "fact", 0.7),
    ExtractionRule(
        f"(?:{_WHEN}{{0,5}}{_SELF}|{_WHEN}{{1,5}}){_WHEN}{{0,5}}(?P<object>(?:正在|在|正)(?:学习?|读|看|写|做|准备|练习?|练|忙|研究"
        f"|找|追)[^，。]{{2,30}})$",
        "temporary", "fact", 0.7),
    ExtractionRule(
        f"{_SELF}(?P<object>(?:经常|常常?|每天|每周|每个?月|平时|通常|一般)(?:都|会){{0,4}}[^，。]{{3,30}})$",
        "stable_preference", "fact", 0.75),
)  # fmt: skip
COMPILED = tuple((regex(rule.pattern), rule) for rule in RULES)
"""The rules in the order in which they are tried."""
