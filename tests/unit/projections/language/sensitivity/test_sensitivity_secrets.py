"""Level 3 by the value that is said; every number here is made up or a published test number."""

from __future__ import annotations

from engramlog_server.projections.language.sensitivity.level import detect_sensitivity, reasons
from engramlog_server.projections.language.sensitivity.personal import chinese_id, iban, luhn
from tests.rows import each_row

PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq3x1kPz0vYt5uQe8Rj\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.dBjftJeZ4CVPmB92K27uhbUJU1p1r_wW1gFWFOEjXk"

SECRETS = [
    ("password", "My password is hunter2"), ("password", "my password is swordfish."),
    ("password", "The wifi password is Blue42Whale, in case you visit."),
    ("password", "the password for the garage laptop is 1q2w3e4r"),
    ("password", "I changed my password to Kestrel#91 yesterday"), ("password", "Password: tr0ub4dor&3"),
    ("password", "username: ada password: n0tebook!"), ("password", 'db_password = "kJ8#vQ2z"'),
    ("password", "our Netflix password: popcorn77"), ("password", "my mom's password is 'purple elephant dance'"),
    ("password", "log in with password q8Lm22xz please"), ("password", "My pwd is s3cr3tSauce"),
    ("password", "Her password's moonrise88"), ("password", "zebra5tripe is my email password"),
    ("password", "my passphrase is correct-horse-battery-staple"), ("pin", "My passcode is 829104"),
    ("password", "My password is P@ssw0rd"), ("password", "MY PASSWORD IS HUNTER2"), ("password-zh", "我的密码是abc123"),
    ("password-zh", "密码：Xy7788kk"), ("password-zh", "邮箱密码改成了 tiger2024x 你记一下"),
    ("password-zh", "WiFi密码 88886666"), ("password-zh", "登录口令为 swordfish"),
    ("password-zh", "家里保险柜的密码是我生日19900412"), ("password-zh", "银行卡密码是四八二一零三"),
    ("password-zh", "qwer5678是我的邮箱密码"), ("password-zh", "我的密码是ａｂｃ１２３４"),
    ("recovery-phrase", "seed phrase: " + "apple river stone cloud tiger maple ocean ladder violet candle piano desert"),
    ("pin", "PIN 4821"), ("pin", "My card's pin is 4821"), ("pin", "the PIN for my SIM is 0 4 7 7"),
    ("pin", "my pin code is 482913"), ("pin", "the gate code is 7714#"), ("pin", "cvv: 204"),
    ("pin", "your verification code is 553018"), ("pin", "The safe combination is 12-34-56"), ("pin-zh", "验证码是 553018"),
    ("pin", "the combination to the hall safe is 24 8 15"), ("pin", "the code to the front door is 4455"),
    ("pin-zh", "银行卡PIN码4821"), ("pin-zh", "我的PIN是4821"),
    ("api-key", "aws_secret_access_key = kQ3vTzRmPwXcYbNaLdJf/SgHeUiOoKrMnBvCxZlA"),
    ("api-key", "use sk-proj-9aB3dE7fG1hJ5kL2mN8p for the demo"),
    ("api-key", "token ghp_16C7e42F292c6912E7710c838347Ae178B4a"), ("api-key", "AKIAIOSFODNN7EXAMPLE"),
    ("api-key", "my api key is 7f3b9c1d5e8a2046"), ("api-key", "API_KEY='Zk29fhQ01mvXw83b'"),
    ("api-key", "Authorization: Bearer 9f8e7d6c5b4a39281706"), ("api-key", "我的密钥是 a8f5c2e9d1b74603"),
    ("api-key", "license key: K7QX2-9FJ3M-PL4W8-ZT6RC"), ("json-web-token", f"cookie={JWT}"), ("private-key", PRIVATE_KEY),
    ("login-in-url", "postgresql://ada:m4gpie7@db.internal:5432/notes"),
    ("card-number", "my card is 4111 1111 1111 1111, expires 04/31"), ("card-number", "5555555555554444"),
    ("card-number", "卡号4111-1111-1111-1111"), ("card-number", "amex 3782 822463 10005"),
    ("iban", "please transfer to DE89 3704 0044 0532 0130 00"), ("iban", "IBAN: GB82WEST12345698765432"),
    ("account-number", "My bank account number is 20417733"), ("account-number", "acct no. 5520-118-904"),
    ("account-number-zh", "账号 6222020200112233445"), ("account-number-zh", "我的银行卡号是 6217 0012 3456 7890 128"),
    ("identity-number", "我的身份证号是11010519491231002X"),
    ("identity-number", "my social security number is 078-05-1120"), ("identity-number", "护照号码：E12345678"),
    ("identity-number", "passport number: 533401728"),
]  # fmt: skip

