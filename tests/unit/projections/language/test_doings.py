"""What somebody says that they do or like, and what is only asked, wished, supposed, denied or planned."""

from __future__ import annotations

from engramlog_server.projections.language.about_user import MOST_OF_DOINGS, doings
from tests.rows import each_row


@each_row(
    ("text", "told"),
    [
        ("Hi! I just signed up for a pottery class.", ["signed up for a pottery class"]),
        ("I'm a big fan of pottery - it is fun. We painted a lake.", ["fan of pottery", "painted a lake"]),
        ("I’ve been volunteering at the shelter", ["volunteering at the shelter"]),
        ("I'm trying to set up my kiln, and I hope it works", ["trying to set up my kiln"]),
        ("最近我在学陶艺，很有意思。周末去爬山了。", ["学陶艺", "去爬山了"]),
        ("我很喜欢陶艺！", ["喜欢陶艺"]),
        ("我每天早上六点跑步。", ["跑步"]),
        ("今天我去了电影院，看了一场新上映的电影。", ["去了电影院", "看了一场新上映的电影"]),
        ("我是小学老师，我在大学里参加了社团", ["参加了社团"]),
        ("晚上吃了烧烤。", ["吃了烧烤"]),
        ("买了一把雅马哈吉他，F310。", ["买了一把雅马哈吉他"]),
        ("带女儿去爬山，她走不动。", ["去爬山"]),
        ("周末和朋友去听了音乐节。", ["去听了音乐节"]),
        ("第二次做红烧肉，这回成功了。", ["做红烧肉"]),
        ("用铸铁锅炖了红烧肉，香得不得了。", ["炖了红烧肉"]),
        ("又加班到十点。", ["加班"]),
        ("开始练冥想，睡前十分钟。", ["练冥想"]),
        ("昨晚又失眠了，头很疼。", ["失眠"]),
        ("我给女儿报了画画班。", ["报了画画班"]),
        ("结束后大家一起去吃烧烤。", ["去吃烧烤"]),
    ],
)
def test_a_doing_is_told_with_its_verb(text, told) -> None:
    assert [one.told.split(" -")[0] for one in doings(text)] == told


@each_row(
    ("text",),
    [
        ("Do I like pottery?",), ("I would join a pottery class",), ("If I start pottery, I might paint pots",),
        ("I never played chess",), ("I used to play chess",), ("You play chess",), ("I want to play chess",),
        ("我想学陶艺",), ("我不喜欢陶艺",), ("我会去学陶艺的",), ("你喜欢陶艺",), ("我喜欢陶艺吗？",), ("",),
        ("我妈妈练瑜伽。",), ("我爸去钓鱼了。",), ("要是有空我就去看电影。",), ("我打算学游泳。",),
        ("我朋友徒步去了，看了一场电影。",),
        ("我想去，看了一部电影的介绍。",),
        ("今天没去爬山。",), ("女儿去爬山了。",), ("晚上不用加班。",), ("吃了吗？",),
        ("老板让我加班。",), ("同事请客，吃了一顿烧烤。",), ("明天打算去爬山。",), ("同事又加班到十点。",), ("看了你的建议。",),
        ("x " * MOST_OF_DOINGS,),
    ],
)  # fmt: skip
def test_what_is_not_done_is_none(text) -> None:
    assert list(doings(text)) == []
