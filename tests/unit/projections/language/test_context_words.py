"""The word lists: every entry speaks, negated ones do not, and everyday texts get the right tags."""

from __future__ import annotations

from engramlog_server.events.parameters import DEFAULTS
from engramlog_server.projections.memory.record import Memory
from engramlog_server.projections.memory.tags import WORD_TAGS, Family, context_of, entries
from tests.rows import each_row

# Written for this test as people talk, some of them without any listed word on purpose.
LABELLED = """
positive | We finally got tickets for the jazz festival and I'm so excited!
positive | Had a wonderful dinner with Priya at the harbour, the scallops were delicious.
positive | I passed my driving test this morning!
positive | Grandma's surgery went well and we are all relieved.
positive | I really like how the garden looks after the rain.
negative | I'm not happy with the apartment we were shown.
negative | I hate cilantro, please never suggest it.
negative | She has been feeling anxious about moving abroad.
negative | The hotel was a disaster: no hot water and a broken window.
negative | Our old dog passed away on Sunday.
negative | I can't stand my new manager.
negative | We had a terrible argument about money last night.
| No worries, Thursday works as well.
| My sister lives in Leeds and teaches chemistry.
| Is the museum open on Mondays?
| He moved from Toronto to Halifax in 2019.
| It is important that the port is on the left side.
negative urgent | This is urgent: the basement is flooding and we need a plumber right away, it's awful!
urgent | I need the report immediately, the client is waiting.
urgent | Emergency contact is my brother Tom, call him ASAP if anything happens to me today.
| It's not urgent, whenever you have time.
calm | Spent a quiet afternoon reading by the lake.
calm | I do yoga to unwind after work.
positive calm | A peaceful weekend at the cabin, I feel great.
calm | Next sprint we refactor the billing module.
calm | Please review my pull request when you get a chance.
calm | No rush, take your time with the translation.
negative debugging | The build failed with a segfault and I have no traceback.
negative debugging | Getting a KeyError in the import script every time.
debugging | I set a breakpoint in the parser and stepped through it.
positive debugging | Fixed the login bug, the users can sign in again.
negative debugging | The nightly job throws a NullPointerException when the cart is empty.
debugging negative urgent | Production is down with error 502, critical, all hands please.
debugging | We're still troubleshooting the printer driver.
testing | Please add unit tests for the date parser.
testing positive | All integration tests passed on the first run.
testing negative | Two of the pytest cases are failing on Windows.
testing | QA wants a regression suite before the release.
| The doctor ordered a blood test for next week.
api_design | The endpoint should return 404 when the user is unknown.
api_design | We chose GraphQL over REST for the mobile client.
api_design | The webhook payload carries the order id and a signature.
data_model | The orders table needs a foreign key to customers.
data_model | We store sessions in a Postgres database.
data_model positive | Adding an index improved the SQL query from 4 s to 30 ms.
api_design data_model | The API reads straight from the reporting db.
data_model negative debugging | The migration crashed with an exception: column price is missing from the database.
testing api_design | Write a test for every endpoint of the payments service.
| I keep my old exercise books in the attic.
positive | I could listen to this album all day long.
negative | He never called me back and it stung.
negative | Nobody came to my recital.
| We need lemon bug spray for the camping trip.
| Her aunt is a critical care nurse in Dublin.
urgent | Drop everything and come to the hospital now.
debugging | Can you see why the parser returns None for an empty line?
testing | Mock the payment client and assert that it was called once.
api_design | What should POST /orders return when the cart is empty?
data_model | Users and groups are many-to-many, so we need a join table.
calm | I put the phone away and just listened to the rain.
positive | 今天收到了录取通知书，太开心了！
positive | 我最喜欢吃妈妈做的红烧肉。
positive | 女儿钢琴比赛得了一等奖，我们都很骄傲。
positive | 这家面馆的味道不错，下次还来。
positive | 领导说我们组今年表现优秀，给大家加薪。
negative | 最近压力很大，晚上经常失眠。
negative | 我不喜欢香菜，点菜的时候别放。
negative | 这次考试没考好，有点失望。
negative | 奶奶住院了，我很担心她。
negative | 今天加班到十点，好累。
negative | 快递又弄丢了，真让人生气。
negative | 我对这份工作不满意。
| 我住在杭州，在一家银行上班。
| 没问题，周四下午我有空。
| 妹妹在成都读大学二年级。
| 这趟高铁几点到南京？
| 不好意思，我把时间记成周五了。
| 他们家养了两只猫和一条狗。
urgent | 请尽快把合同发给我。
urgent negative | 紧急：线上服务崩溃了，请立即处理！
urgent | 爸爸突然晕倒了，赶紧叫救护车。
urgent | 这个需求很急，今天下班前必须上线。
| 这件事不紧急，有空再说。
calm | 下午一个人在公园散步，很安静。
calm | 睡前冥想十分钟，让自己放松下来。
calm | 慢慢来，不着急。
calm | 下个迭代准备重构支付模块。
calm | 这周主要整理文档和评审代码。
debugging negative | 启动的时候一直报错，找不到配置文件。
debugging | 我在用断点调试登录流程。
debugging negative | 日志里有空指针异常，用户无法下单，问题很严重。
debugging | 昨晚排查内存泄漏到两点。
positive debugging | 登录超时的bug终于解决了。
debugging | 看一下堆栈信息，先复现再说。
| 昨天跑了一晚上，没有报错。
testing | 给日期解析加几个单元测试。
testing | 上线之前要做一轮回归测试。
testing positive | 所有测试用例都通过了。
testing negative | 集成测试又失败了两个。
| 他在准备公务员考试。
api_design | 查询接口要支持分页参数。
api_design | 用户不存在时这个端点返回404。
api_design | 接口文档下周给前端。
data_model | 订单表加一个外键关联客户。
data_model positive | 加了索引以后查询性能提升了十倍。
data_model | 这个字段不能为空，表结构要改。
api_design data_model | 这个接口直接读报表数据库。
testing api_design | 每个接口都要写测试。
data_model negative debugging | 数据库连接超时，抛出异常。
positive | 这首歌我能循环一整天。
negative | 一想到明天要述职，心里就堵得慌。
| 今年冬天异常寒冷，我买了件新羽绒服。
| 你有没有遇到过什么问题？
urgent | 十分钟之内必须回我电话。
debugging | 为什么空列表进去会返回None，你帮我看看。
calm | 泡一壶茶，听着雨声看书。
| 奶奶让我去买酱油和两斤五花肉。
positive | 我爱看科幻小说。
data_model | 会话数据存在MySQL数据库里。
data_model | 用户和群组是多对多关系，需要一张关联表。
"""
ROWS = [
    (set(tags.split()), text.strip()) for tags, _, text in (row.partition("|") for row in LABELLED.strip().split("\n"))
]