NO_SECRETS = [
    "I forgot my password", "the key to success is practice", "my budget is 5000 dollars",
    "he reset his password yesterday", "my password manager is great", "My password is too weak",
    "my password is very long and complicated", "The password is wrong.", "my password is expired",
    "our password is shared by everyone", "I forgot my password to login.", "the password is at least 12 characters",
    "password: 8-16 characters", "The password is SHA-256 hashed", "passwords are salted with argon2",
    "Password protected folders are safer", "change your password every 90 days", "password = request.form['password']",
    "password: string", 'password = "your_password_here"', "password=os.environ['DB_PASSWORD']", "password: ********",
    "password: <redacted>", "Hashed password: pbkdf2:sha256:260000$kq81", 'type="password" name="password" id="pw1"',
    "const password = getPassword(user1)", "the password field2 is empty", "she asked for a password reset link in 2023",
    "is my password safe?", "what is my password", "my password is your_password1", "password strength 100%",
    "a 6-digit PIN protects the phone", "my PIN is four digits", "pin 12 of the connector is ground",
    "I pinned 2020 photos to the board", "shopping in 2023 was fun", "bowling pin 2020 tournament",
    "PIN code 560001, Bangalore", "status code 404", "error code 1042 again", "the promo code is SAVE20",
    "the dress code is formal", "postal code 90210", "the code is 300 lines long", "my API key expired",
    "rotate the api key every month", "api_key = os.getenv('API_KEY')", "API_KEY=your_api_key_here_123",
    "the access token is refreshed every 3600 seconds", "token limit is 128000 per request",
    "secret ingredient: 2 spoons of miso", "my secret is that I still sleep with a teddy bear",
    "sk-learn-based-classification-pipeline", "ghp_ is how GitHub tokens begin",
    "the file starts with -----BEGIN PRIVATE KEY-----", "eyJ is how a token begins", "http://localhost:8080/path@2",
    "postgresql://user:password@localhost/db", "https://user:${TOKEN1}@host/repo.git", "card ending in 4242",
    "order 4111111111111112 has shipped", "my flight is on 1700000000000 in epoch time", "the answer is 4242",
    "ISBN 978-3-16-148410-0", "pi is 3.14159265358979323846", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
    "my bank account is empty", "I opened a savings account in 2019", "account number of visitors grew",
    "my account was hacked", "money is tight this month, the rent is 1200", "my salary is 85000 a year",
    "I keep the key under the mat", "the car key is lost", "commit 9f86d081884c7d659a2feaa0c55ad015",
    "uuid 550e8400-e29b-41d4-a716-446655440000", "ann-852fa1101e94c853f6dd40709a4cfd41",
    "passport control took 45 minutes", "my passport expires in 2031",
    "a combination of 12 herbs", "the code of the building was revised in 2020", "the password to Windows10 is lost",
    "GB is short for Great Britain 1234", "the recovery phrase must be kept offline", "seed phrase backups are a good idea",
    "我忘记密码了", "密码学很有意思", "密码是6位数字", "密码长度为8到16位", "密码是2019年设置的", "我的密码是很久以前设的",
    "他昨天重置了密码", "密码用的是MD5加密", "请不要把密码告诉别人", "密码错误次数超过5次", "成功的关键是坚持",
    "我的预算是5000元", "信用卡额度是20000000元", "银行卡丢了", "我有3个账号", "账号被封了7天", "验证码60秒后失效",
    "验证码已经过期了", "身份证在抽屉里", "身份证号是110105194912310021", "护照2031年到期", "这把钥匙是我家的",
    "我工资每月12000", "会员编号100200300400", "订单号 2023050712345678", "口令红包抢了88块",
]  # fmt: skip


@each_row(("rule", "text"), SECRETS)
def test_a_secret_itself_is_level_3_and_its_rule_is_named(rule: str, text: str) -> None:
    assert (detect_sensitivity(text), rule in reasons(text)) == (3, True)


@each_row("text", NO_SECRETS)
def test_a_word_for_a_secret_is_no_secret(text: str) -> None:
    assert detect_sensitivity(text) < 3


@each_row(
    ("check", "good", "bad"),
    [
        (luhn, "4111111111111111", "4111111111111112"), (luhn, "378282246310005", "378282246310006"),
        (iban, "DE89370400440532013000", "DE89370400440532013001"),
        (iban, "GB82WEST12345698765432", "GB82WEST1234569876543"), (chinese_id, "11010519491231002X", "110105194912310021"),
        (chinese_id, "11010519491231002x", "11010519491231003x"),
    ],
)  # fmt: skip
def test_a_checksum_tells_one_wrong_digit(check, good: str, bad: str) -> None:
    assert (check(good), check(bad)) == (True, False)
