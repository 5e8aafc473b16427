"""The ways in which Chinese states something in the first person: one rule each, tried in order. Word lists, no model.

First come rules with a class of their own (`_TYPED`). Then general shapes (`_GENERAL`): the subject is 我 or one of one's people;
V了 and V过 mark what happened, 将 and 即将 what is to come, 在V what is going on, 每 how one lives, 是 and 在 with a place or a
trade who one is. Verbs of thinking, feeling and saying state nothing that lasts. Then who one is by trade, year, sex or standing,
what one is not or has not done yet, what one seldom does, and what one is going to begin (`_FURTHER`).
"""

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
_WITH = "(?:(?:和|跟|与|同)[^，。]{1,12}?(?:一起|一块儿?)?|独自|一个人)?"
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
        f"{_SELF}(?P<object>(?:去|到|飞|回)[^，。我你]{{1,10}}的(?:火车|高铁|动车|飞机|航班|大巴|船)(?:是|在)?[^，。]{{0,4}}?(?:{_NUMERAL}月|{_NUMERAL}[日号]"
        "|[这本下]?(?:个?(?:周|星期|礼拜))[一二三四五六日天末]|明[天早晚]|后天|今[天晚])[^，。你吗]{0,14})$",
        "temporary", "plan", 0.75, loose=True),
    ExtractionRule(
        f"{_SELF}{_WHEN}{{0,3}}(?P<object>(?:改|转|调|跳槽)?(?:去|到|进)(?!年)[^，。你他她]{{2,16}}?(?:上班|工作|教书|任教|坐办公室|读书|读研|[当做][^，。了]{{2,6}}))了$",
        "fact", "fact", 0.75, loose=True),
    ExtractionRule(
        f"{_SELF}{_WHEN}{{0,3}}(?P<object>把[^，。你他她它这那]{{1,12}}(?:退|卖|停|关|转让|送人|辞|戒|租出去|租给[^，。]{{1,8}})掉?了)$",
        "fact", "fact", 0.75, loose=True),
    ExtractionRule(
        f"{_SELF}{_WHEN}{{0,5}}(?P<object>(?:一直|很|特别|非常)?(?:想要?|希望|梦想)(?:能)?(?:去|学|学习|买|成为|当|考|开"
        f"|养|写)(?!一?下|看看)[^，。]{{2,25}})$",
        "short_term_preference", "plan", 0.65),
    ExtractionRule(
        f"(?:{_WHEN}{{0,5}}{_SELF}|{_WHEN}{{1,5}}){_WHEN}{{0,5}}{_WITH}(?:也|还)?(?P<object>{_DID}[^，。]{{2,40}})$",
        "fact", "fact", 0.7),
    ExtractionRule(
        f"(?:{_WHEN}{{0,5}}{_SELF}|{_WHEN}{{1,5}}){_WHEN}{{0,5}}(?P<object>(?:正在|在|正)(?:学习?|读|看|写|做|准备|练习?|练|忙|研究"
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


_GENERAL: tuple[ExtractionRule, ...] = (
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


def with_subject(piece: str, subject: str) -> str:
    """The clause with its omitted subject put back; `subject` is 我, or one of the speaker's people."""
    return f"{subject}{piece}" if subject and _ELIDED.match(piece) else piece


def subject_of(piece: str) -> str:
    """Of whom a clause speaks: 我, 我爸爸; else an empty string."""
    found = _HAS_ONE.match(piece) or _SUBJECT.match(piece)
    return "" if found is None else f"我{found['who'] or ''}"


_NOW = "(?:(?:现在|目前|今年|平时|一直|已经|也|才|都|就|还|刚|只|其实|当然|可|真的?){0,3})"
_I = f"(?:{TIME}){{0,2}}我{_NOW}"
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
    ExtractionRule(f"{_I}(?P<object>{_WHO})$", "identity", "fact", 0.8, loose=True),
    ExtractionRule(
        lambda: f"{_I}[是在](?P<object>{places()}(?![{HAN}]*(?:大学|学院|公司|医院|中学))[{HAN}]{{0,5}}?)(?:的人?)?$",
        "identity", "fact", 0.8, "来自", loose=True),
    ExtractionRule(
        lambda: (
            f"{_I}(?:是)?(?P<object>在[^，。我]{{1,14}}?(?:[做当任](?:一?[名位个])?[^，。]{{0,6}}?(?:{jobs()}|微商|销售|助理"
            f"|客服|文员|学徒|兼职|生意)|带(?:孩子|娃|宝宝)|教书|养老|待产))(?:的)?$"
            f"|{_I}不是(?:专门)?(?P<object2>(?:做|搞|干|学|教|卖)[^，。的这那]{{1,10}}的|本地人|{places()}(?:人|的)?|{jobs()})$"
        ),
        "identity", "fact", 0.75, loose=True),
    ExtractionRule(f"{_I}(?:还)?在(?P<object>上班)(?:了|的)?$", "temporary", "fact", 0.6, loose=True),
    ExtractionRule(
        f"{_I}(?P<object>(?:很少|极少|从不|从来不|不怎么){_OUTWARD}(?:去|看|听|吃|喝|玩|用|穿|买|打|读|写|出|坐|抽|运动|锻炼"
        f"|熬夜|做饭)[^，。你他她]{{1,14}})$",
        "stable_preference", "fact", 0.7, loose=True),
    ExtractionRule(
        f"{SELF}(?P<object>(?:要|得|会)开始{_BEGUN}[^，。你吗]{{0,18}})$", "temporary", "plan", 0.7, loose=True),
    ExtractionRule(
        f"{SELF}(?:正)?在?(?P<object>计划[去要在]?[^，。]{{3,24}})$", "temporary", "plan", 0.7),
)  # fmt: skip


COMPILED = tuple((regex(rule.pattern), rule) for rule in (*_TYPED, *_GENERAL, *_FURTHER))
"""The rules in the order in which they are tried."""
