"""Level 1: someone's occupation or education (seed 002's "general"), in English and Chinese."""

from __future__ import annotations

import re

from projections.sensitivity_rule import Rule, Sign

_PROFESSIONS = (
    r"(?:accountant|actor|actress|analyst|architect|artist|attorney|baker|barber|barista|bartender|biologist|builder|butcher"
    r"|carpenter|cashier|chef|chemist|clerk|coach|consultant|cook|counsel(?:l)?or|dancer|dentist|designer|detective|developer"
    r"|doctor|driver|economist|editor|electrician|engineer|farmer|firefighter|florist|freelancer|gardener|geologist|hairdresser"
    r"|historian|instructor|interpreter|janitor|journalist|judge|lawyer|lecturer|librarian|manager|mechanic|midwife|musician"
    r"|nanny|nurse|optician|painter|paralegal|paramedic|pharmacist|photographer|physician|physicist|pilot|plumber|policeman"
    r"|police officer|producer|professor|programmer|psychiatrist|psychologist|realtor|receptionist|researcher|sailor|salesperson"
    r"|scientist|secretary|singer|social worker|soldier|surgeon|surveyor|tailor|teacher|technician|therapist|translator|tutor"
    r"|vet|veterinarian|waiter|waitress|welder|writer)s?"
)
_OCCUPATION = re.compile(
    rf"(?:\b(?:am|is|was|are|became|become|i[’']m|s?he[’']s)|[a-z][’']s|\bas)\s+(?:an?\s|the\s)?(?:[\w-]{{1,20}}\s){{0,2}}{_PROFESSIONS}\b"
    r"|\bwork(?:s|ed|ing)?\s+(?:as\s+an?\s+(?!team|group|whole|way|result)|(?:for|at)\s+(?:an?\s|the\s|[A-Z])(?!-?time|moment|same|first|best"
    r"|following|sake))"
    r"|\bmy\s+(?:\w{1,12}\s)?(?:occupation|profession|job\s+title|employer)\b|\b(?:my|his|her)\s+(?:\w{1,12}\s)?job\s+(?:is|as|at|was)\b"
    r"|\bgot\s+(?:a|the)\s+(?:new\s+)?job\s+(?:at|as|with)\b|\bcareer\s+(?:in|as)\b|\bi\s+teach\s",
    re.IGNORECASE,
)
_EDUCATION = re.compile(
    r"\bgraduat(?:ed|ing|e)\s+(?:from|in|with)\b|\b(?:bachelor|master)[’']?s?\s+(?:degree|of|in)\b|\b(?:ph\.?d|mba|diploma|degree)\s+in\b"
    r"|\bmy\s+(?:\w{1,16}\s)?(?:degree|ph\.?d|mba|major|thesis|dissertation)\b|\bmajor(?:ed|ing)\s+in\b"
    r"|\bstud(?:y|ied|ies|ying)\s+(?:[\w-]{1,20}\s){1,4}at\s|\bstud(?:ied|ies|ying|y)\s+at\s+(?:the\s)?(?:[\w-]{1,20}\s){0,3}(?:university|college|school)"
    r"|\b(?:university|college|law|medical|graduate|phd|high\s+school|grad)\s+student\b|\bstudent\s+at\b|\bi(?:[’']m| am)\s+a\s+(?:\w{1,12}\s)?student\b",
    re.IGNORECASE,
)
_ZH_PROFESSIONS = (
    "(?:老师|教师|教授|医生|护士|律师|会计|工程师|程序员|设计师|司机|厨师|记者|编辑|作家|演员|歌手|画家|警察|军人|公务员|销售|经理|店员|服务员"
    "|秘书|翻译|导游|飞行员|科学家|研究员|咨询师|药剂师|建筑师|摄影师|理发师|农民|工人|保安|快递员|教练|主播|学生|研究生|博士生|大学生|高中生|初中生)"
)
_ZH = re.compile(
    rf"(?:我|[你他她]|爸|妈|妻子|丈夫|老公|老婆|哥|姐|弟|妹|儿子|女儿|朋友)(?:现在|目前|以前|曾经)?(?:是|当|做)(?:过|了)?(?:一?[名个位])?[^，。！？\n]{{0,8}}?{_ZH_PROFESSIONS}"
    r"|(?:职业|专业|学历|岗位|职位|职务)(?:是|为|[:：])|(?:我|[他她])的?工作(?:单位)?(?:是|为|[:：])|在[^，。！？\n]{1,16}(?:工作|上班|任职|就职|教书|实习)(?!日)"
    r"|毕业于|(?:大学|学院|中学|高中|专业|本科|硕士|博士)毕业|就读于?|主修|攻读|从事[^，。！？\n]{1,12}(?:工作|行业)|担任|(?:本科|硕士|博士|大专)学[历位]"
    r"|在[^，。！？\n]{1,12}(?:大学|学院|中学|高中)[^，。！？\n]{0,4}(?:读|上学|学习)"
)

RULES = (
    Rule("occupation", 1, Sign.BACKGROUND, lambda text: _OCCUPATION.search(text) is not None),
    Rule("education", 1, Sign.BACKGROUND, lambda text: _EDUCATION.search(text) is not None),
    Rule("occupation-or-education-zh", 1, Sign.BACKGROUND, lambda text: _ZH.search(text) is not None),
)
