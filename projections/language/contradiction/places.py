"""Places that a person may live in or come from: countries, provinces, well-known cities, in English and Chinese.

Only two places that are both known here, neither within the other, are certain to be different.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from projections.language.scripts import begins_with_han

_TEXT = """
china,中国: beijing,北京 shanghai,上海 tianjin,天津 chongqing,重庆 hong-kong,香港 macau,澳门 河北 山西 辽宁 吉林
 黑龙江 jiangsu,江苏 zhejiang,浙江 安徽 fujian,福建 江西 shandong,山东 henan,河南 hubei,湖北 hunan,湖南 guangdong,广东
 hainan,海南 sichuan,四川 guizhou,贵州 yunnan,云南 shaanxi,陕西 甘肃 青海 内蒙古,内蒙 guangxi,广西 xizang,tibet,西藏
 宁夏 xinjiang,新疆 东北
东北: 辽宁 吉林 黑龙江
北京: 海淀 朝阳区 通州 丰台 昌平 大兴 五道口
上海: 浦东 徐汇 静安 虹口 杨浦 闵行
河北: 石家庄 唐山 保定 秦皇岛 邯郸 沧州 廊坊 张家口 承德 邢台 衡水
山西: 太原 大同 运城 临汾
辽宁: shenyang,沈阳 dalian,大连 鞍山 锦州 丹东
吉林: 长春 延边
黑龙江: harbin,哈尔滨 大庆 齐齐哈尔 牡丹江
江苏: nanjing,南京 suzhou,苏州 wuxi,无锡 常州 徐州 南通 扬州 镇江 盐城 连云港 泰州 淮安 宿迁
浙江: hangzhou,杭州 ningbo,宁波 温州 绍兴 嘉兴 金华 台州 湖州 义乌 舟山 丽水
安徽: 合肥 芜湖 安庆 阜阳 蚌埠 六安 马鞍山
福建: fuzhou,福州 xiamen,厦门 泉州 漳州 莆田 龙岩 三明 宁德
江西: 南昌 九江 赣州 上饶 景德镇 宜春
山东: jinan,济南 qingdao,青岛 烟台 威海 潍坊 临沂 淄博 济宁 泰安 日照 德州市 聊城 菏泽
河南: zhengzhou,郑州 洛阳 开封 南阳 新乡 安阳 信阳 周口 商丘 许昌
湖北: wuhan,武汉 宜昌 襄阳 荆州 黄冈 十堰
湖南: changsha,长沙 株洲 湘潭 衡阳 岳阳 常德 郴州
广东: guangzhou,广州 shenzhen,深圳 珠海 东莞 佛山 中山 惠州 汕头 湛江 江门 茂名 清远
海南: 海口 三亚
四川: chengdu,成都 绵阳 德阳 乐山 宜宾 南充 绵竹 自贡
贵州: 贵阳 遵义
云南: kunming,昆明 大理 丽江
陕西: xian,xi'an,西安 咸阳 宝鸡 延安 汉中
甘肃: 兰州 天水
青海: 西宁
广西: 南宁 桂林 柳州 北海
内蒙古: 呼和浩特 包头 鄂尔多斯
宁夏: 银川
新疆: 乌鲁木齐 喀什
西藏: 拉萨
taiwan,台湾: taipei,台北 kaohsiung,高雄 台中
usa,united-states,america,us,美国: new-york,纽约 california,加州 texas,德州 florida,佛罗里达 washington,华盛顿
 massachusetts illinois oregon colorado georgia ohio michigan pennsylvania arizona nevada virginia minnesota
 hawaii,夏威夷 utah tennessee
california: los-angeles,洛杉矶 san-francisco,旧金山 san-diego sacramento san-jose oakland palo-alto
new-york: brooklyn manhattan queens buffalo bronx
texas: austin dallas houston,休斯顿 san-antonio
massachusetts: boston,波士顿 cambridge
illinois: chicago,芝加哥
washington: seattle,西雅图
florida: miami,迈阿密 orlando tampa
oregon: portland
colorado: denver,丹佛
georgia: atlanta
pennsylvania: philadelphia,费城 pittsburgh
arizona: phoenix
nevada: las-vegas
michigan: detroit
canada,加拿大: toronto,多伦多 vancouver,温哥华 montreal,蒙特利尔 ottawa calgary quebec
mexico,墨西哥: mexico-city guadalajara
uk,united-kingdom,britain,great-britain,英国: england,英格兰 scotland,苏格兰 wales northern-ireland
england: london,伦敦 manchester,曼彻斯特 birmingham liverpool,利物浦 leeds bristol oxford,牛津 cambridge,剑桥
 sheffield newcastle york
