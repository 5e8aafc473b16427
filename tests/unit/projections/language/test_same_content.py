"""Which statements say the same in other words, and which differ in one thing and never do."""

from __future__ import annotations

from itertools import combinations

from engramlog_server.projections.language.similar import MOST_READ, content
from tests.rows import each_row


@each_row(
    ("texts",),
    [
        (("I eat no fish.", "I never eat fish", "I don't eat any fish at all", "Fish is something I don't eat."),),
        (("I have coffee each morning", "I always drink a cup of coffee in the morning", "My day starts with coffee"),),
        (("I am allergic to walnuts", "I have a walnut allergy", "I suffer from an allergy to walnuts"),),
        (("I am a teacher", "My job is teacher", "I work as a teacher", "Teacher is my profession"),),
        (("I prefer rice to bread", "I like rice better than bread", "I would rather have rice than bread"),),
        (("I jog on Mondays", "Every Monday I go for a run", "I go running each Monday"),),
        (("我从来不吃鱼。", "鱼我是不吃的", "我一点鱼都不吃"),),
        (("我天天早上都喝茶", "每天早晨我都要喝一杯茶", "我每个早上都会来一杯茶"),),
        (("我儿子今年八岁了。", "我儿子8岁", "我有个八岁的儿子"),),
        (("我礼拜五晚上都游泳", "每周五晚上我都会去游泳"),),
        (("我太太是护士", "我妻子的职业是护士", "我老婆当护士"),),
        (("Honey gives me allergic reactions", "I have an allergy to honey", "I suffer from a honey allergy"),),
        (("My sister's name is Ines", "I have a sister named Ines", "My sister is called Ines"),),
        (("My son lives in Oslo", "Oslo is where my son lives", "My son's home is in Oslo"),),
        (("I'm a pilot by profession", "My occupation is pilot", "Pilot is my job", "I earn my living as a pilot"),),
        (("At noon I ride to the lake with Tom", "With Tom I ride to the lake at noon"),),
        (("I eat an apple every morning", "My morning starts with an apple", "I always have an apple in the morning"),),
        (("I quit smoking", "I no longer smoke", "I don't smoke anymore", "I have given up smoking"),),
        (("I know how to drive a bus", "I'm able to drive a bus", "I can drive a bus"),),
        (("芒果会让我过敏", "我一吃芒果就过敏", "我是芒果过敏体质", "我对芒果有过敏反应"),),
        (("我养了只猫叫雪球", "我的猫名字叫雪球", "我家猫叫雪球"),),
        (("我在学校当老师", "我的工作是在学校做老师", "我是老师，在一家学校上班"),),
        (("我和奶奶一起住在苏州", "我在苏州和奶奶同住", "我和奶奶住苏州"),),
        (("我在杭州上班", "我的工作地点是杭州", "杭州是我工作的城市"),),
        (("我戒烟了", "我把烟戒了", "我已经不抽烟了"),),
    ],
)
def test_other_words_say_the_same(texts: tuple[str, ...]) -> None:
    assert len({content(text) for text in texts}) == 1
    assert content(texts[0]) is not None


@each_row(
    ("texts",),
    [
        (
            (
                "I eat fish",
                "I don't eat fish",
                "I don't eat much fish",
                "I ate fish",
                "I used to eat fish",
                "I eat meat",
            ),
        ),
        (("I have two dogs", "I had two dogs", "I want two dogs", "I have three dogs", "Anna has two dogs"),),
        (("I prefer rice to bread", "I prefer bread to rice", "I do not prefer rice to bread"),),
        (("I work as a nurse", "I worked as a nurse", "I want to work as a nurse", "I work with a nurse"),),
        (
            (
                "I jog on Mondays",
                "I jog on Sundays",
                "I jog on Monday",
                "I jog every morning",
                "I jog with Tom on Mondays",
            ),
        ),
        (("Anna likes Tom", "Tom likes Anna"),),
        (("我不吃鱼", "我吃鱼", "我不吃鱼了", "我不怎么吃鱼", "我不能吃鱼", "我妈不吃鱼"),),
        (("我有只猫", "我有两只猫", "我养过一只猫", "我想有只猫", "我有只狗"),),
        (("我会弹吉他", "我不会弹吉他", "我想学吉他", "我在学吉他", "我教吉他", "我买吉他"),),
        (("我对花生过敏", "我对花生不过敏", "我可能对花生过敏", "我儿子对花生过敏", "我爱吃花生"),),
        (("我每周五游泳", "我周五游泳", "我每周五晚上游泳", "我每周四游泳"),),
    ],
)
def test_what_differs_in_one_thing_never_does(texts: tuple[str, ...]) -> None:
    for one, other in combinations(texts, 2):
        assert content(one) != content(other), (one, other)


