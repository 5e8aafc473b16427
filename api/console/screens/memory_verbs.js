/** What is done to one memory: each says first what it would touch, and most can be undone. */

import { html, useState } from "../core/dom.js";
import { askWith, path, tell, useAsk, useAskWith } from "../core/http.js";
import { Asked, Check, Confirm, Field, note } from "../core/parts.js";
import { Reason } from "../core/reason.js";
import { may } from "../core/rights.js";
import { number, t, weight } from "../core/words.js";
import { ByText, Named, restore } from "./verbs.js";

const of = (owner, memory, verb) => path("owners", owner, "memories", memory.id, verb);

/** What a verb would do, told by the service without doing it. */
function Touches({ owner, memory, verb, body = {} }) {
  const would = useAskWith(of(owner, memory, verb), { ...body, dry_run: true });
  const uses = useAsk(may("audit", owner) ? path("owners", owner, "memories", memory.id, "uses") : null, { limit: 1 });
  return html`<section class="touches" aria-label=${t("memory.touches")}><h3>${t("memory.touches")}</h3>
    <${Asked} of=${would}>${(told) => html`<ul class="plain">${told.changes.map((one, index) => html`<li key=${index} class="figure">
      <${ByText} owner=${owner} id=${one.memory} />: ${t("memory.touches.weight", { old: weight(one.old_weight), new: weight(one.new_weight) })} <span class="muted"><${Reason} text=${one.reason} code=${one.reason_code} values=${one.reason_values} /></span></li>`)}</ul>`}<//>
    ${uses.data?.total > 0 && html`<p class="muted">${t("memory.touches.answers", { count: number(uses.data.total) })}</p>`}
  </section>`;
}

export function Negate({ owner, memory, onClose, onDone }) {
  const [told, setTold] = useState({ correction: "", resolution: "", never: false, reason: "" });
  const set = (name) => (value) => setTold({ ...told, [name]: value });
  const body = Object.fromEntries(Object.entries(told).filter(([, value]) => value && (value === true || value.trim())));
  const act = async (key) => {
    await tell(of(owner, memory, "negate"), body, { key });
    // Taking a negation back is said again, which counts as a mention: it is called what it is. A correction stays, so it is not offered.
    const back = () => tell(of(owner, memory, "confirm"), {}).then(onDone);
    note(t("memory.negate.done"), body.correction || body.never ? {} : { undo: back, undoes: t("memory.confirm.after-all"), undone: t("memory.confirm.done") });
    onDone();
  };
  return html`<${Confirm} title=${t("memory.negate.title")} verb=${t("memory.negate")} act=${act} onClose=${onClose}>
    <${Field} label=${t("memory.negate.correction")} kind="textarea" value=${told.correction} onChange=${set("correction")} />
    <${Field} label=${t("memory.negate.resolution")} value=${told.resolution} onChange=${set("resolution")} options=${["", "latest_wins", "version_keep", "weight_balance"].map((one) => [one, t(`memory.negate.resolution.${one}`)])} />
    <${Check} label=${t("memory.negate.never")} checked=${told.never} onChange=${set("never")} />
    <${Field} label=${t("delete.reason")} value=${told.reason} onChange=${set("reason")} />
    <${Touches} owner=${owner} memory=${memory} verb="negate" body=${told.resolution ? { resolution: told.resolution } : {}} />
  <//>`;
}

export function ConfirmHolds({ owner, memory, onClose, onDone }) {
  const act = async (key) => {
    await tell(of(owner, memory, "confirm"), {}, { key });
    note(t("memory.confirm.done"));
    onDone();
  };
  return html`<${Confirm} title=${t("memory.confirm.title")} verb=${t("memory.confirm")} act=${act} onClose=${onClose}>
    <${Touches} owner=${owner} memory=${memory} verb="confirm" /><//>`;
}

export function Sensitivity({ owner, memory, onClose, onDone }) {
  const [level, setLevel] = useState(String(memory.sensitivity));
  const [reason, setReason] = useState("");
  const act = async (key) => {
    const { statements } = await tell(of(owner, memory, "sensitivity"), { level: Number(level), reason }, { key });
    const undo = () => tell(of(owner, memory, "sensitivity"), { level: memory.sensitivity, reason: "undone in the console" }).then(onDone);
    const left = statements?.count ? ` ${t("memory.sensitivity.left", { count: number(statements.count), ids: statements.ids.join(", ") })}` : "";
    note(t("memory.sensitivity.done", { level }) + left, { undo });
    onDone();
  };
  return html`<${Confirm} title=${t("memory.sensitivity.title")} verb=${t("edit.go")} act=${act} onClose=${onClose} ready=${reason.trim() && Number(level) !== memory.sensitivity}>
    <${Field} label=${t("memory.sensitivity.level")} value=${level} onChange=${setLevel} options=${["0", "1", "2", "3"].map((one) => [one, t(`memory.sensitivity.${one}`)])} />
    <${Field} label=${t("delete.reason")} value=${reason} onChange=${setReason} required /><//>`;
}

export function RestoreDialog({ owner, memory, onClose, onDone }) {
  const first = () => askWith(path("owners", owner, "memories", "restore"), { ids: [memory.id], dry_run: true });
  return html`<${Confirm} title=${t("memory.restore.title")} verb=${t("memory.restore")} first=${first} onClose=${onClose} act=${() => restore(owner, [memory.id]).then(onDone)}>
    ${(would) => html`<${Named} owner=${owner} title=${t("delete.also", { count: number(would.also.length) })} ones=${would.also} /><${Named} owner=${owner} title=${t("delete.alone", { count: number(would.not_restored.length) })} ones=${would.not_restored} />`}<//>`;
}

export function Unmerge({ owner, memory, onClose, onDone }) {
  const act = async (key) => {
    await tell(of(owner, memory, "unmerge"), {}, { key });
    note(t("memory.unmerge.done"));
    onDone();
  };
  return html`<${Confirm} kind="danger" title=${t("memory.unmerge.title")} verb=${t("memory.unmerge")} act=${act} onClose=${onClose}>${() => html`<${Named} owner=${owner} title=${t("relation.merged_from")} ones=${memory.merged_from} most=${20} />`}<//>`;
}

/** A secret's words, once it is recorded who asked and why. They stay on this screen alone, until it is left. */
export function Reveal({ owner, memory, onClose, onRevealed }) {
  const [reason, setReason] = useState("");
  const act = async () => {
    const told = await tell(of(owner, memory, "reveal"), { reason }, { keyed: false });
    onRevealed(told.content);
  };
  return html`<${Confirm} title=${t("memory.reveal.title")} verb=${t("memory.reveal.go")} act=${act} onClose=${onClose} ready=${reason.trim()}>
    <p class="muted">${t("memory.reveal.what")}</p>
    <${Field} label=${t("export.reason")} value=${reason} onChange=${setReason} required /><//>`;
}
