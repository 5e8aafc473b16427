/** Proof and person: heads of the chains, a check against what was kept, all about a person, and forgetting. */

import { html, useState } from "../core/dom.js";
import { ask, askWith, path, useAsk } from "../core/http.js";
import { useMoment } from "../core/moment.js";
import { Asked, Button, Chip, Copy, download, Field, note, Panel, Problem, Screen, told as refusal } from "../core/parts.js";
import { ByService } from "../core/reason.js";
import { may, useWhyNot, whyNot } from "../core/rights.js";
import { coded, Id, plain, When } from "../core/said.js";
import { number, t } from "../core/words.js";
import { ExportDialog } from "./exporting.js";
import { DeleteDialog } from "./verbs.js";
import "../words/memories.js";
import "../words/operate.js";

const MOST_TEXT = 1_000_000;
const MOST_DELETED = 1_000;
const STANDING = ["live", "fading", "kept_version", "superseded", "merged", "retired", "proposed", "set_aside", "rejected"];

export function Proof({ owner }) {
  const [dialog, setDialog] = useState(null);
  const why = useWhyNot("delete", owner) ?? whyNot("read", owner, { mode: "debug" });
  const forget = async () => {
    try {
      const told = await ask(path("owners", owner, "memories"), { mode: "debug", statuses: STANDING, limit: MOST_DELETED });
      if (told.memories.length) setDialog({ kind: "forget", ids: told.memories.map((one) => one.id), more: told.total - told.memories.length });
      else note(t("proof.forget.none"));
    } catch (error) {
      note(refusal(error), { tone: "bad" });
    }
  };
  return html`<${Screen} title=${t("screen.proof")} lead=${t("proof.lead")}>
    <div class="columns">
      <${OwnerChain} owner=${owner} />
      <${Panel} title=${t("proof.person", { owner: plain(owner) })}><p>${t("proof.person.what")}</p><${Button} kind="main" why=${whyNot("audit", owner)} onClick=${() => setDialog({ kind: "export" })}>${t("proof.person.get")}<//><//>
      <${Panel} title=${t("proof.forget", { owner: plain(owner) })}><p>${coded(t("proof.forget.what"))}</p><${Button} kind="danger" why=${why} onClick=${forget}>${t("proof.forget.go")}<//><//>
    </div>
    ${may("audit", null) && html`<${Check} /><${Heads} />`}
    ${dialog?.kind === "export" && html`<${ExportDialog} owner=${owner} everything=${true} onClose=${() => setDialog(null)} />`}
    ${dialog?.kind === "forget" && html`<${DeleteDialog} owner=${owner} ids=${dialog.ids} more=${dialog.more} onClose=${() => setDialog(null)} onDone=${(answer) => answer && dialog.more > 0 && note(t("proof.forget.more", { count: number(dialog.more) }), { tone: "bad" })} />`}
  <//>`;
}

function OwnerChain({ owner }) {
  const moment = useMoment();
  const [chain, setChain] = useState("");
  const [known, setKnown] = useState("");
  const told = chain.trim().toLowerCase();
  const compares = /^[0-9a-f]{64}$/.test(told);
  const asked = useAsk(path("owners", owner, "heads"), { chain: compares ? told : undefined, ...moment.query, ...(known.trim() ? { known: known.trim() } : {}) });
  return html`<${Panel} title=${t("proof.owner", { owner: plain(owner) })}><p class="muted">${t("proof.owner.what")}</p>
    <${Asked} of=${asked}>${(found) => html`<p class="hash"><${Id} text=${found.position} /> <code>${found.chain}</code> <${Copy} text=${found.chain ?? ""} /></p>
      ${found.agrees !== null && html`<p role="status"><${Chip} tone=${found.agrees ? "good" : "bad"}>${t(found.agrees ? "proof.owner.same" : "proof.owner.other")}<//></p>`}`}<//>
    <${Field} label=${t("proof.owner.chain")} value=${chain} onChange=${setChain} spellcheck=${false} maxlength="64" />
    <${Field} label=${t("proof.owner.known")} value=${known} onChange=${setKnown} placeholder="3:128" spellcheck=${false} />
  <//>`;
}

