"""Words that are no keywords, or only where nothing better is left: English by stem, Chinese as a segmenter cuts it."""

from __future__ import annotations

from projections.language.text import STOP_WORDS, stem

_NEVER_TEXT = """
i me my mine myself you your yours yourself yourselves u ur we us our ours ourselves they themselves himself herself
itself he's she's it's i'm you're we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll
he'll she'll we'll they'll that's there's here's what's who's where's how's let's isn't aren't wasn't weren't don't
doesn't didn't won't wouldn't can't cannot couldn't shouldn't haven't hasn't hadn't ain't dont didnt doesnt cant wont
im ive id thats whats lets gonna wanna gotta kinda sorta y'all anyone anybody anything anywhere everyone everybody
everything everywhere someone somebody something somewhere no-one nobody nothing nowhere none one ones another other
others each every either neither both all any some such same own few many much more most less least several various
enough lot lots bit again against along already also although always among amongst around away back because before
behind below beneath beside besides between beyond despite during else ever even except far further hence here however
inside instead just later like maybe meanwhile might must near nearly never nevertheless next nor now off often once
only onto otherwise ought out outside over per perhaps please plus quite rather really regarding right shall since so
sometimes somehow soon still sure then there therefore though through throughout thus till together too toward towards
under unless until up upon usually very via whatever whenever wherever whether whichever while within without would
yes yet yeah yep yup nope nah no ok okay oh ah aw aww hey hi hello hiya bye goodbye wow whoa haha hahaha lol omg hmm
huh um uh well anyway btw etc e.g i.e eg ie vs a.m p.m am pm mr mrs ms dr able across almost alone ago apart aside
ahead down actually basically certainly definitely absolutely totally exactly especially probably possibly simply
truly literally honestly seriously recently currently finally originally eventually generally specifically typically
mostly mainly highly fully completely extremely incredibly slightly easily quickly first second third firstly secondly
thirdly lastly last two three four five six seven eight nine ten eleven twelve hundred phew somewhat thousand zero may
half couple dozen twice
"""
_WEAK_TEXT = """
get got gotten go went gone come came do did done make made take took taken give gave given put let keep kept say said
tell told talk speak spoke ask asked answer reply know knew known think thought feel felt see saw seen look watch hear
heard listen find found want need like love hate enjoy prefer hope wish try use help show shown mean meant become
became happen start began begun begin stop end finish continue seem appear turn leave left live stay move bring
brought buy bought pay sell sold send sent meet met run ran sit sat stand stood hold held lose lost win won set call
work play eat ate eaten drink drank sleep slept walk wait wonder guess suppose believe understand understood remember
remind forget forgot forgotten learn decide choose chose chosen agree consider expect plan add allow apply avoid based
bet build built care carry catch caught cause change check clean clear close compare complete connect contain count
cover create cut deal describe design develop discuss drop explain explore fall fell fit fix focus follow grow grew
grown handle hang head identify imagine implement improve include increase inspire involve join kick lead led lie list
manage matter miss offer open order pass pick point prepare provide pull push reach read receive reduce reflect relate
require rest return save seek select serve share sign sort spend spent step suggest support surprise tend thank touch
track update visit worry write wrote written wear wore ensure specify recommend appreciate encourage blow blew mention
achieve ponder gather notice hit stick stuck capture bond cheer relax stress amaze excite interest thrill please glad
proud happy sad sorry sorrow tire bore scare confuse impress fascinate satisfy good great nice cool awesome amazing
fantastic wonderful lovely fun funny best better bad worse worst big small little large huge tiny long short high low
old new young early late fast slow hard easy simple difficult tough rough strong weak hot cold warm full empty ready
busy free true false real fine beautiful pretty perfect incredible special important different similar certain
possible impossible likely common main major minor general specific particular overall whole entire single recent
current previous following final additional extra further available useful helpful necessary essential key effective
efficient proper appropriate relevant correct wrong safe sure aware careful comfortable crazy weird strange sweet
super positive negative rad inspiring powerful meaningful supportive tasty delicious yummy solid robust smooth
detailed basic regular normal usual thing stuff something way kind type part piece side place case fact idea issue
problem question reason result example instance detail information info aspect area level number amount chance moment
time day night today tonight tomorrow yesterday morning afternoon evening noon week weekend month year hour minute
second date period future past present now later monday tuesday wednesday thursday friday saturday sunday jan feb mar
apr jun jul aug sep sept oct nov dec january february march april june july august september october november december
people person man men woman women guy guys folk others everyone friend life world top bottom middle bunch pair group
sense effort experience feeling memory memories value self thanks congrats congratulations welcome cheers luck daily
weekly monthly yearly often sometimes forward maximum minimum average total awhile glance scenario overview approach
section certainly accept accomplish account acknowledge acquire act adapt address adjust admire admit adopt advance
affect afford align allocate alter announce annoy anticipate appeal approve argue arise arrange arrive assess assign
assist associate assume assure attach attempt attend attract base bear beat behave belong benefit blame blend boost
borrow bother break brew broaden browse challenge chat chill chase click climb collect combine comfort comment commit
communicate complain complement comply conclude conduct confirm consist consult contact contribute control convey
convince cope crash cry customize deepen define deliver demand demonstrate deny depend deserve desire detect determine
devote differ digest discover dive divide double drag draw drive dump earn ease elevate embrace emphasize employ
enable encounter engage enhance enter escape establish evaluate exceed exchange excel exist expand experiment express
extend face fail familiarize favor feature feed fight figure fill fire flow fulfil fulfill function gain generate glow
grab guide harm heal highlight hide hug hurt illustrate impact imply incorporate indicate indulge influence inform
initiate insert inspect install integrate interact introduce invest invite jump justify kill knock lack laugh last
launch lean lift limit load lower maintain maximize measure minimize mind mix modify monitor motivate multiply
navigate nail obtain occur operate optimize organize overcome overwhelm participate pause perform permit persuade
plant pop practice predict preserve press pretend prevent prioritize proceed process produce promote propose protect
prove pump purchase pursue qualify raise range react realize recall recognize record recover refer refine refuse
regain reinforce reject release rely remain remove repeat replace represent resolve respond resume retain retire
reveal review reward risk roll rush schedule scream secure separate settle shake shape shift shine shout shut slip
smile sound spark split spread squeeze steal stretch strengthen strike strive struggle study submit suck sum summarize
supply surround survive suspect switch tackle tag tailor target tease test throw threw thrown tip toss trade train
transform translate transition treat trigger trust twist unwind urge utilize vary verify view vent volunteer wake woke
warn wash waste withdraw wrap yell yield adore accompany absolute acceptable accessible accurate active actual
adequate advanced alive alright amused ancient angry annual anxious apparent attractive awful balanced beneficial
bigger biggest bitter blind bold boring brave brief bright brilliant broad broken calm capable casual cheap charming
clever closer comprehensive compelling complex concerned concise confident conscious consistent constant convenient
corresponding cozy creative critical crucial curious cute dark dear decent dedicated deep delighted delightful
dependent desperate diverse dry due eager earlier easier elegant emotional endless engaging enjoyable enormous epic
equal eventual everyday evident exact excellent exclusive existing expected expensive extensive extreme fair familiar
famous fancy fascinating favorite favourite few fewer firm flat flexible fond foreign formal former fortunate frequent
fresh friendly frustrated frustrating fulfilling gentle genuine giant gorgeous graceful gradual grand grateful greater
greatest gross guilty healthy heartwarming heavy helpless higher hilarious honest honored horrible humble hungry ideal
immediate immense individual inevitable initial innocent innovative intense intriguing invaluable keen larger lasting
latest lazy limited lonely longer loud lucky mad magical massive mental mere mild minimal missing mixed modern
multiple mutual narrow natural neat nervous nicer noble notable noticeable numerous obvious odd ongoing opposite
optimal ordinary original outstanding overdue peaceful peculiar perceptive permanent personal persistent physical
plain playful pleasant pleased plentiful polite poor popular potential practical precious precise primary private
productive professional profound public pure quick quiet random rapid rare rational realistic reasonable recommended
refreshing reliable remarkable resilient responsible rewarding rich ridiculous rude scary selfish sensible sensitive
serene serious severe sharp shorter shy significant silent silly sincere slight smart social soft sophisticated
soothing spectacular spiritual spontaneous stable standard steady stressful stressed strict stronger structured
stunning stupid subtle successful sudden sufficient suitable supreme surprising talented temporary terrible terrific
therapeutic thick thin thorough thoughtful thrilled tight touching traditional tremendous tricky typical ultimate
unable unbelievable unexpected unforgettable unfortunate unique upset urgent valid valuable various vast vibrant vital
vivid wide wild willing wise worthwhile worthy younger bummer yikes woohoo yay ouch aww whew ugh gosh prob heck damn
sheesh omg ability accordance basis beginning characteristic circumstance component concept concern condition
consideration context contrast difference direction element ending environment essence evidence existence expectation
explanation extent factor form format goal half hand hint importance implication improvement inspiration insight
intention interaction item knowledge lesson limitation link meaning means method mode note notion opinion opportunity
option outcome pattern perspective phase position possibility presence priority procedure progress purpose quality
rate reality recommendation reminder requirement response responsibility role rule sake scale scope series session
similarity situation size solution source spot stage standpoint state statement status strategy structure style
success suggestion summary system task technique tendency term tone tool topic trick trouble truth uncertainty
understanding variety version voice word worth pic photo image picture article content name named kid dude buddy pal
fella bud joy vibe passion journey adventure stride
"""
NEVER = frozenset(_NEVER_TEXT.split()) | STOP_WORDS
"""English words that are never keywords."""
WEAK = frozenset(stem(word) for word in _WEAK_TEXT.split())
"""Stems of English words that are keywords only where nothing better is left."""

