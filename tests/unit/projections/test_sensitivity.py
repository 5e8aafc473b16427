"""Levels by the value that is said, in English and Chinese; every number here is made up or a published test number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.sensitivity import RULES, detect_sensitivity, reasons
from projections.sensitivity_numbers import chinese_id, iban, luhn

PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq3x1kPz0vYt5uQe8Rj\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.dBjftJeZ4CVPmB92K27uhbUJU1p1r_wW1gFWFOEjXk"

SECRETS = [
    ("password", "My password is hunter2"),
    ("password", "my password is swordfish."),
    ("password", "The wifi password is Blue42Whale, in case you visit."),
    ("password", "the password for the garage laptop is 1q2w3e4r"),
    ("password", "I changed my password to Kestrel#91 yesterday"),
    ("password", "Password: tr0ub4dor&3"),
    ("password", "username: ada password: n0tebook!"),
    ("password", 'db_password = "kJ8#vQ2z"'),
    ("password", "our Netflix password: popcorn77"),
    ("password", "my mom's password is 'purple elephant dance'"),
    ("password", "log in with password q8Lm22xz please"),
    ("password", "My pwd is s3cr3tSauce"),
    ("password", "Her password's moonrise88"),
    ("password", "zebra5tripe is my email password"),
    ("password", "my passphrase is correct-horse-battery-staple"),
    ("pin", "My passcode is 829104"),
    ("password", "My password is P@ssw0rd"),
    ("password", "MY PASSWORD IS HUNTER2"),
    ("password-zh", "我的密码是abc123"),
    ("password-zh", "密码：Xy7788kk"),
    ("password-zh", "邮箱密码改成了 tiger2024x 你记一下"),
    ("password-zh", "WiFi密码 88886666"),
    ("password-zh", "登录口令为 swordfish"),
    ("password-zh", "家里保险柜的密码是我生日19900412"),
    ("password-zh", "银行卡密码是四八二一零三"),
    ("password-zh", "qwer5678是我的邮箱密码"),
    ("password-zh", "我的密码是ａｂｃ１２３４"),
    (
        "recovery-phrase",
        "seed phrase: " + "apple river stone cloud tiger maple ocean ladder violet candle piano desert",
    ),
    ("pin", "PIN 4821"),
    ("pin", "My card's pin is 4821"),
    ("pin", "the PIN for my SIM is 0 4 7 7"),
    ("pin", "my pin code is 482913"),
    ("pin", "the gate code is 7714#"),
    ("pin", "cvv: 204"),
    ("pin", "your verification code is 553018"),
    ("pin", "The safe combination is 12-34-56"),
    ("pin-zh", "验证码是 553018"),
    ("pin-zh", "银行卡PIN码4821"),
    ("api-key", "use sk-proj-9aB3dE7fG1hJ5kL2mN8p for the demo"),
    ("api-key", "token ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
    ("api-key", "AKIAIOSFODNN7EXAMPLE"),
    ("api-key", "my api key is 7f3b9c1d5e8a2046"),
    ("api-key", "API_KEY='Zk29fhQ01mvXw83b'"),
    ("api-key", "Authorization: Bearer 9f8e7d6c5b4a39281706"),
    ("api-key", "我的密钥是 a8f5c2e9d1b74603"),
    ("api-key", "license key: K7QX2-9FJ3M-PL4W8-ZT6RC"),
    ("json-web-token", f"cookie={JWT}"),
    ("private-key", PRIVATE_KEY),
    ("login-in-url", "postgresql://ada:m4gpie7@db.internal:5432/notes"),
    ("card-number", "my card is 4111 1111 1111 1111, expires 04/31"),
    ("card-number", "5555555555554444"),
    ("card-number", "卡号4111-1111-1111-1111"),
    ("card-number", "amex 3782 822463 10005"),
    ("iban", "please transfer to DE89 3704 0044 0532 0130 00"),
    ("iban", "IBAN: GB82WEST12345698765432"),
    ("account-number", "My bank account number is 20417733"),
    ("account-number", "acct no. 5520-118-904"),
    ("account-number-zh", "账号 6222020200112233445"),
    ("account-number-zh", "我的银行卡号是 6217 0012 3456 7890 128"),
    ("identity-number", "我的身份证号是11010519491231002X"),
    ("identity-number", "my social security number is 078-05-1120"),
    ("identity-number", "护照号码：E12345678"),
    ("identity-number", "passport number: 533401728"),
]

NO_SECRETS = [
    "I forgot my password",
    "the key to success is practice",
    "my budget is 5000 dollars",
    "he reset his password yesterday",
    "my password manager is great",
    "My password is too weak",
    "my password is very long and complicated",
    "The password is wrong.",
    "my password is expired",
    "our password is shared by everyone",
    "I forgot my password to login.",
    "the password is at least 12 characters",
    "password: 8-16 characters",
    "The password is SHA-256 hashed",
    "passwords are salted with argon2",
    "Password protected folders are safer",
    "change your password every 90 days",
    "password = request.form['password']",
    "password: string",
    'password = "your_password_here"',
    "password=os.environ['DB_PASSWORD']",
    "password: ********",
    "password: <redacted>",
    "Hashed password: pbkdf2:sha256:260000$kq81",
    'type="password" name="password" id="pw1"',
    "const password = getPassword(user1)",
    "the password field2 is empty",
    "she asked for a password reset link in 2023",
    "is my password safe?",
    "what is my password",
    "my password is your_password1",
    "password strength 100%",
    "a 6-digit PIN protects the phone",
    "my PIN is four digits",
    "pin 12 of the connector is ground",
    "I pinned 2020 photos to the board",
    "shopping in 2023 was fun",
    "bowling pin 2020 tournament",
    "PIN code 560001, Bangalore",
    "status code 404",
    "error code 1042 again",
    "the promo code is SAVE20",
    "the dress code is formal",
    "postal code 90210",
    "the code is 300 lines long",
    "my API key expired",
    "rotate the api key every month",
    "api_key = os.getenv('API_KEY')",
    "API_KEY=your_api_key_here_123",
    "the access token is refreshed every 3600 seconds",
    "token limit is 128000 per request",
    "secret ingredient: 2 spoons of miso",
    "my secret is that I still sleep with a teddy bear",
    "sk-learn-based-classification-pipeline",
    "ghp_ is how GitHub tokens begin",
    "the file starts with -----BEGIN PRIVATE KEY-----",
    "eyJ is how a token begins",
    "http://localhost:8080/path@2",
    "postgresql://user:password@localhost/db",
    "https://user:${TOKEN1}@host/repo.git",
    "card ending in 4242",
    "order 4111111111111112 has shipped",
    "my flight is on 1700000000000 in epoch time",
    "the answer is 4242",
    "ISBN 978-3-16-148410-0",
    "pi is 3.14159265358979323846",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
    "my bank account is empty",
    "I opened a savings account in 2019",
    "account number of visitors grew",
    "my account was hacked",
    "money is tight this month, the rent is 1200",
    "my salary is 85000 a year",
    "I keep the key under the mat",
    "the car key is lost",
    "commit 9f86d081884c7d659a2feaa0c55ad015",
    "uuid 550e8400-e29b-41d4-a716-446655440000",
    "passport control took 45 minutes",
    "my passport expires in 2031",
    "GB is short for Great Britain 1234",
    "the recovery phrase must be kept offline",
    "seed phrase backups are a good idea",
    "我忘记密码了",
    "密码学很有意思",
    "密码是6位数字",
    "密码长度为8到16位",
    "密码是2019年设置的",
    "我的密码是很久以前设的",
    "他昨天重置了密码",
    "密码用的是MD5加密",
    "请不要把密码告诉别人",
    "密码错误次数超过5次",
    "成功的关键是坚持",
    "我的预算是5000元",
    "信用卡额度是20000000元",
    "银行卡丢了",
    "我有3个账号",
    "账号被封了7天",
    "验证码60秒后失效",
    "验证码已经过期了",
    "身份证在抽屉里",
    "身份证号是110105194912310021",
    "护照2031年到期",
    "这把钥匙是我家的",
    "我工资每月12000",
    "会员编号100200300400",
    "订单号 2023050712345678",
    "口令红包抢了88块",
]

SENSITIVE = [
    ("telephone", "call me at 415-555-2671"),
    ("telephone", "My number is (212) 555 0187"),
    ("telephone", "ring +44 20 7946 0958 tomorrow"),
    ("telephone", "my phone number is 5550187"),
    ("telephone", "text 07700 900 123"),
    ("telephone", "我的手机号是13800138000"),
    ("telephone", "电话：010-62345678"),
    ("telephone", "打我电话 138 0013 8000"),
    ("telephone", "手机１３９１２３４５６７８"),
    ("e-mail", "write to ada.l@lovelace.org"),
    ("e-mail", "我的邮箱是xiaoming@mail.cn"),
    ("e-mail", "e-mail:bob@site.co.uk"),
    ("address", "I live at 42 wallaby way, Sydney"),
    ("address", "We moved to 221B Baker Street last spring"),
    ("address", "my address is 9 Elm Ct"),
    ("address", "the office is on 350 5th Avenue"),
    ("address", "P.O. Box 771"),
    ("address", "Springfield, IL 62704"),
    ("address", "我住在北京市朝阳区建国路88号"),
    ("address", "寄到幸福小区3号楼2单元501室"),
    ("address", "地址：上海市浦东新区世纪大道"),
    ("address", "我家在中山路八十八号"),
    ("messenger", "加我微信号: ming_2020"),
    ("messenger", "QQ号是 2837465"),
]

NOT_SENSITIVE = [
    "I have 2 cats and 3 dogs",
    "we walked 5 miles down the road",
    "I live in Paris",
    "the street was empty at 10",
    "I live on the second floor",
    "it costs 1200000 to build",
    "from 2019-05-07 to 2023-11-12",
    "10.0.0.1 and 192.168.1.100",
    "version 1.2.3.4567 at 2023",
    "the population is 1,400,000,000",
    "git clone git@github.com:someone/thing.git",
    "pip install thing@latest",
    "@ada could you look at 3 of these?",
    "my address book is full of 200 names",
    "phone batteries last 3 days",
    "I lived there for 20 years",
    "he scored 300 400 5000 points",
    "6.02214076e23 is a big number",
    "我住在上海",
    "坐11路3号线到公司",
    "走了5公里路",
    "电话响了3次",
    "我的手机号换了",
    "今天是2023年10月12日",
    "一共1234567元",
    "微信是个好软件",
    "路上堵了2小时",
]

GENERAL = [
    ("occupation", "I'm a nurse"),
    ("occupation", "My brother is an electrical engineer in Oslo"),
    ("occupation", "she works as a pastry chef"),
    ("occupation", "I work for a small bakery"),
    ("occupation", "he just got a job at the harbour"),
    ("occupation", "my profession is tiling roofs"),
    ("education", "I graduated from Lund in June"),
    ("education", "I have a degree in botany"),
    ("education", "she majored in music"),
    ("education", "He studied physics at the university"),
    ("education", "I am a medical student"),
    ("occupation-zh", "我是一名护士"),
    ("occupation-zh", "我爸爸是中学老师"),
    ("occupation-or-education-zh", "我在一家银行工作"),
    ("occupation-or-education-zh", "她毕业于浙江大学"),
    ("occupation-or-education-zh", "我的专业是植物学"),
    ("occupation-or-education-zh", "目前从事软件开发工作"),
]

PUBLIC = [
    "I like coffee",
    "We work as a team",
    "this works at the moment",
    "what a day, I am a bit tired",
    "that was a major storm",
    "good job at the match!",
    "she is a kind person",
    "a teacher called me once",
    "by degrees it got colder",
    "我喜欢喝咖啡",
    "今天天气很好",
    "我现在不想工作",
    "我是说明天再去",
    "工作日早上很堵",
    "大学真大",
    "",
    "🎉",
]


@pytest.mark.parametrize(("rule", "text"), SECRETS)
def test_a_secret_itself_is_level_3_and_its_rule_is_named(rule: str, text: str) -> None:
    assert (detect_sensitivity(text), rule in reasons(text)) == (3, True)


@pytest.mark.parametrize("text", NO_SECRETS)
def test_a_word_for_a_secret_is_no_secret(text: str) -> None:
    assert detect_sensitivity(text) < 3


@pytest.mark.parametrize(("rule", "text"), SENSITIVE)
def test_an_address_or_number_to_reach_someone_is_level_2(rule: str, text: str) -> None:
    assert (detect_sensitivity(text), rule in reasons(text)) == (2, True)


@pytest.mark.parametrize("text", NOT_SENSITIVE)
def test_other_numbers_and_places_are_not_sensitive(text: str) -> None:
    assert detect_sensitivity(text) < 2


@pytest.mark.parametrize(("rule", "text"), GENERAL)
def test_occupation_and_education_are_level_1(rule: str, text: str) -> None:
    assert (detect_sensitivity(text), rule in reasons(text)) == (1, True)


@pytest.mark.parametrize("text", PUBLIC)
def test_anything_else_is_public_and_has_no_reasons(text: str) -> None:
    assert (detect_sensitivity(text), reasons(text)) == (0, [])


def test_the_most_sensitive_rule_decides_and_all_are_named() -> None:
    text = "I'm a nurse, my password is hunter2, write to me@ward.org"
    assert detect_sensitivity(text) == 3
    assert reasons(text) == ["password", "e-mail", "occupation"]


def test_rules_stand_most_sensitive_first() -> None:
    levels = [rule.level for rule in RULES]
    assert levels == sorted(levels, reverse=True)


def test_a_letter_that_grows_in_lower_case_does_not_shift_what_is_found() -> None:
    assert reasons("İİİ AKIAIOSFODNN7EXAMPLE, my password is hunter2") == ["password", "api-key"]


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (luhn, "4111111111111111", "4111111111111112"),
        (luhn, "378282246310005", "378282246310006"),
        (iban, "DE89370400440532013000", "DE89370400440532013001"),
        (iban, "GB82WEST12345698765432", "GB82WEST1234569876543"),
        (chinese_id, "11010519491231002X", "110105194912310021"),
        (chinese_id, "11010519491231002x", "11010519491231003x"),
    ],
)
def test_a_checksum_tells_one_wrong_digit(check, good: str, bad: str) -> None:
    assert (check(good), check(bad)) == (True, False)


LIKELY = st.sampled_from(
    [
        "my password is ",
        "密码是",
        "PIN ",
        "@",
        "1",
        "42",
        "+",
        "-",
        " ",
        "sk-",
        "eyJ",
        "://a:",
        "路",
        "号",
        "I'm a ",
        "：",
        "İ",
        "ａ１",
    ]
)


@given(st.text() | st.lists(LIKELY | st.text(max_size=5), max_size=30).map("".join))
def test_any_text_has_a_level_and_it_is_that_of_its_reasons(text: str) -> None:
    by_name = {rule.name: rule.level for rule in RULES}
    assert detect_sensitivity(text) == max((by_name[name] for name in reasons(text)), default=0)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_half_of_a_surrogate_pair_hides_nothing(text: str) -> None:
    assert detect_sensitivity(f"{text}\ud83d my password is hunter2") == 3
