"""General shapes of what Chinese says in the first person, tried where no rule with a class of its own fits.

The subject is 我 or one of one's people; the class follows from the form of the verb: V了 and V过 mark what happened, 将 and 即将
what is to come, 在V what is going on, 每 how one lives, 是 and 在 with a place or a trade who one is.
Verbs of thinking, feeling and saying state nothing that lasts.
"""

from __future__ import annotations

from engramlog_server.projections.language import kin
from engramlog_server.projections.language.extraction.shape import ExtractionRule
from engramlog_server.projections.language.lexicon import either, words
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN

TIME = (
    "(?:(?:今天|昨天|前天|前几天|那天|今早|今晚|昨晚|刚才|刚刚|最近|近来|上次|这次|去年|前年|今年|(?:上|这|本)个?(?:周|星期|礼拜|月|学期|季度)"
    "[一二三四五六日天末]?|周[一二三四五六日末]|星期[一二三四五六日天]|[\\d一二三四五六七八九十两几]+(?:年|个月|天|周)(?:以?前)|\\d{4}年|\\d{1,2}月(?:\\d{1,2}[日号])?"
    "|国庆|春节|五一|暑假|寒假|假期)(?:的?(?:早上|上午|中午|下午|傍晚|晚上|夜里|凌晨))?|(?:早上|上午|中午|下午|傍晚|晚上))"
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


def places() -> str:
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


def jobs() -> str:
    """What somebody is by work or by standing, as alternatives."""
    return f"(?:{either(words('jobs', 'chinese'))})"


RULES: tuple[ExtractionRule, ...] = (
    ExtractionRule(
        lambda: f"{SELF}(?:现在|目前|一直|正){{0,2}}在(?P<object>{places()}(?:[{HAN}]{{0,6}}区)?)(?:的|呢|住|生活|定居)?$",
        "identity", "fact", 0.8, "在", loose=True),
    ExtractionRule(lambda: f"{SELF}是(?P<object>{places()})的$", "identity", "fact", 0.8, "来自", loose=True),
    ExtractionRule(
        f"{SELF}(?:现在|目前|一直){{0,2}}是(?P<object>(?:做|搞|干|教|学|卖|开|跑|写|画|从事)[^，。的是]{{1,10}}|当[^，。的是]{{1,6}})的$",
        "identity", "fact", 0.8, loose=True),
    ExtractionRule(
        lambda: f"{SELF}(?:现在|目前|以后)?是(?:一?[名位个])?(?P<object>[^，。的是]{{0,10}}{jobs()})$",
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
        f"{SELF}{_AND}(?P<object>(?:去|来|出去|回|跑去)?{_DEED}[^，。了]{{2,40}}(?:了)?(?:，{_NAMED})?)$",
        "fact", "fact", 0.65),
)  # fmt: skip
"""After those of `chinese_rules`, in this order."""
COMPILED = tuple((regex(rule.pattern), rule) for rule in RULES)
_ELIDED = regex(
    "(?:现在|目前|平时|最近|已经|也|还|每天|经常|不?喜欢|讨厌|会[弹说做唱跳画]|住在|毕业于|来自|正在|在(?!说|想|吗)|身高|今年|打算|计划|从事|养了?|有[一两三]|今天|昨天|后来|不[吃喝抽])"
)
"""A clause that goes on about the subject of the one before."""
_HAS_ONE = regex(lambda: f"^我(?:还|也)?有(?:一?[个位名])?(?P<who>{kin.chinese()})$")
_SUBJECT = regex(lambda: f"^[^，。我你他她它]{{0,6}}我(?P<who>的?(?:{_one_of_mine()}))?")
"""The subject of a clause: its speaker, or one of their people."""


def with_subject(piece: str, subject: str) -> str:
    """The clause with its omitted subject put back; `subject` is 我, or one of the speaker's people."""
    return f"{subject}{piece}" if subject and _ELIDED.match(piece) else piece


def subject_of(piece: str) -> str:
    """Of whom a clause speaks: 我, 我爸爸; else an empty string."""
    found = _HAS_ONE.match(piece) or _SUBJECT.match(piece)
    return "" if found is None else f"我{found['who'] or ''}"
