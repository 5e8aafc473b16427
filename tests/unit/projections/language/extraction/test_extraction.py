"""What a turn states, by rules, in English and Chinese: class, polarity, whether it is asserted, and the words it is kept in."""

from __future__ import annotations

from engramlog_server.projections.language.extraction.rules import extract
from engramlog_server.projections.language.extraction.shape import ExtractedStatement, TurnText
from tests.rows import each_row

DAY = "2024-05-01"


def stated(text: str, speaker: str | None = "user", role: str = "user") -> list[ExtractedStatement]:
    """What the turn states, asserted or not."""
    return extract(TurnText("t1", text, role, speaker, DAY))


def contents(text: str, speaker: str | None = "user", role: str = "user") -> list[str]:
    """What the turn asserts."""
    return [one.content for one in stated(text, speaker, role) if one.asserted]


ENGLISH = [
    ("My name is Ada Lovelace.", "identity", "User's name is Ada Lovelace"),
    ("Call me Max", "identity", "User is called Max"),
    ("I'm 34 years old", "identity", "User is 34 years old (said on 2024-05-01)"),
    ("I was born in 1990 in Lyon.", "identity", "User was born in 1990 in Lyon"),
    ("My birthday is on March 3rd.", "identity", "User's birthday is on March 3rd"),
    ("I live in Berlin.", "identity", "User lives in Berlin"),
    ("Yeah, I'm from Sweden!", "identity", "User is from Sweden"),
    ("I moved to Chicago.", "identity", "User moved to Chicago"),
    ("I work as a data analyst at Acme.", "identity", "User works as a data analyst at Acme"),
    ("I'm a retired teacher", "identity", "User is a retired teacher"),
    ("I'm vegetarian.", "identity", "User is vegetarian"),
    ("I'm allergic to peanuts.", "identity", "User is allergic to peanuts"),
    ("I have two daughters, and they love swimming.", "identity", "User has two daughters"),
    ("I was diagnosed with asthma in 2019.", "identity", "User was diagnosed with asthma in 2019"),
    ("I love hiking.", "stable_preference", "User loves hiking"),
    ("I really enjoy cooking Thai food", "stable_preference", "User enjoys cooking Thai food"),
    ("I prefer tea over coffee.", "stable_preference", "User prefers tea over coffee"),
    ("I hate loud restaurants.", "stable_preference", "User hates loud restaurants"),
    ("I can't stand horror films", "stable_preference", "User cannot stand horror films"),
    ("I don't like cilantro.", "stable_preference", "User does not like cilantro"),
    ("My favourite colour is green.", "stable_preference", "User's favourite colour is green"),
    ("I'm a big fan of Studio Ghibli.", "stable_preference", "User is a big fan of Studio Ghibli"),
    ("I'm passionate about urban gardening.", "stable_preference", "User is passionate about urban gardening"),
    ("I speak Portuguese fluently.", "skill", "User speaks Portuguese fluently"),
    ("I play the violin.", "skill", "User plays the violin"),
    ("I can play the guitar and drums.", "skill", "User can play the guitar and drums"),
    ("I've been running marathons for ten years.", "skill", "User has been running marathons for ten years"),
    ("I'm planning a trip to Lisbon in June.", "temporary", f"User is planning a trip to Lisbon in June (said on {DAY})"),
    ("I have a dentist appointment on May 14.", "temporary", f"User has a dentist appointment on May 14 (said on {DAY})"),
    ("I'm flying to Oslo tomorrow.", "temporary", f"User is flying to Oslo tomorrow (said on {DAY})"),
    ("I'm reading Middlemarch at the moment.", "temporary", f"User is reading Middlemarch (said on {DAY})"),
    ("I decided to study medicine in Vienna.", "fact", f"User decided to study medicine in Vienna (said on {DAY})"),
    ("I switched from Android to iPhone.", "fact", f"User switched from Android to iPhone (said on {DAY})"),
    ("I visited my sister in Porto last week.", "fact", f"User visited their sister in Porto last week (said on {DAY})"),
    ("Last week I joined a chess club in Leeds.", "fact", f"Last week, User joined a chess club in Leeds (said on {DAY})"),
    ("I've never eaten oysters in Brittany.", "fact", f"User has never eaten oysters in Brittany (said on {DAY})"),
    ("I used to play football for Ajax.", "fact", f"User used to play football for Ajax (said on {DAY})"),
    ("My brother Tom lives in Kyoto.", "fact", f"User's brother Tom lives in Kyoto (said on {DAY})"),
    ("My wife Anna works at a bakery in Graz.", "fact", f"User's wife Anna works at a bakery in Graz (said on {DAY})"),
    ("I prefer mornings, can you make a schedule?", "stable_preference", "User prefers mornings"),
    ("I met Matthew at the Media Hub on June 5, so what should I do next?", "fact",
     f"User met Matthew at the Media Hub on June 5 (said on {DAY})"),
    ("Please remember that my locker is number 42.", "fact", f"User asked to remember: my locker is number 42 (said on {DAY})"),
]  # fmt: skip

