import { html } from "../core/dom.js";
import { Screen } from "../core/parts.js";
import { t } from "../core/words.js";

export function Map() {
  return html`<${Screen} title=${t("screen.map")} />`;
}