scotland: edinburgh,爱丁堡 glasgow aberdeen
wales: cardiff
ireland,爱尔兰: dublin,都柏林 cork galway
france,法国: paris,巴黎 lyon,里昂 marseille,马赛 nice toulouse bordeaux lille
germany,德国: berlin,柏林 munich,慕尼黑 hamburg,汉堡市 frankfurt,法兰克福 cologne stuttgart leipzig dresden
italy,意大利: rome,罗马 milan,米兰 florence,佛罗伦萨 venice,威尼斯 naples turin
spain,西班牙: madrid,马德里 barcelona,巴塞罗那 valencia seville
portugal,葡萄牙: lisbon,里斯本 porto
netherlands,holland,荷兰: amsterdam,阿姆斯特丹 rotterdam utrecht the-hague
belgium,比利时: brussels,布鲁塞尔 antwerp
switzerland,瑞士: zurich,苏黎世 geneva,日内瓦 basel bern
austria,奥地利: vienna,维也纳 graz salzburg
sweden,瑞典: stockholm,斯德哥尔摩 gothenburg
norway,挪威: oslo,奥斯陆 bergen
denmark,丹麦: copenhagen,哥本哈根
finland,芬兰: helsinki,赫尔辛基
poland,波兰: warsaw,华沙 krakow
russia,俄罗斯: moscow,莫斯科 st-petersburg,圣彼得堡
ukraine,乌克兰: kyiv,kiev,基辅 lviv
greece,希腊: athens,雅典
turkey,土耳其: istanbul,伊斯坦布尔 ankara
czech-republic,捷克: prague,布拉格
hungary,匈牙利: budapest,布达佩斯
japan,日本: tokyo,东京 osaka,大阪 kyoto,京都 yokohama,横滨 sapporo,札幌 fukuoka
korea,south-korea,韩国: seoul,首尔 busan,釜山
india,印度: delhi,new-delhi,德里 mumbai,孟买 bangalore,班加罗尔 chennai hyderabad kolkata
thailand,泰国: bangkok,曼谷 chiang-mai,清迈
vietnam,越南: hanoi,河内 ho-chi-minh-city,saigon,胡志明市
indonesia,印度尼西亚,印尼: jakarta,雅加达 bali,巴厘岛
malaysia,马来西亚: kuala-lumpur,吉隆坡 penang
singapore,新加坡:
philippines,菲律宾: manila,马尼拉
australia,澳大利亚,澳洲: sydney,悉尼 melbourne,墨尔本 brisbane,布里斯班 perth,珀斯 adelaide canberra
new-zealand,新西兰: auckland,奥克兰 wellington
brazil,巴西: sao-paulo,圣保罗 rio-de-janeiro,里约
argentina,阿根廷: buenos-aires
chile,智利: santiago
egypt,埃及: cairo,开罗
south-africa,南非: cape-town,开普敦 johannesburg
nigeria,尼日利亚: lagos abuja
kenya,肯尼亚: nairobi
israel,以色列: tel-aviv jerusalem
united-arab-emirates,uae,阿联酋: dubai,迪拜 abu-dhabi
pakistan,巴基斯坦: karachi lahore islamabad
iran,伊朗: tehran
"""


@cache
def _places() -> tuple[Mapping[str, str], Mapping[str, frozenset[str]]]:
    """Names to places, and places to those they lie in directly."""
    named: dict[str, str] = {}
    within: dict[str, set[str]] = {}
    for line in re.sub(r"\n +", " ", _TEXT.strip()).splitlines():
        area, _, members = line.partition(":")
        outer = _place(area, named)
        for member in members.split():
            within.setdefault(_place(member, named), set()).add(outer)
    return named, {place: frozenset(areas) for place, areas in within.items()}


def _place(names: str, named: dict[str, str]) -> str:
    spelled = [name.replace("-", " ") for name in names.split(",")]
    place = named.get(spelled[0], spelled[0])
    for name in spelled:
        named.setdefault(name, place)
    return place


@cache
def _starts() -> re.Pattern[str]:
    """Any known name at the start, longest first."""
    names = sorted(_places()[0], key=len, reverse=True)
    return re.compile("|".join(name if begins_with_han(name) else rf"{re.escape(name)}\b" for name in names))


def place_at_start(text: str) -> tuple[str, int] | None:
    """The known place with which a casefolded text begins, and how many characters name it."""
    found = _starts().match(text)
    return None if found is None else (_places()[0][found[0]], found.end())


def different_places(one: str, other: str) -> bool:
    """Whether two places from `place_at_start` are certainly not the same: neither lies in the other."""
    return one != other and other not in _around(one) and one not in _around(other)


def lies_in(place: str, outer: str) -> bool:
    """Whether one place lies in another, at any depth; a place does not lie in itself."""
    return outer in _around(place)


@cache
def _around(place: str) -> frozenset[str]:
    within, found, waiting = _places()[1], set[str](), [place]
    while waiting:
        areas = within.get(waiting.pop(), frozenset()) - found
        found |= areas
        waiting += areas
    return frozenset(found)