def tags_of(content: str) -> set[str]:
    told = {"category": "fact", "kind": "note", "tier": "fact", "source": "user", "created_seq": 1}
    times = dict.fromkeys(("created_at", "updated_at", "last_activated_at", "stamp"), 0)
    return set(context_of(Memory(id="m", content=content, **told, **times), DEFAULTS).tags).intersection(WORD_TAGS)


def named(family: Family) -> set[str]:
    return {tag for bit, tag in enumerate(WORD_TAGS) if family >> bit & 1}


@each_row("tag", WORD_TAGS)
@each_row("chinese", [False, True], ids=["en", "zh"])
def test_at_least_four_fifths_of_the_tags_are_right_and_found(tag: str, chinese: bool) -> None:
    rows = [(tag in expected, tag in tags_of(text)) for expected, text in ROWS if text.isascii() != chinese]
    both, wanted, given_ = sum(w and g for w, g in rows), sum(w for w, _ in rows), sum(g for _, g in rows)
    assert wanted >= 4
    assert sum(w == g for w, g in rows) / len(rows) >= 0.8
    assert both / given_ >= 0.8
    assert both / wanted >= 0.8


@each_row("family", list(Family), ids=lambda family: family.name.lower())
def test_every_form_in_the_lists_gives_its_tags(family: Family) -> None:
    listed = [one for one in entries() if one.families & family]
    told = [(named(one.families), form) for one in listed for form in (*one.english, *one.chinese, *one.signs)]
    assert told
    assert [form for tags, form in told if not tags <= tags_of(form)] == []


def test_no_mask_gives_a_tag() -> None:
    masks = [form for one in entries() if not one.families for form in one.english + one.chinese]
    assert masks
    assert [mask for mask in masks if tags_of(mask)] == []


@each_row("template", ["not {}", "never really {}", "there wasn't any {}", "I don't feel any {}"])
def test_no_negated_english_word_gives_its_mood(template: str) -> None:
    words = [form for one in entries() if one.families for form in one.english if " " not in form]
    moods = {word: tags_of(template.format(word)) & {"positive", "urgent", "calm"} for word in words}
    assert {word: found for word, found in moods.items() if found} == {}
