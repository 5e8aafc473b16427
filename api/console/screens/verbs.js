/** What is done to memories, on whatever screen: dialogs that show first what they would touch, and undo. */

import { html, useState } from "../core/dom.js";
import { askWith, path, tell, useAsk } from "../core/http.js";
import { Check, Confirm, Field, note, TOLD } from "../core/parts.js";
import { Reason } from "../core/reason.js";
import { may } from "../core/rights.js";
import { Id, plain, Said } from "../core/said.js";
import { number, t } from "../core/words.js";

const CATEGORIES = ["identity", "stable_preference", "short_term_preference", "fact", "skill", "temporary"];

export function AddDialog({ owner, onClose, onDone }) {
  const [told, setTold] = useState({ content: "", category: "fact", kind: "fact", memory_id: "", because: "", tags: "", confirm: false });
  const set = (name) => (value) => setTold({ ...told, [name]: value });
  const act = async (key) => {
    const tags = told.tags.split(/[,，]/).map((one) => one.trim()).filter(Boolean);
    const body = { content: told.content, category: told.category, kind: told.kind.trim() || "fact" };
    if (tags.length) body.tags = tags;
    for (const name of ["memory_id", "because"]) if (told[name].trim()) body[name] = told[name].trim();
    if (told.confirm) body.confirm = true;
    const answer = await tell(path("owners", owner, "memories"), body, { key });
    note(answer.mentioned ? t("add.mentions", { id: [answer.mentioned].flat().join(", ") }) : t("add.done"));
    onDone?.(answer);
  };
  return html`<${Confirm} title=${t("add.title")} verb=${t("add.go")} act=${act} onClose=${onClose} ready=${told.content.trim()}>
    <${Field} label=${t("add.content")} kind="textarea" value=${told.content} onChange=${set("content")} required autofocus />
    <${Field} label=${t("memories.by.category")} value=${told.category} onChange=${set("category")} options=${CATEGORIES.map((one) => [one, t(`category.${one}`)])} />
    <${Field} label=${t("memories.by.kind")} hint=${t("add.kind.hint")} value=${told.kind} onChange=${set("kind")} />
    <${Field} label=${t("add.tags")} value=${told.tags} onChange=${set("tags")} />
    <${Field} label=${t("add.because")} value=${told.because} onChange=${set("because")} />
    <${Field} label=${t("add.id")} value=${told.memory_id} onChange=${set("memory_id")} spellcheck=${false} />
    <${Check} label=${t("add.confirm")} checked=${told.confirm} onChange=${set("confirm")} />
  <//>`;
}

export function EditDialog({ owner, memory, onClose, onDone }) {
  const before = memory.content ?? memory.memory;
  const [content, setContent] = useState(before);
  const [because, setBecause] = useState("");
  const withheld = memory.sensitivity > 2;
  const act = async (key) => {
    const body = { content };
    if (because.trim()) body.because = because.trim();
    const answer = await tell(path("owners", owner, "memories", memory.id, "edit"), body, { key });
    const undo = () => tell(path("owners", owner, "memories", memory.id, "edit"), { content: before }).then(() => onDone?.(null));
    note(t("edit.done"), { undo });
    onDone?.(answer);
  };
  return html`<${Confirm} title=${t("edit.title")} verb=${t("edit.go")} act=${act} onClose=${onClose} ready=${!withheld && content.trim() && content !== before}>
    <p class="muted">${t(withheld ? "edit.withheld" : "edit.hint")}</p>
    <${Field} label=${t("add.content")} kind="textarea" value=${content} onChange=${setContent} required disabled=${withheld} />
    <${Field} label=${t("add.because")} value=${because} onChange=${setBecause} />
  <//>`;
}

/** A memory by its text; its id is the title, and what stands there until the text is known. */
export function ByText({ owner, id, lines = 2 }) {
  const asked = useAsk(may("read", owner) ? path("owners", owner, "memories", id) : null, { trace: "false" });
  return html`<span title=${plain(id)} aria-busy=${asked.loading}>${asked.data ? html`<${Said} text=${asked.data.content} lines=${lines} />` : html`<${Id} text=${id} />`}</span>`;
}

