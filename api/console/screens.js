/** The screens, in the order of the navigation. Each is a component that is given `owner` and `id`, what stands behind it in the address. */

import { may, modesOf } from "./core/rights.js";
import { Access } from "./screens/access.js";
import { Answers } from "./screens/answers.js";
import { Ask } from "./screens/ask.js";
import { Compare } from "./screens/between.js";
import { Log } from "./screens/log.js";
import { Map } from "./screens/map.js";
import { Memories } from "./screens/memories.js";
import { Memory } from "./screens/memory.js";
import { Overview } from "./screens/overview.js";
import { Operate } from "./screens/operate.js";
import { Proof } from "./screens/proof.js";
import { WhatIf } from "./screens/whatif.js";

/**
 * Of an owner: `#/owners/OWNER/NAME[/ID]`. Those without a place in the navigation are reached from others. `needs`: the verb;
 * `group`: 1 what is remembered, 2 what happened, 3 the rest.
 */
export const OF_OWNER = [
  { name: "overview", screen: Overview, needs: "read", group: 1 },
  { name: "ask", screen: Ask, needs: "read", group: 1 },
  { name: "memories", screen: Memories, needs: "read", group: 1 },
  { name: "log", screen: Log, needs: "audit", group: 2 },
  { name: "answers", screen: Answers, needs: "audit", group: 2 },
  { name: "compare", screen: Compare, needs: "replay", group: 2 },
  { name: "whatif", screen: WhatIf, needs: "replay", group: 3 },
  { name: "map", screen: Map, needs: "read", group: 3 },
  { name: "proof", screen: Proof, needs: "read", group: 3 },
  { name: "memory", screen: Memory, needs: "read", hidden: true },
];

/** Of the store: `#/NAME[/ID]`. Without `needs` it is for everybody who signed in. */
export const OF_STORE = [
  { name: "operate", screen: Operate, needs: "operate" },
  { name: "access", screen: Access },
  { name: "partitions", screen: Log, needs: "audit", hidden: true },
];

/** Whether whoever signed in may open a screen; `owner`: null of the store's. Memories are read by some mode. */
export const isOpen = (screen, owner) => !screen.needs || (may(screen.needs, owner) && (screen.needs !== "read" || modesOf(owner).length > 0));
