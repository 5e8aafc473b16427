import { html } from "../core/dom.js";
import { Screen } from "../core/parts.js";
import { t } from "../core/words.js";

export function Memory() {
  return html`<${Screen} title=${t("screen.memory")} />`;
}
