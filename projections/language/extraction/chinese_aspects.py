"""Further shapes of Chinese in the first person, tried after those of `chinese_shapes`.

Who one is by trade, year, sex or standing, what one is not or has not done yet, what one seldom does, where one went to do
something, what one is going to begin.
"""

from __future__ import annotations

from engramlog_server.projections.language.extraction.chinese_shapes import SELF, TIME, jobs, places
from engramlog_server.projections.language.extraction.shape import ExtractionRule
from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.scripts import HAN

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

RULES: tuple[ExtractionRule, ...] = (
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
"""After those of `chinese_shapes`, in this order."""
COMPILED = tuple((regex(rule.pattern), rule) for rule in RULES)
