/** Words of the first screen of an owner. */

import { words } from "../core/words.js";

words({
  "overview.lead": ["{owner} at a glance: what an agent always gets, what needs you, and the latest changes.", "关于 {owner} 的要点：智能体总会得到的内容、需要您处理的事项，以及最近发生的事。"],
  "overview.greeting": ["Hello", "你好"],
  "overview.always": ["Always in the prompt", "始终在提示中"],
  "overview.part.instructions": ["Standing instructions", "长期指令"],
  "overview.part.core": ["Core memories", "核心记忆"],
  "overview.part.profile": ["About the user", "关于用户"],
  "overview.none": ["Nothing yet", "暂无内容"],
  "overview.none.what": ["Names, homes, people and lasting wishes appear here as soon as they are recorded.", "姓名、住处、亲友和长期要求一经记录就会显示在这里。"],
  "overview.waiting": ["Needs an answer", "需要答复"],
  "overview.waiting.count": ["{count} [change|changes] in the inbox", "待办中有 {count} 项更改"],
  "overview.topics": ["Facts by topic", "按主题的事实"],
  "overview.all": ["all {count}", "全部 {count} 条"],
  "overview.latest": ["Latest changes", "最近的变化"],
});
