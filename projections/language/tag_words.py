"""The words that give a memory its context tags, in English and Chinese (seed 000, section 2.2, and everyday talk).

Entries are parted by white space; `|` joins the forms of one word, which count once; `_` stands for the space within an
English phrase, and n't is written nt. Where two entries begin alike the longer one is read, so the `MASKS` (a *blood
test* is no testing, 不好意思 is no complaint) hide the words inside them. Chinese entries have two characters or more.
"""

from __future__ import annotations

from enum import IntFlag


class Family(IntFlag):
    """What a word speaks for. The first eight are the tags that words give, in the order of `context.TAGS`."""

    POSITIVE = 1
    NEGATIVE = 2
    URGENT = 4
    CALM = 8
    DEBUGGING = 16
    TESTING = 32
    API_DESIGN = 64
    DATA_MODEL = 128

    REPAIRED = 256
    """Says that a fault is gone."""
    FAULT = 512
    """A fault: no complaint any more once it is repaired."""


_POSITIVE, _NEGATIVE, _CALM = Family.POSITIVE, Family.NEGATIVE, Family.CALM

ENGLISH: tuple[tuple[Family, str], ...] = (
    (
        _POSITIVE,
        """
        success|successes|successful|successfully|succeed|succeeds|succeeded completed|completes|completing finished
        improve|improves|improved|improving|improvement|improvements passed|passes
        happy|happier|happiest|happily|happiness
        never_been_happier|couldnt_be_happier|never_been_better|couldnt_be_better love|loves|loved|loving lovely
        i_like|we_like|i_really_like|we_really_like|he_likes|she_likes|they_like|really_likes liked
        great|greatest|greatly awesome amazing|amazed wonderful|wonderfully fantastic excellent perfect|perfectly
        brilliant superb enjoy|enjoys|enjoyed|enjoying|enjoyable glad|gladly excited|exciting|excitedly|excitement fun
        delicious tasty beautiful|beautifully grateful|gratitude thankful|thank_you_so_much|thanks_so_much
        proud|proudly nice|nicely|nicest congratulations|congrats
        celebrate|celebrates|celebrated|celebrating|celebration won|win|wins|winning
        favourite|favourites|favorite|favorites delight|delighted|delightful pleased|pleasure thrilled
        cheerful|cheerfully joy|joyful relieved|relief promoted|promotion cant_wait|cannot_wait
        looking_forward|look_forward well_done went_well|going_well
        good_news|good_time|feel_good|feels_good|so_good|really_good|very_good|pretty_good yay hooray
        adore|adores|adored|adorable fond|fond_of hilarious|laughed|laughing smile|smiled|smiling inspired|inspiring
        comfortable cosy|cozy optimistic satisfied|satisfying stunning gorgeous charming incredible|incredibly
        impressive|impressed appreciate|appreciates|appreciated lucky|luckily fortunate|fortunately|blessed
        means_a_lot good_job|good_work|nice_work|great_job|way_to_go so_cool|really_cool|pretty_cool rewarding
        refreshing motivating|motivated fabulous terrific marvelous|marvellous
        """,
    ),
    (
        _POSITIVE | Family.REPAIRED,
        """
        solved|solves resolved|resolves fixed|fixes repaired sorted_out|figured_out
        works_again|works_now|working_again
        """,
    ),
    (
        _POSITIVE | _CALM,
        """
        optimise|optimises|optimised|optimising|optimize|optimizes|optimized|optimizing|optimisation|optimization
        """,
    ),
    (
        _NEGATIVE,
        """
        fail|fails|failed|failing|failure|failures sad|sadder|sadly|sadness angry|angrily|anger|furious
        hate|hates|hated|hating upset|upsetting annoyed|annoying|annoys frustrated|frustrating|frustration
        terrible|terribly awful|awfully horrible|horribly bad|badly|worse|worst worry|worries|worried|worrying
        anxious|anxiously|anxiety stress|stressed|stressful depressed|depressing|depression lonely|loneliness
        tired|exhausted|exhausting pain|pains|painful|ache|aches hurt|hurts|hurting sick|sickness
        cry|cries|crying|cried broken|broke_down disappoint|disappointed|disappointing|disappointment miserable
        scared|scary afraid terrified frightened fear|fears disgusting|disgusted
        dislike|dislikes|disliked|dont_like|doesnt_like|didnt_like dont_want|doesnt_want cant_stand|cannot_stand
        complain|complains|complained|complaint|complaints regret|regrets|regretted unfortunately unhappy|unhappily
        unsolved|unresolved divorce|divorced died|dies|dying|death|passed_away funeral fired|got_fired|was_fired
        laid_off sucks|sucked nightmare|nightmares disaster|disasters boring|bored jealous ashamed
        embarrassed|embarrassing guilty heartbroken overwhelmed nervous|nervously wrong
        argument|arguments|arguing|argued ruined|ruins stolen lost_my|lost_her|lost_his|lost_our useless worthless
        panic|panicked rude|rudely insomnia struggle|struggles|struggling|struggled delayed trouble|troubles|troubled
        confused|confusing bummed|bummer hard_time|tough_time heartbreaking devastated|devastating grief|grieving
        mourning homesick worn_out|burned_out|burnt_out|burnout discouraged hopeless gloomy insecure|insecurity
        irritated|irritating injured|injury|injuries lousy dreadful ugh
        """,
    ),
    (
        _NEGATIVE | Family.FAULT,
        """
        problem|problems issue|issues timeout|timeouts|timed_out crash|crashes|crashed|crashing outage|outages
        glitch|glitches
        """,
    ),
    (
        _NEGATIVE | Family.FAULT | Family.DEBUGGING,
        """
        error|errors|valueerror|typeerror|keyerror|attributeerror|indexerror|importerror|modulenotfounderror|nameerror
        runtimeerror|oserror|ioerror|syntaxerror|referenceerror|assertionerror|permissionerror|connectionerror|timeouterror
        filenotfounderror|zerodivisionerror|unicodedecodeerror|stackoverflowerror|outofmemoryerror bug|bugs|buggy
        segfault|segfaults
        """,
    ),
    (
        Family.DEBUGGING,
        """
        exception|exceptions|nullpointerexception|illegalargumentexception|illegalstateexception|runtimeexception|ioexception
        debug|debugs|debugged|debugging|debugger traceback|tracebacks|stacktrace|stacktraces|stack_trace|stack_traces
        breakpoint|breakpoints troubleshoot|troubleshooting|troubleshot root_cause memory_leak|memory_leaks
        deadlock|deadlocks core_dump|core_dumps
        """,
    ),
    (
        Family.URGENT,
        """
        urgent|urgently|urgency critical|critically blocking|blocker|blockers asap|as_soon_as_possible
        immediate|immediately emergency|emergencies right_away|straight_away at_once hurry|hurry_up p0 time_sensitive
        life_threatening
        """,
    ),
    (
        _CALM,
        """
        refactor|refactors|refactored|refactoring review|reviews|reviewed|reviewing calm|calmly|calming|calmer
        relax|relaxes|relaxed|relaxing|relaxation peaceful|peacefully|peace_and_quiet quiet|quietly tranquil
        serene|serenity unwind|unwinds|unwinding|unwound meditate|meditates|meditated|meditating|meditation yoga
        leisurely mellow take_it_easy|took_it_easy no_rush|no_hurry|take_your_time tidy|tidied|tidying|tidy_up
        cleanup|clean_up|cleaned_up stroll|strolled
        """,
    ),
    (
        Family.TESTING,
        """
        test|tests|tested|testing|tester|testers unittest|unittests pytest|junit|jest qa tdd
        test_case|test_cases|testcase|testcases
        """,
    ),
    (
        Family.API_DESIGN,
        """
        api|apis endpoint|endpoints restful graphql grpc openapi swagger webhook|webhooks
        query_parameter|query_parameters request_body|response_body
        """,
    ),
    (
        Family.DATA_MODEL,
        """
        db|dbs database|databases schema|schemas sql|mysql|sqlite postgres|postgresql mongodb orm
        data_model|data_models foreign_key|foreign_keys primary_key|primary_keys
        """,
    ),
)