function Heads() {
  const asked = useAsk(path("heads"));
  return html`<${Panel} title=${t("proof.heads")} actions=${asked.data && html`<${Copy} text=${asked.data.line} label=${t("proof.copy")} /><${Button} onClick=${() => download(new Blob([`${asked.data.line}\n`], { type: "application/jsonl" }), "heads.jsonl")}>${t("proof.download")}<//>`}>
    <p class="muted">${t("proof.heads.what")}</p>
    <${Asked} of=${asked}>${(told) => html`${told.keeping && html`<p class="muted">${t("proof.keeping", { count: number(told.keeping.lines), at: told.keeping.last?.slice(0, 16).replace("T", " ") ?? "–" })}</p>`}
      <div class="table-box" tabindex="0" role="group" aria-label=${t("proof.heads")}><table class="tight"><thead><tr><th class="figure">${t("operate.partition")}</th><th>${t("proof.at")}</th><th>${t("proof.head")}</th><th>${t("proof.kept")}</th></tr></thead>
      <tbody>${told.heads.map((one) => html`<tr key=${one.partition}><td class="figure">${one.partition}</td><td><${Id} text=${`${one.partition}:${one.seq}`} /> <${When} at=${one.at} /></td><td class="hash"><code title=${one.chain}>${one.chain.slice(0, 16)}…</code></td><td>${one.kept ? html`<${Id} text=${`${one.partition}:${one.kept.seq}`} /> <${When} at=${one.kept.at} />` : "–"}</td></tr>`)}</tbody></table></div>`}<//>
  <//>`;
}

function Check() {
  const [text, setText] = useState("");
  const [told, setTold] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const take = async (event) => {
    const file = event.currentTarget.files[0];
    if (!file) return;
    if (file.size > MOST_TEXT) setError({ problem: { field: "text", got: file.size, allowed: `≤ ${number(MOST_TEXT)}` } });
    else setText(await file.text());
  };
  const go = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    setTold(null);
    try {
      setTold(await askWith(path("heads", "check"), { text }));
    } catch (refused) {
      setError(refused);
    }
    setBusy(false);
  };
  return html`<${Panel} title=${t("proof.check")}><p class="muted">${t("proof.check.what")}</p>
    <form class="form stacked" onSubmit=${go}>
      <${Field} label=${t("proof.check.text")} kind="textarea" value=${text} onChange=${setText} maxlength=${MOST_TEXT} spellcheck=${false} />
      <div class="form"><label class="file">${t("proof.check.file")} <input type="file" accept=".jsonl,.json,.txt" onChange=${take} /></label>
      <${Button} kind="main" type="submit" disabled=${busy || !text.trim()}>${t("proof.check.go")}<//></div>
    </form>
    <${Problem} error=${error} />
    ${told && html`<div role="status" class=${`verdict ${told.agrees ? "good" : "bad"}`}><p><strong>${t(told.agrees ? "proof.agrees" : told.complete ? "proof.differs" : "proof.incomplete")}</strong></p>
      <p>${t("proof.counts", { agreed: number(told.agreed), heads: number(told.heads), differing: number(told.differing), missing: number(told.missing), unread: number(told.unread) })}</p>
      ${told.problems.map((one) => html`<p key=${one}><${ByService} text=${one} /></p>`)}
      ${told.uncovered.length > 0 && html`<p>${t("proof.uncovered", { what: told.uncovered.join(", ") })}</p>`}
      <table class="tight"><tbody>${told.partitions.map((one) => html`<tr key=${one.partition}><th scope="row">${t("operate.partition")} ${one.partition}</th><td><${Chip} tone=${one.state === "agrees" ? "good" : one.state === "unread" ? "warn" : "bad"}>${t(`proof.state.${one.state}`)}<//></td><td class="muted figure">${number(one.agreed)} / ${number(one.heads)}</td></tr>`)}</tbody></table></div>`}
  <//>`;
}