@each_row(
    ("one", "other"),
    [
        ("I am always late", "I am late"), ("I always drink tea", "I drink tea"), ("I am not late", "I am never late"),
        ("I don't sleep well", "I never sleep well"), ("I love my colleague", "I like my colleague"),
        ("I own a flat", "I have a flat"), ("I can't bear children", "I hate children"),
        ("The blue jacket suits me better", "I prefer the blue jacket"),
        ("I run every Monday and swim", "I run and swim every Monday"),
        ("I do not eat meat every day", "Every day I do not eat meat"),
        ("I want to run every day", "Every day I want to run"),
        ("Every Monday I told Tom I run", "I told Tom I run every Monday"),
        ("I get my coffee in Brazil every year", "I drink coffee in Brazil every year"),
        ("I am not just any doctor", "I am not just a doctor"), ("We see each other day", "We see every other day"),
        ("我爱她", "我喜欢她"), ("我不在家", "我从不在家"), ("我想他是对的", "我希望他是对的"),
        ("我想他", "我想要他"), ("我准备考试", "我计划考试"), ("我准备学费", "我打算学费"),
        ("晚上一定要去医院", "每天晚上去医院"), ("周五必交报告", "每周五交报告"), ("我每天要吃药", "我每天吃药"),
        ("家里有事", "我有事"), ("我家有三个孩子", "我有三个孩子"), ("我不特别喜欢猫", "我不喜欢猫"),
        ("我喜欢去医院", "我喜欢医院"), ("喝酒是我的习惯", "我每天喝酒"), ("这份工作更适合我", "我更喜欢这份工作"),
        ("我不每天喝酒", "我每天不喝酒"), ("我想每天跑步", "我每天想跑步"), ("他说我每天喝茶", "每天他说我喝茶"),
        ("我不当老师", "我不是老师"), ("我不习惯早上喝咖啡", "我不每天早上喝咖啡"), ("猫过敏", "我对猫过敏"),
        ("My cat is allergic to me", "I am allergic to my cat"), ("I have a dog with an allergy", "I am allergic to dogs"),
        ("My sister called Tom", "My sister is called Tom"), ("My dog's name was Rex", "My dog's name is Rex"),
        ("I am at the doctor", "I am a doctor"), ("I work for a doctor", "I work as a doctor"),
        ("My doctor works at a school", "I am a doctor at a school"), ("I have a nurse", "I am a nurse"),
        ("I am a nurse at a school near a hospital", "I am a nurse at a hospital near a school"),
        ("I have a home in Oslo", "I live in Oslo"), ("I live near Oslo", "I live in Oslo"), ("I am in Oslo", "I live in Oslo"),
        ("My brother lives with me in Rome", "I live with my brother in Rome"), ("I sold my dog", "I have a dog"),
        ("I like to drink a lot", "I like to drink"), ("I eat chicken every day", "I buy chicken every day"),
        ("猫对我过敏", "我对猫过敏"), ("我儿子对猫过敏", "我对儿子的猫过敏"), ("我的医生在医院工作", "我在医院当医生"),
        ("我爸妈住在成都", "我住在爸妈成都的家"), ("我住在爸妈家", "我和爸妈一起住"), ("我住在医院附近", "我住在医院"),
        ("我是大一学生", "我是大学生"), ("我是猫", "我有猫"), ("我在医院工作", "我在医院"), ("我叫外卖", "我叫了外卖"),
        ("我不去了", "我不再去"), ("我戒烟", "我戒烟了"), ("我养过一只猫", "我养了一只猫"),
    ],
)  # fmt: skip
def test_what_sounds_alike_is_not_the_same(one: str, other: str) -> None:
    assert content(one) != content(other)


@each_row(
    ("text",),
    [
        ("Do I like tea?",),
        ('He said "I like tea"',),
        ("I like tea. I like rice.",),
        ("x " * MOST_READ,),
        ("Do it now.",),
        ("",),
    ],
)
def test_no_question_no_quotation_and_nothing_long_is_read(text: str) -> None:
    assert content(text) is None