MASKS_ENGLISH = """
    blood_test|blood_tests|eye_test|hearing_test|driving_test|road_test|pregnancy_test|covid_test|math_test|maths_test|taste_test
    great_britain|great_grandmother|great_grandfather|great_aunt|great_uncle|great_deal
    fixed_price|fixed_rate|fixed_income critical_thinking|critically_acclaimed exception_of|exception_to
    trial_and_error problem_solving|problem_set|problem_sets|practice_problems critical_care emergency_fund bug_spray
    passed_by
"""
"""Phrases whose words speak for nothing."""

CHINESE: tuple[tuple[Family, str], ...] = (
    (
        _POSITIVE,
        """
        成功 完成 改进|改善 提升 开心 高兴 快乐 喜欢|喜爱 热爱 幸福 愉快|愉悦 满意 感谢|感激|感恩 感动 太好了|真好
        太棒|很棒|真棒|好棒|棒极|非常棒|特别棒|这么棒 荣幸 奖励|奖品 不错 顺利 精彩 好吃 美味 好喝 好看 漂亮 好玩 有趣
        期待 兴奋 激动 惊喜 骄傲 自豪 恭喜 祝贺 庆祝 赢了 获胜 获奖|一等奖 通过了 考上 升职|晋升 加薪 放心 欣慰
        舒服|舒适 最爱|我爱|很爱|爱吃|爱喝|爱看|爱听|爱玩|爱上 哈哈 完美 优秀 出色 好消息 好转 享受 过瘾 值得 可爱
        心情好 满足 痛快 松了口气|松了一口气 有意思|有意义 认可 赞美|赞扬|称赞 表扬 夸奖 第一名 冠军 欢乐|欢喜
        喜悦|欣喜 津津有味 温馨|温暖 甜蜜 鼓励 佩服
        """,
    ),
    (
        _POSITIVE | Family.REPAIRED,
        """
        解决了|解决完|解决掉|已解决|已经解决|终于解决|成功解决|顺利解决|得到解决 修复|修好 搞定
        """,
    ),
    (_POSITIVE, "解决"),
    (_POSITIVE | _CALM, "优化"),
    (
        _NEGATIVE,
        """
        失败 难过|难受 伤心|悲伤 生气|气死 愤怒 恼火 讨厌|厌恶 反感 痛恨 烦躁|烦人|好烦|很烦|太烦|烦死|心烦 郁闷 沮丧
        失望 绝望 焦虑 担心|担忧 害怕|可怕 恐惧 紧张 压力 痛苦 头疼|头痛|牙疼|胃疼|好疼|很疼|疼死 生病 感冒 发烧
        好累|很累|太累|累死|累坏 疲惫|疲倦 糟糕|糟透|糟了 倒霉 可恶 恶心 难吃|难喝 难看 无聊 没意思 后悔 遗憾 可惜
        孤独 寂寞 大哭|想哭|哭了 抱怨 投诉 吵架|争吵 分手 失恋 离婚 去世|过世|逝世 弄丢|丢了 被骗|被偷 失业 裁员 失眠
        尴尬 嫉妒 委屈 差劲|太差|很差 受伤 错过 不幸 不满 不好 不行 不爽 完蛋 受不了 麻烦死|太麻烦|很麻烦|真麻烦
        没考好 难熬 苦恼|烦恼 闹心 困惑 迷茫 内疚 自责 惭愧 慌张|恐慌|惊慌 不安 忧虑 抑郁|压抑|忧郁 低落 发脾气 争执
        吃力 困难 批评 责备|责骂 嘲笑 欺负 心痛|心碎 遇到麻烦|遇到了麻烦|遇到了一个麻烦
        """,
    ),
    (_NEGATIVE | Family.FAULT, "问题 超时 崩溃 错误 故障 卡死 宕机"),
    (_NEGATIVE | Family.FAULT | Family.DEBUGGING, "报错|出错|错误码|错误信息|错误日志 闪退"),
    (Family.DEBUGGING, "异常 调试 排查 堆栈 断点 复现 空指针 内存泄漏|内存泄露 死锁 栈溢出 根因"),
    (
        Family.URGENT,
        """
        紧急 立即|立刻 尽快|赶快|尽早 赶紧 火速 加急 急需 十万火急|火烧眉毛 迫在眉睫 刻不容缓
        着急|很急|好急|太急|特别急|非常急 急事 急诊|急救 救命 马上处理|马上解决|马上回复|马上修 阻塞
        """,
    ),
    (
        _CALM,
        """
        重构 整理|梳理 评审|审查 平静|冷静 淡定 从容 放松 舒缓 悠闲|休闲 惬意 安静|宁静 休息 冥想 打坐 瑜伽
        散步|散散步 发呆 慢慢来 不着急|不急|别着急 轻松 自在
        """,
    ),
    (Family.TESTING, "测试|单测|单元测试|集成测试|回归测试 用例"),
    (Family.API_DESIGN, "接口 端点 请求参数|请求体 返回值 响应体 回调地址"),
    (Family.DATA_MODEL, "数据库 数据模型|数据表 表结构|建表 字段 外键|主键 索引"),
)

