/** A parameter of the laws, chosen by name, with its default, bounds and what it does, as the service tells them. */

import { html, useState } from "../core/dom.js";
import { useAsk } from "../core/http.js";
import { Button, Field } from "../core/parts.js";
import { t } from "../core/words.js";
import "../words/parameters.js";

export function ParameterPicker({ onSet }) {
  const asked = useAsk("/v1/parameters");
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const known = asked.data?.parameters ?? [];
  const chosen = known.find((one) => one.name === name);
  const choose = (one) => {
    setName(one);
    setValue(String(known.find((other) => other.name === one)?.default ?? ""));
  };
  const isRange = chosen && ["int", "float"].includes(chosen.kind) && chosen.least !== null && chosen.most !== null;
  return html`<${Field} label=${t("whatif.parameter")} value=${name} options=${[["", t("whatif.parameter.choose")], ...known.map((one) => [one.name, one.name])]} onChange=${choose} />
    ${chosen && html`<p class="muted">${t(`parameter.${chosen.name}`)} · ${t("whatif.default", { value: chosen.default })}</p>
      ${chosen.choices ? html`<${Field} label=${t("memory.value")} value=${value} options=${chosen.choices.map((one) => [String(one), String(one)])} onChange=${setValue} />`
        : html`<${Field} label=${t("memory.value")} value=${value} onChange=${setValue} />${isRange && html`<input type="range" aria-label=${t("memory.value")} min=${chosen.least} max=${chosen.most} step=${chosen.kind === "int" ? 1 : (chosen.most - chosen.least) / 200} value=${value} onInput=${(event) => setValue(event.currentTarget.value)} />`}`}
      <${Button} onClick=${() => onSet(name, value)}>${t("whatif.set")}<//>`}`;
}