_NEVER_HAN_TEXT = """
你好 您好 好 再聊 会儿 太多 谢谢 谢谢你 再见 好的 是的 当然 当然可以 不用谢 不客气 客气 没关系 没问题 请问 加油 哈哈
哈哈哈 非常感谢 感谢 抱歉 对不起 不好意思 我会 我用 我想 我觉得 我也 找我聊 这是 那是 就是 还是 不是 是不是 有没有
是否 没有 还有 只有 所有 有所 有些 一些 一下 一点 一点儿 一会儿 一起 一样 一种 一个 一直 一定 一般 一切 很多 许多 好多
不少 几个 多次 左右 比如 比如说 例如 作为 无法 能够 可以 可能 应该 需要 想要 必须 看来 来说 来看 起来 下来 下去 上来
上去 出来 出去 过来 过去 回来 回去 之前 之后 以前 以后 以来 之间 之外 期间 时候 有时候 有时 时 人 人们 事 事儿 话 家
点 里面 上面 下面 外面 后面 前面 旁边 附近 怎么办 怎么样 什么样 怎样 为什么 无论如何 总之 首先 其次 最后 最近 最终
最好 最大 更好 更加 特别 尤其 非常 十分 真是 真的 真正 真心 真好 其实 也许 或许 不断 随时 已经 经常 常常 总是 往往
通常 逐渐 长期 即可 毕竟 的确 确实 至少 尽快 尽力 刚刚 刚才 终于 依然 尽量 慢慢 好好 不太 不已 不怎么 越来越 自然 先生
女士 小姐 这样 那样 这种 那种 这里 那里 哪里 自己 大家 别人 其他 其他人 各种 每天 每周 每个 每次 今天 明天 昨天 后天
前天 今晚 昨晚 早上 上午 中午 下午 晚上 现在 目前 当前 当时 将来 未来 今年 去年 明年 周末 平时 下次 上次 这次 那次
早日 正在 开始 继续 没错 不错 很棒 棒 太棒了 太好了 厉害 高兴 非常高兴 当中 其中 之一 关于 对于 除了 祝你好运 祝好
早上好 晚上好 别忘了 说不定 能 要 令人 做些 买些 聊些 广大 各位 本书 那首歌 这本 这家 在家 的话 等等 身上 心里 手里
家里 眼里
"""
_WEAK_HAN_TEXT = """
朋友 聊聊 建议 感觉 方法 问题 地方 时间 体验 事情 方式 情况 能力 计划 机会 过程 方向 方面 水平 内容 信息 价值 意义
结果 原因 目标 东西 样子 部分 类型 种类 主意 办法 经验 领域 精彩 感兴趣 兴趣 有趣 有意思 喜欢 感到 觉得 知道 认为 希望
推荐 帮助 开心 快乐 愉快 美好 重要 简单 不同 具体 独特 相关 适合 合适 提高 提供 提升 选择 考虑 尝试 试试 看看 寻找
找到 看到 听到 听说 遇到 得到 获得 得知 取得 收到 发现 分享 享受 感受 了解 理解 保持 进行 参加 准备 决定 打算 想法
相信 支持 认识 知识 掌握 学会 学习 记得 忘记 值得 期待 变得 叫做 带给 带来 使用 处理 表现 度过 加入 成为 属于 包括
需求 有用 帮忙 告诉 介绍 回答 说明 解释 放松 缓解 调整 发展 挑战 困难 成功 努力 积极 认真 顺利 充实 完全 充分 明确
直接 正确 详细 明白 美丽 美味 安静 新鲜 古老 祝福 友谊 伴侣 陪伴 助手 生活 人生 世界 社会 聊天 聊聊天 谈谈 交流 想一想
优秀 漂亮 舒适 轻松 健康 平衡 丰富 有效 容易 常见 复杂 一次 第一 今后 近来 说说 玩 去 来 做 看 听 吃 喝 写 说 想 买 用
找 学 打 走 跑 坐 拿 放 开 关 问 叫 让 给 带 送 见 住 穿 读 画 唱 等 下次 增加 增强 减少 避免 确保 注意 坚持 培养 建立
形成 实现 完成 达到 解决 改善 改变 促进 满足 拥有 充满 具有 存在 出现 发生 产生 引起 导致 影响 有助于 进一步 能让 主要
完美 经历 故事 心情 情感 情绪 新 好 大 小
"""
NEVER_HAN = frozenset(_NEVER_HAN_TEXT.split())
"""Chinese words that are never keywords."""
WEAK_HAN = frozenset(_WEAK_HAN_TEXT.split())
"""Chinese words that are keywords only where nothing better is left."""
VERBS_BEFORE = frozenset("喝吃买看玩去学做打听写读用找养种")
"""Verbs of one character that a segmenter may leave on their object: 喝咖啡."""