/** Memories by their text (`owner`: whose) or other ids, with why, a few of them. */
export function Named({ title, ones, owner, most = 6 }) {
  if (!ones?.length) return null;
  return html`<p><strong>${title}</strong></p><ul class="named">
    ${ones.slice(0, most).map((one) => html`<li>${owner ? html`<${ByText} owner=${owner} id=${one.id ?? one} />` : html`<${Id} text=${one.id ?? one} />`}${one.reason && html` <span class="muted"><${Reason} text=${one.reason} code=${one.reason_code} values=${one.reason_values} /></span>`}</li>`)}
    ${ones.length > most && html`<li class="muted">… ${t("memories.facet.more", { count: number(ones.length - most) })}</li>`}
  </ul>`;
}

/** Bring memories back, and say how it went. */
export async function restore(owner, ids) {
  const answer = await tell(path("owners", owner, "memories", "restore"), { ids });
  const left = [...(answer.skipped ?? []), ...(answer.not_restored ?? [])].length;
  note(left ? t("restore.some", { count: number(answer.restored.length), left }) : t("restore.done", { count: number(answer.restored.length) }), { tone: left ? "bad" : "good" });
  return answer;
}

/** Delete one memory or many: what it would touch is told first, core ones are spared unless they are meant, and it is undone by one click. */
export function DeleteDialog({ owner, ids, more = 0, onClose, onDone }) {
  const [options, setOptions] = useState({ with_sources: false, core: false, never: false });
  const [reason, setReason] = useState("");
  const address = path("owners", owner, "memories", "delete");
  const first = () => askWith(address, { ids, ...options, dry_run: true });
  const act = async (key) => {
    const answer = await tell(address, { ids, ...options, reason }, { key });
    const deleted = answer.deleted;
    note(t("delete.done", { count: number(deleted.length) }), { undo: async () => {
      await restore(owner, deleted);
      onDone?.();
      return TOLD;
    } });
    onDone?.(answer);
  };
  const title = ids.length === 1 ? t("delete.one") : t("delete.title", { count: number(ids.length) });
  return html`<${Confirm} kind="danger" again=${JSON.stringify(options)} title=${title} verb=${t("delete.go")} first=${first} act=${act} onClose=${onClose}>
    ${(would) => html`<${Named} owner=${owner} title=${t("delete.would", { count: number(would.deleted.length) })} ones=${would.deleted} />
      ${(!would.deleted.length || more > 0) && html`<p>${would.deleted.length ? t("proof.forget.more", { count: number(more) }) : t("delete.nothing")}</p>`}
      <${Named} owner=${owner} title=${t("delete.spared", { count: number(would.skipped.length) })} ones=${would.skipped} />
      <${Named} owner=${owner} title=${t("delete.also", { count: number(would.also.length) })} ones=${would.also} />
      <${Named} owner=${owner} title=${t("delete.alone", { count: number(would.left_alone.length) })} ones=${would.left_alone} />
      <${Named} owner=${owner} title=${t("delete.hidden", { count: number(would.hidden_with.length) })} ones=${would.hidden_with} />
      <${Named} title=${t("delete.still", { count: number(would.still_said_in.length) })} ones=${would.still_said_in} />
      <div class="form stacked">
        ${[["with_sources", "delete.sources"], ["core", "delete.core"], ["never", "delete.never"]].map(([name, word]) => html`<${Check} key=${name}
          label=${t(word)} checked=${options[name]} onChange=${(value) => setOptions({ ...options, [name]: value })} />`)}
        <${Field} label=${t("delete.reason")} value=${reason} onChange=${setReason} />
      </div>
      ${would.restorable_until && html`<p class="muted">${t("delete.until", { until: `${would.restorable_until.slice(0, 16).replace("T", " ")} UTC` })}</p>`}`}
  <//>`;
}
