/** What state a memory is in, where it is not the usual one. */

import { html } from "../core/dom.js";
import { Chip } from "../core/parts.js";
import { t } from "../core/words.js";
import "../words/memories.js";

/** What state is good, what asks for a look. */
export const TONES = {
  live: "good", fading: "warn", kept_version: "warn", superseded: "none", merged: "none", proposed: "cool", set_aside: "warn", rejected: "bad", deleted: "bad", purged: "bad",
  asserted: "good", inferred: "cool", imported: "none", disputed: "warn",
};

function unusual(memory) {
  if (memory.waiting?.length) return ["warn", t("memories.waiting")];
  if (memory.possible_conflicts?.length) return ["warn", t("memories.conflict")];
  if (memory.status && memory.status !== "live") return [TONES[memory.status], t(`status.${memory.status}`)];
  if (memory.is_negated) return ["warn", t("reason.negated")];
  if (memory.trust === "disputed") return ["warn", t("trust.disputed")];
  return memory.tier === "core" || memory.tier === "system" ? ["cool", t(`tier.${memory.tier}`)] : null;
}

/** One chip, or nothing where all is as usual. */
export function State({ of }) {
  const found = unusual(of);
  return found && html`<${Chip} tone=${found[0]}>${found[1]}<//>`;
}
