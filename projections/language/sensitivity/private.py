"""Level 2: health, orientation, pay and birth date, said of somebody; in English and Chinese.

Allergies, diets and intolerances are none of these: whoever cooks or books for someone must be told them, and level 2 is left out
of prompts. A word such as `cancer` or `salary` never counts by itself: somebody must be said to have it, or a figure be given.
"""

from __future__ import annotations

import re

from engramlog_server.projections.language.patterns import regex
from engramlog_server.projections.language.sensitivity.reading import NO_SIGN, Cues, Sign, Words
from engramlog_server.projections.language.sensitivity.rule import Rule, about, either, found_in_lower, listed
from engramlog_server.projections.language.times.names import MONTH_STARTS

_ILLNESS = either("""
    diabetes, cancer, leuka?emia, lymphoma, melanoma, tumou?rs?, depression, anxiety disorder
    panic (?:attacks|disorder), adhd, autism, bipolar, schizophrenia, ptsd, ocd, asthma, epilepsy, seizures, hiv
    aids, hepatitis, herpes, syphilis, chlamydia, gonorrho?ea, hypertension, high blood pressure, arthritis
    fibromyalgia, lupus, multiple sclerosis, parkinson'?s?, alzheimer'?s?, dementia, anorexia, bulimia
    eating disorder, endometriosis, pcos, crohn'?s?, colitis, ibs, kidney disease, heart disease, heart attack
    heart condition, stroke, copd, cirrhosis, psoriasis, insomnia, sleep apnea, long covid, tuberculosis
    erectile dysfunction, infertility, an? addiction, alcoholism, migraines, glaucoma, hernia, an? std, an? sti
    postpartum depression
""")
_MEDICINE = either("""
    antidepressants?, ssris?, insulin, metformin, lithium, sertraline, zoloft, prozac, fluoxetine, lexapro, xanax
    adderall, ritalin, concerta, vyvanse, chemo(?:therapy)?, methadone, suboxone, warfarin, antipsychotics?
    levothyroxine, beta blockers, viagra, arvs?, hormone therapy, blood thinners
""")
_STATE = either("""
    pregnant, hiv[- ]positive, bipolar, autistic, an? (?:recovering )?(?:alcoholic|addict), suicidal, anorexic
    bulimic, epileptic, diabetic, schizophrenic, infertile, in rehab, in remission
""")
_TREATED = either("""
    abortion, miscarriage, mastectomy, hysterectomy, vasectomy, ivf, chemo(?:therapy)?, dialysis, colonoscopy
    biopsy, bypass surgery
""")
HEALTH = Cues(Words("private_health"))
"""One of these stands in every English text that the rule for health can match; so with the next ones."""
_SOMEBODY = (
    "(?:wife|sister|daughter|girlfriend|mom|mum|mother|son|brother|husband|dad|father|partner|friend|boss|cousin)"
)
_ILL = regex(
    r"\bdiagnosed (?:me |him |her )?(?:with|as)\s\w"
    r"|\b(?:have|has|had|having|'ve|got|suffer(?:s|ed|ing)? from|living with|treat(?:ed|ment) for|struggl\w{1,4} with"
    r"|battl\w{1,4}"
    rf"|positive for|recovering from|remission from|my|his|her|their)\s(?:[a-z0-9'-]{{1,14}} ){{0,3}}?{_ILLNESS}"
    rf"|\b(?:take|takes|taking|took|on|prescribed|started|back on)\s(?:\w{{1,12}} ){{0,3}}?{_MEDICINE}"
    rf"|\b(?:i'm|i am|i was|she's|she is|he's|he is|they're|{_SOMEBODY}(?:'s| is"
    rf"| was))\s(?:[\w-]{{1,12}} ){{0,3}}?{_STATE}"
    rf"|\b(?:had|having|have|after|need|needed|getting)\s(?:an? |my |her )?{_TREATED}"
    r"|\b(?:my|see|sees|seeing|saw)\s(?:an? |my )?(?:psychiatrist|oncologist|psychotherapist)\b"
)

ORIENTATION = Cues(Words("private_orientation"))
_ORIENTED = regex(
    r"\b(?:i'm|i am|he's|he is|she's|she is|they're|identif(?:y|ies) as|came out(?: to \w{1,12}(?: \w{1,12})?)? as"
    rf"|{_SOMEBODY}(?:'s| is))\s(?:[a-z]{{1,10}} ){{0,2}}?(?:gay|lesbian|bisexual|bi(?=[.,!]|$| and)|queer"
    rf"|transgender|trans(?=[\s.,!]|$)|asexual"
    r"|pansexual|non-?binary|homosexual|heterosexual)"
    r"|sexual orientation is\b|\b(?:trans|gay|queer|lesbian) (?:woman|man|person) (?:like )?(?:me|myself)\b"
)

PAY = Cues(Words("private_pay"))
_PAID = regex(
    r"\b(?:salary|salaries|wages?|paycheck|take[- ]home|base pay|gross pay|net pay|income|comp|compensation|my pay"
    r"|hourly rate|bonus)\b"
    r"[^\n.!?\d]{0,40}?[$\u00a3\u20ac\u00a5]?\s?\d[\d,.]{1,9}\s?k?\b(?! ?(?:%|percent|days|weeks|months|people"
    r"|employees))"
    r"|\b(?:i|he|she|we|they|wife|husband)(?:'m| am|'s| is)?\s(?:now |only |currently )?"
    r"(?:make|makes|making|earn|earns|earning|get paid|gets paid|paid|bring home|brings home|take home)\s"
    r"(?:about |around |roughly |just |over |under )?[$\u00a3\u20ac\u00a5]?\s?\d[\d,.]{0,9}\s?"
    r"(?:k\b|grand|usd|eur|dollars|euros|pounds|bucks|a year|per year|a month|an hour|/)"
)

