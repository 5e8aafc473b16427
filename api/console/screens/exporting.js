/** An owner's memories, or everything about them, as a file. */

import { html, useState } from "../core/dom.js";
import { askBlob, path } from "../core/http.js";
import { useMoment } from "../core/moment.js";
import { Check, download, Field, note } from "../core/parts.js";
import { language, t } from "../core/words.js";
import { FormDialog } from "./verbs.js";

const ENDS = { jsonl: "jsonl", markdown: "md", html: "html" };

export function ExportDialog({ owner, everything: first = false, onClose }) {
  const moment = useMoment();
  const [everything, setEverything] = useState(first);
  const [format, setFormat] = useState("jsonl");
  const [reveal, setReveal] = useState(false);
  const [reason, setReason] = useState("");
  const formats = everything ? ["jsonl", "html"] : ["jsonl", "markdown"];
  const chosen = formats.includes(format) ? format : "jsonl";
  const act = async () => {
    const told = { format: chosen, ...moment.query };
    if (everything) Object.assign(told, { everything: true, language: language.get() });
    const address = path("owners", owner, "export");
    const blob = await (reveal ? askBlob(address, { body: { ...told, reveal: true, reason } }) : askBlob(address, { params: told }));
    download(blob, `${owner.replace(/[^\p{L}\p{N}._-]+/gu, "_")}${everything ? "-everything" : ""}.${ENDS[chosen]}`);
    note(t("export.done"));
  };
  return html`<${FormDialog} title=${t("export.title")} verb=${t("export.go")} act=${act} onClose=${onClose}>
    <${Field} label=${t("export.what")} value=${everything ? "everything" : "memories"} options=${["memories", "everything"].map((one) => [one, t(`export.${one}`)])} onChange=${(value) => setEverything(value === "everything")} />
    <${Field} label=${t("export.format")} value=${chosen} options=${formats.map((one) => [one, t(`export.format.${one}`)])} onChange=${setFormat} />
    <${Check} label=${t("export.reveal")} checked=${reveal} onChange=${setReveal} disabled=${moment.past} />
    ${reveal && html`<${Field} label=${t("export.reason")} value=${reason} onChange=${setReason} />`}
  <//>`;
}