NOTHING_ENGLISH = [
    "Do I like coffee?", "What is my name?", "Do you remember that I live in Paris?", "Should I move to Berlin?",
    "I like coffee, right?", "Can you help me with my essay", "I wonder if I have two daughters?",
    "If I lived in Rome, I would love hiking.", "If I win the race, I'll move to Berlin in June.",
    "Suppose I have three children.", "Imagine I live in Tokyo.", "I would love a trip to Japan.",
    "I might move to Oslo next year.", "Maybe I love jazz music.", "I wish I had two dogs.", "I guess I like opera.",
    "I could have visited Madrid in May.", 'She said "I love hiking in Norway".', 'My boss told me, "I live in Madrid".',
    "He says, I love fishing.", "She loves hiking.", "You love hiking.", "They moved to Berlin.",
    "The weather is nice today.", "Thanks so much!", "Hey, how's it going?", "I love it!", "I love that idea.",
    "I love how you explained it.", "I like your plan.", "I'm so happy for you!", "I'm glad you liked it.", "I went there.",
    "I got it.", "I'm here for you.", "I have a question.", "I agree.", "I appreciate your help.", "I'm a bit tired.",
    "I see what you mean.", "You said I like coffee.", "Tell me about Paris.", "In my novel, I live in Atlantis.",
    "Let's say I live in Rome.", "Pretend I'm a teacher.", "I said I love jazz.", "Everyone says I'm a great cook.",
    "I don't think I like jazz.", "It's a library for when I have kids.", "I don't remember that my locker is number 5.",
    "Remember when I lived in Oslo?", "```\nI = 3\nI love hiking\n```", "> I live in Paris", "", "...",
]  # fmt: skip

CHINESE = [
    ("我叫张曼婷。", "identity", "用户叫张曼婷"), ("你好，我叫周立。", "identity", "用户叫周立"),
    ("我是郑思雨。", "identity", "用户是郑思雨"), ("我今年28岁。", "identity", "用户今年28岁（2024-05-01说）"),
    ("我的生日是5月3日。", "identity", "用户的生日是5月3日"), ("我住在杭州。", "identity", "用户住在杭州"),
    ("我搬到上海了。", "identity", "用户搬到上海了"), ("我来自四川成都。", "identity", "用户来自四川成都"),
    ("我是北京人。", "identity", "用户是北京人"), ("我是一名软件工程师。", "identity", "用户是一名软件工程师"),
    ("我的职业是护士。", "identity", "用户的职业是护士"), ("我在腾讯工作。", "identity", "用户在腾讯工作"),
    ("我已经结婚了。", "identity", "用户已经结婚了"), ("我对花生过敏。", "identity", "用户对花生过敏"),
    ("我有糖尿病。", "identity", "用户有糖尿病"), ("我有两个女儿。", "identity", "用户有两个女儿"),
    ("我养了一只橘猫。", "fact", "用户养了一只橘猫（2024-05-01说）"), ("我喜欢爬山。", "stable_preference", "用户喜欢爬山"),
    ("我很喜欢绘画、弹钢琴和品茶，你觉得有什么好书？", "stable_preference", "用户很喜欢绘画、弹钢琴和品茶"),
    ("我最喜欢的颜色是蓝色。", "stable_preference", "用户最喜欢的颜色是蓝色"),
    ("我不喜欢香菜。", "stable_preference", "用户不喜欢香菜"), ("我讨厌下雨天。", "stable_preference", "用户讨厌下雨天"),
    ("我爱吃火锅。", "stable_preference", "用户爱吃火锅"),
    ("我对古典音乐很感兴趣。", "stable_preference", "用户对古典音乐很感兴趣"),
    ("我的爱好是摄影和骑行。", "stable_preference", "用户的爱好是摄影和骑行"),
    ("我是个足球迷。", "stable_preference", "用户是个足球迷"),
    ("我不喜欢咖啡了。", "stable_preference", "用户不喜欢咖啡了"), ("我会弹吉他。", "skill", "用户会弹吉他"),
    ("我会说日语。", "skill", "用户会说日语"), ("我擅长水彩画。", "skill", "用户擅长水彩画"),
    ("我学钢琴已经十年了。", "skill", "用户学钢琴已经十年了"),
    ("我打算下个月去云南旅游。", "temporary", "用户打算下个月去云南旅游（2024-05-01说）"),
    ("今天是周末，我计划去故宫参观。", "temporary", "用户计划去故宫参观（2024-05-01说）"),
    ("我明天要参加英语考试。", "temporary", "用户明天要参加英语考试（2024-05-01说）"),
    ("我最近在学习编程。", "temporary", "用户最近在学习编程（2024-05-01说）"),
    ("最近正在看《三体》。", "temporary", "用户最近正在看《三体》（2024-05-01说）"),
    ("我决定辞职去读研究生。", "fact", "用户决定辞职去读研究生（2024-05-01说）"),
    ("今天我去了一家博物馆，学到了很多。", "fact", "用户今天去了一家博物馆（2024-05-01说）"),
    ("我参加了学校的美术比赛。", "fact", "用户参加了学校的美术比赛（2024-05-01说）"),
    ("我从来没有去过西藏。", "fact", "用户从来没有去过西藏（2024-05-01说）"),
    ("我戒烟了。", "fact", "用户戒烟了（2024-05-01说）"), ("我戒了糖。", "fact", "用户戒了糖（2024-05-01说）"),
    ("我妈妈住在南京。", "fact", "用户妈妈住在南京（2024-05-01说）"),
    ("请记住我的门牌号是302。", "fact", "用户要求记住：我的门牌号是302（2024-05-01说）"),
]  # fmt: skip