MASKS_CHINESE = """
    不好意思 好不好 行不行 喜不喜欢 开不开心 高不高兴 满不满意 我爱人 性格测试|心理测试|性格小测试
    怎么解决|如何解决|怎样解决|无法解决|需要解决 有什么问题
    问个问题|问一个问题|问你个问题|问几个问题|问问题|回答问题|提问题
"""

EMOJI: tuple[tuple[Family, str], ...] = (
    (_POSITIVE, "😀😃😄😁😆😂🤣😊😍🥰😘🤗🥳😋😎👍👏🎉🎊💖💕🙌❤"),
    (_NEGATIVE, "😢😭😞😔😟😠😡🤬😤😩😫😖😣😰😱💔👎🤢"),
    (Family.URGENT, "🚨🆘"),
)
"""Each a word of its own. Beyond `❤` they lie between U+1F198 and U+1F9FF."""


def _words(text: str) -> list[str]:
    return text.split()


LIGHT = frozenset(
    _words("""
    very so really that too a an the any at all quite been be being is was are were feel feels feeling felt much as
    particularly exactly especially have has had get got it s think yet more longer further known to one m ve re single
    """)
)
"""Words that may stand between a negator and what it negates: "not at all happy", "no more errors"."""
FREQUENT = LIGHT | frozenset(_words("i we he she they no"))
"""English words that phrases are not looked up by, since nearly every text has some; none is an entry by itself."""

QUESTIONS_CHINESE = _words("是不是 有没有 会不会 能不能 要不要 想不想")
NEGATORS_CHINESE = _words("不 没 没有 未 无 别 难以")
NO_NEGATORS_CHINESE = _words("不得不 特别 个别 分别 区别 级别 类别 性别")
"""Words that end in a negator's character and deny nothing."""
LIGHT_CHINESE = _words("""
    太 很 怎么 是 会 再 能 够 那么 这么 特别 非常 什么 任何 有 出现 出现过 发生 遇到 遇到过 感到 觉得 必 用 要 想 大 被 让 人
""")
"""Words that may stand between a negator and what it negates: 不是很开心, 没有任何问题."""
