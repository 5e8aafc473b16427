/** An owner's memories, those that are picked, or everything about the owner, as a file. */

import { html, useState } from "../core/dom.js";
import { askBlob, path } from "../core/http.js";
import { useMoment } from "../core/moment.js";
import { Check, Confirm, download, Field, note } from "../core/parts.js";
import { may } from "../core/rights.js";
import { number, t } from "../core/words.js";

const ENDS = { jsonl: "jsonl", text: "md" };
/** What is picked was seen in whatever state it is in. */
const ANY_STATE = ["deleted", "merged", "retired", "set_aside", "rejected", "proposed", "superseded", "negated"];

/** `picked`: ids of the rows that are picked. `filtered`: whether the table shows less than all, which no export goes by. */
export function ExportDialog({ owner, picked = [], filtered = false, everything = false, onClose }) {
  const moment = useMoment();
  const [what, setWhat] = useState(everything ? "everything" : picked.length && may("audit", owner) ? "picked" : "memories");
  const [format, setFormat] = useState("jsonl");
  const [reveal, setReveal] = useState(false);
  const [reason, setReason] = useState("");
  const formats = what === "everything" ? ["jsonl"] : ["jsonl", "text"];
  const chosen = formats.includes(format) ? format : "jsonl";
  const act = async () => {
    const told = { format: chosen, ...moment.query };
    if (what === "everything") told.everything = true;
    if (what === "picked") Object.assign(told, { ids: picked, include: ANY_STATE });
    if (reveal) Object.assign(told, { reveal: true, reason });
    const address = path("owners", owner, "export");
    const blob = await (reveal || what === "picked" ? askBlob(address, { body: told }) : askBlob(address, { params: told }));
    download(blob, `${owner.replace(/[^\p{L}\p{N}._-]+/gu, "_")}${what === "memories" ? "" : `-${what}`}.${ENDS[chosen]}`);
    note(t("export.done"));
  };
  const audits = may("audit", owner); // what is hidden, and everything about somebody, is an auditor's
  const options = [...(picked.length && audits ? ["picked"] : []), "memories", ...(audits ? ["everything"] : [])];
  return html`<${Confirm} title=${t("export.title")} verb=${t("export.go")} act=${act} onClose=${onClose}>
    <${Field} label=${t("export.what")} value=${what} options=${options.map((one) => [one, t(`export.${one}`, { count: number(picked.length) })])} onChange=${setWhat}
      hint=${what === "everything" ? undefined : t(what === "picked" ? "export.picked.hint" : filtered ? "export.filtered.hint" : "export.memories.hint")} />
    <${Field} label=${t("export.format")} value=${chosen} options=${formats.map((one) => [one, t(`export.format.${one}`)])} onChange=${setFormat} />
    <${Check} label=${t("export.reveal")} checked=${reveal} onChange=${setReveal} disabled=${moment.past || !may("reveal", owner)} />
    ${reveal && html`<${Field} label=${t("export.reason")} value=${reason} onChange=${setReason} />`}
  <//>`;
}