BIRTH = Cues(listed("born, birthday, bday, b-day, birthdate, dob, date of birth, birth date"))
_MONTH = f"(?:{MONTH_STARTS})[a-z]{{0,6}}"
_DAY = (
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}"
    rf"|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}})"
)
_BORN = regex(
    rf"(?:\b(?:i|he|she|you|baby|kid|{_SOMEBODY})(?:'s| was|'m| am| were) born (?:on )?(?:the )?"
    r"|(?:\b(?:my|his|her|their|our|your)|'s) (?:\w{1,12} )?(?:birthday|b-?day|birth ?date|date of birth|dob) (?:is"
    r"|was|falls)(?: on)? (?:the )?"
    r"|\b(?:dob|d\.o\.b\.?|date of birth|birth ?date)\s?(?:is|[:=-])?\s{0,2}(?:the )?)"
    rf"(?:[a-z]{{3,9}},? )?{_DAY}"
)

_ILLNESS_ZH = (
    "(?:抑郁|焦虑症|双相|躁郁|糖尿病|高血压|高血脂|[胃肝肺肠乳腺血胰]癌|癌症?|肿瘤|艾滋|hiv|乙肝|丙肝|肝炎|肝硬化|白血病|心脏病|冠心病|哮喘"
    "|癫痫|精神分裂|强迫症|自闭症|多动症|adhd|痛风|甲亢|甲减|中风|脑梗|肾炎|肾病|尿毒症|红斑狼疮|帕金森|阿尔茨海默|老年痴呆|梅毒|淋病|不孕"
    "|不育|肺结核|创伤后应激|厌食症|暴食症|子宫肌瘤|多囊|甲状腺结节|失眠症|阳痿|早泄|痔疮|尖锐湿疣|腰椎间盘突出)"
)
_MEDICINE_ZH = "(?:抗抑郁|舍曲林|百忧解|胰岛素|二甲双胍|利培酮|碳酸锂|安眠药|降压药|帕罗西汀|优甲乐)"
_ILL_ZH = regex(
    r"(?:确诊|患上?了?|得了|查出|诊断[为出]?|被诊|罹患|检查出|有|因为?|治疗?|复发)"
    rf"[^,。!?\n没无防预]{{0,8}}?{_ILLNESS_ZH}|[我他她](?:是|有)?{_ILLNESS_ZH}(?:患者|病人)?"
    rf"|{_ILLNESS_ZH}(?:[一二三四]期|晚期|早期|复发|确诊|住院)|[我她](?:\w{{0,4}})?(?:怀孕|流产|人流|堕胎|做试管)了?"
    rf"|(?:在吃|服用|吃着|每天吃|停了)[^,。\n]{{0,6}}{_MEDICINE_ZH}|[我他她]\w{{0,6}}(?:化疗|透析|戒毒|截肢)"
)
_ORIENTED_ZH = regex(
    r"[我他她](?:\w{0,4})?(?:是|叫)(?:个|一个|一名)?(?:同性恋|双性恋|跨性别|无性恋|男同|女同|拉拉|同志(?![们,]))"
    r"|[我他她]\w{0,4}出柜|性取向是?|喜欢同性"
)
_PAID_ZH = regex(
    r"(?:工资|月薪|年薪|薪水|薪资|底薪|月收入|年收入|税后|税前|年终奖|到手|时薪|公积金缴存额)"
    r"[^,。!?\n\d一二三四五六七八九]{0,8}?(?:\d[\d,.]{2,9}|[\d一二三四五六七八九十两]{1,3}[万千])(?!\s?[人天名%])"
)
_BORN_ZH = regex(
    r"(?:生日|出生日期|出生年月日?|生辰|出生于|生于)[^,。!?\n\d一二三四五六七八九十]{0,8}?(?:\d{4}[-年./]?)?(?:农历|阴历|阳历)?"
    r"(?:\d{1,2}[-月./]\d{1,2}|\d{8}|[一二三四五六七八九十]{1,2}月[初十一二三四五六七八九]{1,3})"
    r"|[我他她](?:是)?\d{4}[-年./]\d{1,2}[-月./]\d{1,2}日?(?:出)?生"
)
HEALTH_ZH = Cues(Words("private_health_zh"))
ORIENTATION_ZH = Cues(listed("性恋, 跨性别, 男同, 女同, 拉拉, 同志, 出柜, 性取向, 同性"))
PAY_ZH = Cues(listed("工资, 薪, 收入, 税后, 税前, 年终奖, 到手, 公积金"))
BIRTH_ZH = Cues(listed("生日, 出生, 生辰, 生于, 日生"), (f"{digit}生" for digit in range(10)))


def _private(name: str, cues: Cues, shape: re.Pattern[str], needs: Sign = NO_SIGN) -> Rule:
    """A rule of level 2: the pattern about one of the cues."""
    return about(name, cues, lambda piece: shape.search(piece.lower), level=2, needs=needs)


RULES = (
    _private("health", HEALTH, _ILL),
    _private("orientation", ORIENTATION, _ORIENTED),
    _private("pay", PAY, _PAID, Sign.DIGIT),
    _private("birth-date", BIRTH, _BORN, Sign.DIGIT),
    Rule("health", 2, found_in_lower(_ILL_ZH), HEALTH_ZH),
    Rule("orientation", 2, found_in_lower(_ORIENTED_ZH), ORIENTATION_ZH),
    Rule("pay", 2, found_in_lower(_PAID_ZH), PAY_ZH),
    Rule("birth-date", 2, found_in_lower(_BORN_ZH), BIRTH_ZH),
)
