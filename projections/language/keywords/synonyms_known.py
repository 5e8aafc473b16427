"""Synonyms that every owner's searches know: everyday and software words, English and Chinese. Written for this project.

One group a line: how alike its words are, from 0 to 1, then the words, parted by commas. A word may stand in several groups.
Words that are alike in one sense only stand lower; words of a kind (cat and dog) are no synonyms at all.
"""

from __future__ import annotations

GROUPS = """
0.9 car, automobile, auto, 汽车, 轿车, 车子
0.9 bicycle, bike, 自行车, 单车, 脚踏车
0.9 aeroplane, airplane, plane, 飞机
0.7 plane ticket, air ticket, 机票, 飞机票
0.8 underground, subway, metro, 地铁
0.8 train, railway, 火车, 高铁
0.8 taxi, cab, 出租车, 的士
0.9 doctor, physician, 医生, 大夫
0.8 hospital, clinic, 医院, 诊所
0.8 ill, sick, unwell, 生病, 不舒服
0.8 medicine, medication, drug, 药, 药物, 药品
0.8 physical examination, check-up, checkup, 体检
0.9 mother, mum, mom, mummy, mama, 妈妈, 母亲, 老妈
0.9 father, dad, daddy, papa, 爸爸, 父亲, 老爸
0.9 parents, 父母, 爸妈, 爸爸妈妈
0.8 wife, 妻子, 老婆, 太太, 爱人
0.8 husband, 丈夫, 老公
0.8 child, kid, 孩子, 小孩, 儿童
0.9 grandmother, grandma, granny, 奶奶, 外婆, 姥姥
0.9 grandfather, grandpa, granddad, 爷爷, 外公, 姥爷
0.8 friend, pal, buddy, mate, 朋友, 好友
0.8 girlfriend, 女朋友, 女友
0.8 boyfriend, 男朋友, 男友
0.8 colleague, coworker, co-worker, workmate, 同事
0.8 boss, manager, supervisor, 老板, 主管, 上司, 领导
0.8 job, occupation, profession, 职业, 工作
0.7 work, job, 工作, 上班
0.8 company, firm, employer, 公司, 企业, 单位
0.8 salary, wage, wages, pay, 工资, 薪水, 薪资
0.8 meeting, conference, 会议, 开会
0.7 appointment, 预约, 约会
0.8 holiday, vacation, 假期, 休假, 度假
0.8 trip, journey, travel, tour, 旅行, 旅游, 出游
0.7 business trip, 出差
0.8 house, home, 房子, 家
0.9 flat, apartment, 公寓
0.8 rent, 房租, 租金
0.8 address, 地址, 住址
0.9 phone, telephone, cell phone, mobile phone, smartphone, 手机, 电话
0.9 phone number, telephone number, 电话号码, 手机号, 手机号码
0.9 email, e-mail, mail, 邮件, 电子邮件, 邮箱
0.9 film, movie, 电影, 影片
0.8 television, tv, telly, 电视
0.8 picture, photo, photograph, image, 照片, 图片, 相片
0.8 painting, drawing, 绘画, 画画
0.7 music, song, 音乐, 歌曲
0.8 book, 书, 书籍, 图书
0.8 novel, fiction, 小说
0.8 shop, store, 商店, 店铺
0.8 shopping, 购物, 逛街
0.8 buy, purchase, 购买, 买
0.8 cheap, inexpensive, 便宜, 实惠
0.8 expensive, costly, pricey, 贵, 昂贵
0.8 money, cash, 钱, 现金
0.8 gift, present, 礼物, 礼品
0.8 birthday, 生日
0.8 wedding, marriage, 婚礼, 结婚
0.8 restaurant, diner, eatery, 餐厅, 饭店, 餐馆
0.8 food, meal, 食物, 饭菜
0.8 breakfast, 早餐, 早饭
0.8 lunch, 午餐, 午饭
0.8 dinner, supper, 晚餐, 晚饭
0.8 coffee, espresso, 咖啡
0.9 tea, 茶
0.9 sweets, candy, 糖果
0.9 biscuit, cookie, 饼干
0.9 potato, 土豆, 马铃薯
0.9 tomato, 西红柿, 番茄
0.8 vegetarian, 素食, 吃素
0.9 dog, puppy, hound, 狗, 小狗, 狗狗
0.9 cat, kitten, kitty, 猫, 小猫, 猫咪
0.8 pet, 宠物
0.8 sport, exercise, workout, 运动, 锻炼, 健身
0.8 running, jogging, 跑步, 慢跑
0.8 football, soccer, 足球
0.8 hobby, pastime, 爱好, 兴趣
0.8 school, 学校
0.8 university, college, 大学
0.8 teacher, instructor, tutor, 老师, 教师
0.8 exam, examination, test, 考试, 测验
0.8 homework, assignment, 作业
0.8 learn, study, 学习
0.8 happy, glad, joyful, 开心, 高兴, 快乐
0.8 sad, unhappy, upset, 难过, 伤心, 悲伤
0.8 afraid, scared, frightened, 害怕, 恐惧
0.8 angry, mad, furious, 生气, 愤怒
0.8 tired, exhausted, weary, 累, 疲惫, 疲劳
0.8 like, love, enjoy, 喜欢, 喜爱
0.8 dislike, hate, 讨厌, 不喜欢
0.8 big, large, huge, 巨大
0.8 small, little, tiny
0.8 fast, quick, rapid, 迅速
0.8 begin, start, 开始
0.8 finish, complete, end, 完成, 结束
0.8 repair, fix, mend, 修复, 修理
0.8 error, bug, defect, fault, 错误, 缺陷, 故障
0.7 error code, status code, 错误码, 状态码
0.8 crash, outage, 崩溃, 宕机
0.8 deploy, deployment, release, rollout, 部署, 发布, 上线
0.8 database, db, 数据库
0.8 server, host, 服务器, 主机
0.8 code, source code, 代码, 源码
0.8 repository, repo, 仓库, 代码库
0.9 pull request, pr, merge request, 合并请求
0.8 configuration, config, settings, 配置, 设置
0.9 environment variable, env var, 环境变量
0.8 function, method, 函数, 方法
0.8 directory, folder, 目录, 文件夹
0.8 file, document, 文件, 文档
0.8 documentation, docs, 文档
0.8 test, testing, 测试
0.8 log in, login, sign in, sign-in, 登录, 登陆
0.8 log out, logout, sign out, 退出登录, 登出
0.8 password, passcode, 密码, 口令
0.8 user, account, 用户, 账号, 账户
0.8 permission, authorization, access right, 权限, 授权
0.9 application, app, 应用, 应用程序
0.8 computer, pc, laptop, 电脑, 计算机
0.8 website, web page, site, 网站, 网页
0.8 slow, latency, lag, 慢, 延迟, 卡顿
0.8 memory leak, 内存泄漏, 内存泄露
0.9 kubernetes, k8s
0.9 javascript, js
0.9 typescript, ts
0.9 python, py
0.9 postgresql, postgres
0.9 artificial intelligence, ai, 人工智能
0.9 machine learning, ml, 机器学习
0.8 language model, llm, 大模型, 语言模型
0.8 deadline, due date, 截止日期, 期限
0.8 invoice, bill, 发票, 账单
0.8 order, 订单
0.8 delivery, shipping, 快递, 配送, 发货
"""
"""A group a line."""
