/** The screens, in the order of the navigation. Each is a component that is given `owner` and `id`, what stands behind it in the address. */

import { Answers } from "./screens/answers.js";
import { Ask } from "./screens/ask.js";
import { Log } from "./screens/log.js";
import { Map } from "./screens/map.js";
import { Memories } from "./screens/memories.js";
import { Memory } from "./screens/memory.js";
import { Operate } from "./screens/operate.js";
import { Proof } from "./screens/proof.js";
import { WhatIf } from "./screens/whatif.js";

/** Of an owner: `#/owners/OWNER/NAME[/ID]`. Those without a place in the navigation are reached from others. */
export const OF_OWNER = [
  { name: "memories", screen: Memories },
  { name: "ask", screen: Ask },
  { name: "whatif", screen: WhatIf },
  { name: "answers", screen: Answers },
  { name: "log", screen: Log },
  { name: "proof", screen: Proof },
  { name: "map", screen: Map },
  { name: "memory", screen: Memory, hidden: true },
];

/** Of the store: `#/NAME[/ID]`. */
export const OF_STORE = [
  { name: "operate", screen: Operate },
  { name: "partitions", screen: Log, hidden: true },
];