NOTHING_CHINESE = [
    "我喜欢什么？", "我叫什么名字？", "你知道我住在哪里吗？", "我应该搬到上海吗？", "我是不是喜欢咖啡？",
    "你有没有养过猫？", "我有两个女儿吗", "如果我住在北京，我就喜欢滑雪了。", "要是我有一只猫就好了。", "假如我会弹吉他。",
    "万一我搬到上海了。", "我可能喜欢爬山。", "我大概会说日语。", "也许我喜欢摄影。", "我好像对花生过敏。",
    "他说我喜欢爬山。", "妈妈说：“我喜欢爬山。”", "朋友告诉我，我住在杭州。", "听说我喜欢爬山。", "他喜欢爬山。",
    "你喜欢爬山。", "小明住在杭州。", "今天天气真好。", "谢谢你的建议！", "你好，朋友！", "我喜欢这个。", "我喜欢你。",
    "我很喜欢它。", "我知道了。", "我明白了，谢谢。", "我觉得你说得对。", "我会尝试的。", "我会考虑你的建议。",
    "我不知道该怎么办。", "我有一个问题。", "我遇到了一些困难。", "我想问一个问题。", "我们去了公园。", "我会去看看。",
    "好的，再见。", "我去了那里。", "在我的小说里，我住在火星。", "假装我是一名医生。", "我以为我住在杭州。",
    "我记住了你的建议。", "不要记住我喜欢猫。", "我没有女儿吗？", "我喜欢吗？", "你觉得我适合学习编程吗？", "", "。。。",
]  # fmt: skip


@each_row(("text", "category", "content"), ENGLISH)
def test_english_statements_are_kept_about_their_speaker(text: str, category: str, content: str) -> None:
    found = [(one.category, one.content) for one in stated(text) if one.asserted]
    assert found == [(category, content)]


@each_row(("text", "category", "content"), CHINESE)
def test_chinese_statements_are_kept_about_their_speaker(text: str, category: str, content: str) -> None:
    found = [(one.category, one.content) for one in stated(text) if one.asserted]
    assert found == [(category, content)]


@each_row("text", NOTHING_ENGLISH + NOTHING_CHINESE)
def test_questions_suppositions_quotations_and_chat_assert_nothing(text: str) -> None:
    assert contents(text) == []


@each_row("text", [row[0] for row in ENGLISH + CHINESE])
def test_what_an_assistant_or_a_tool_says_is_no_fact_about_the_user(text: str) -> None:
    assert [stated(text, role, role) for role in ("assistant", "tool", "system")] == [[], [], []]


@each_row("text", [row[0].rstrip(".!。 ") for row in ENGLISH + CHINESE])
def test_a_statement_with_a_question_mark_after_it_asserts_nothing_of_its_last_clause(text: str) -> None:
    clause = text.rsplit("，" if "，" in text else ", ", maxsplit=1)[-1]
    assert contents(clause + "?") == []
