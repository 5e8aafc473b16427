/** What administrators do: make a key, which is shown once; revoke one; change what somebody may do. */

import { html, useRef, useState } from "../core/dom.js";
import { path, tell } from "../core/http.js";
import { Button, Check, Confirm, Copy, Dialog, Field, note } from "../core/parts.js";
import { Id, plain, Said } from "../core/said.js";
import { t } from "../core/words.js";
import { areWhole, asTold, FIRST, Grants, GrantsForm } from "./access_grants.js";

export function MakeKey({ principal = "", known, onClose, onDone }) {
  const [name, setName] = useState(principal);
  const [keeps, setKeeps] = useState(true);
  const [grants, setGrants] = useState([FIRST]);
  const [until, setUntil] = useState("");
  const [reason, setReason] = useState("");
  const [made, setMade] = useState(null);
  const done = useRef(false); // the form closes by itself: then what was made stays to be seen
  const there = known.includes(name.trim());
  const sets = !there || !keeps;
  const act = async () => {
    const body = { principal: name.trim(), reason: reason.trim() };
    if (sets) body.grants = asTold(grants);
    if (until) body.expires_at = `${until}T23:59:59Z`;
    const told = await tell(path("keys"), body, { keyed: false });
    done.current = true;
    setMade(told);
    onDone();
  };
  if (made) return html`<${ShownOnce} made=${made} onClose=${onClose} />`;
  return html`<${Confirm} wide=${true} title=${t("access.make")} verb=${t("access.make")} act=${act} onClose=${() => !done.current && onClose()} ready=${name.trim() && (!sets || areWhole(grants))}>
    <${Field} label=${t("access.principal")} hint=${t("access.principal.hint")} value=${name} onChange=${setName} maxlength="64" spellcheck=${false} required />
    ${there && html`<${Check} label=${t("access.keeps")} checked=${keeps} onChange=${setKeeps} />`}
    ${sets && html`<${GrantsForm} grants=${grants} onChange=${setGrants} />`}
    <${Field} label=${t("access.until")} hint=${t("access.until.hint")} kind="date" value=${until} onChange=${setUntil} />
    <${Field} label=${t("delete.reason")} value=${reason} onChange=${setReason} maxlength="400" />
  <//>`;
}

/** The key, told once: the window does not close by a slip. */
function ShownOnce({ made, onClose }) {
  const [warned, setWarned] = useState(false);
  return html`<${Dialog} title=${t("access.once", { principal: plain(made.principal) })} onClose=${() => (warned ? onClose() : setWarned(true))}>
    <p>${t("access.once.what")}</p>
    <p class="key-once"><code tabindex="0">${made.key}</code></p>
    <div class="actions"><${Copy} text=${made.key} label=${t("access.once.copy")} kind="main" /></div>
    ${warned && html`<p class="problem" role="alert">${t("access.once.lost")}</p>`}
    <div class="dialog-foot"><${Button} onClick=${onClose}>${t("access.once.done")}<//></div>
  <//>`;
}

export function RevokeKey({ principal, keyId, onClose, onDone }) {
  const [reason, setReason] = useState("");
  const act = async () => {
    await tell(path("keys", "revoke"), { key_id: keyId, reason: reason.trim() }, { keyed: false });
    note(t("access.revoked"));
    onDone();
  };
  return html`<${Confirm} kind="danger" forGood=${true} title=${t("access.revoke.title")} verb=${t("access.revoke")} act=${act} onClose=${onClose}>${() => html`
    <p><${Id} text=${keyId} /> · <${Said} text=${principal} /></p><p>${t("access.revoke.what")}</p>
    <${Field} label=${t("delete.reason")} value=${reason} onChange=${setReason} maxlength="400" />`}<//>`;
}

const differing = (ones, others) => {
  const known = new Set(others.map((one) => JSON.stringify(one)));
  return ones.filter((one) => !known.has(JSON.stringify(one)));
};
/** A grant with its names in one order, so that the same is the same. */
const ordered = (one) => ({ verbs: [...one.verbs].sort(), owners: [...one.owners].sort(), modes: [...one.modes].sort(), sensitivity: one.sensitivity, actors: [...one.actors].sort(), trust: one.trust });

/** Before it is done it stands below the form what is taken away and what is new. */
export function ChangeGrants({ of, onClose, onDone }) {
  const [grants, setGrants] = useState(of.grants);
  const [reason, setReason] = useState("");
  const [before, after] = [of.grants.map(ordered), asTold(grants).map(ordered)];
  const [gone, fresh] = [differing(before, after), differing(after, before)];
  const changes = gone.length > 0 || fresh.length > 0;
  const act = async () => {
    await tell(path("grants"), { principal: of.principal, grants: asTold(grants), reason: reason.trim() }, { keyed: false });
    note(t("access.changed"));
    onDone();
  };
  return html`<${Confirm} wide=${true} title=${t("access.change.label", { principal: plain(of.principal) })} verb=${t("access.set")} act=${act} onClose=${onClose} ready=${changes && areWhole(grants)}>
    <${GrantsForm} grants=${grants} onChange=${setGrants} />
    <${Field} label=${t("delete.reason")} value=${reason} onChange=${setReason} maxlength="400" />
    <section class="touches" aria-label=${t("access.changes")} aria-live="polite"><h3>${t("access.changes")}</h3>
      ${gone.length > 0 && html`<p><strong>${t("access.changes.gone")}</strong></p><${Grants} grants=${gone} />`}
      ${fresh.length > 0 && html`<p><strong>${t("access.changes.new")}</strong></p><${Grants} grants=${fresh} />`}
      <p class="muted">${t(changes ? "access.changes.soon" : "access.changes.none")}</p>
    </section>
  <//>`;
}
