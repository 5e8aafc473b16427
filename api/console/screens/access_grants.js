/** Grants in words, and the form that makes them. */

import { html } from "../core/dom.js";
import { MODES } from "../core/choices.js";
import { Button, Check, Chip, Field } from "../core/parts.js";
import { Id, Said } from "../core/said.js";
import { t } from "../core/words.js";
import "../words/access.js";
import "../words/memory.js";
import "../words/rights.js";

export const VERBS = ["read", "produce", "correct", "delete", "review", "replay", "audit", "reveal", "debug", "operate", "admin"];
const ACTORS = ["user", "assistant", "judge"];
const TRUSTS = ["asserted", "inferred", "imported", "proposed"];
/** Verbs whose danger is told at once. */
const GRAVE = new Set(["admin", "operate", "reveal", "delete"]);
const MOST = 32;

const listed = (names, word) => names.map((one) => t(`${word}.${one}`)).join(t("list.comma"));

function Owner({ pattern }) {
  if (pattern === "*") return html`<strong>${t("access.of.all")}</strong>`;
  return pattern.endsWith("/*") ? html`<span title=${pattern}><${Said} text=${t("access.of.below", { name: pattern.slice(0, -1) })} /></span>` : html`<${Id} text=${pattern} />`;
}

/** What grants let do, one by one. `verbose`: with what each verb lets do. */
export function Grants({ grants, none, verbose }) {
  if (!grants.length) return html`<p class="muted">${none ?? t("access.grants.none")}</p>`;
  return html`<ul class="plain grants">${grants.map((one, index) => html`<li key=${index}>
    <p>${one.verbs.map((verb) => html`<${Chip} key=${verb} tone=${GRAVE.has(verb) ? "warn" : "cool"} title=${t(`verb-what.${verb}`)}>${t(`verb.${verb}`)}<//> `)}
      <span class="muted">${t("access.of")}</span> ${one.owners.map((pattern, place) => html`${place ? t("list.comma") : ""}<${Owner} pattern=${pattern} />`)}</p>
    <p class="muted">${t(one.actors.length ? "access.details" : "access.details.mute", { modes: listed(one.modes, "mode-name"), sensitivity: one.sensitivity, actors: listed(one.actors, "actor"), trust: t(`trust.${one.trust}`) })}</p>
    ${verbose && html`<ul class="verb-list">${one.verbs.map((verb) => html`<li key=${verb}><strong>${t(`verb.${verb}`)}</strong> <span class="muted">${t(`verb-what.${verb}`)}</span></li>`)}</ul>`}
  </li>`)}</ul>`;
}

/** A grant as a form begins with it. */
export const FIRST = { verbs: ["read", "produce"], owners: [], modes: ["normal"], sensitivity: 2, actors: ["assistant"], trust: "inferred" };

/** Whether a form's grants say something each. */
export const areWhole = (grants) => grants.every((one) => one.verbs.length && one.owners.length && one.modes.length);

const toggled = (list, name, all) => all.filter((one) => (one === name ? !list.includes(name) : list.includes(one)));

function Choices({ legend, names, chosen, word, onChange }) {
  return html`<fieldset><legend>${legend}</legend><div class="choices">${names.map((name) => html`<${Check} key=${name} label=${t(`${word}.${name}`)} checked=${chosen.includes(name)} onChange=${() => onChange(toggled(chosen, name, names))} />`)}</div></fieldset>`;
}

function GrantForm({ grant, title, onChange, onDrop }) {
  const set = (name) => (value) => onChange({ ...grant, [name]: value });
  const text = grant.text ?? grant.owners.join("\n");
  return html`<fieldset><legend>${title}</legend><div class="grant-form">
    <fieldset><legend>${t("access.grant.verbs")}</legend><div class="verbs">${VERBS.map((verb) => html`<${Check} key=${verb} checked=${grant.verbs.includes(verb)} onChange=${() => set("verbs")(toggled(grant.verbs, verb, VERBS))}
      label=${html`<strong>${t(`verb.${verb}`)}</strong> <span class="muted">${t(`verb-what.${verb}`)}</span>`} />`)}</div></fieldset>
    <${Field} label=${t("access.grant.owners")} hint=${t("access.grant.owners.hint")} kind="textarea" rows="2" value=${text} spellcheck=${false}
      onChange=${(told) => onChange({ ...grant, text: told, owners: [...new Set(told.split("\n").map((one) => one.trim()).filter(Boolean))] })} />
    <${Choices} legend=${t("access.grant.modes")} names=${MODES} chosen=${grant.modes} word="mode-name" onChange=${set("modes")} />
    <${Choices} legend=${t("access.grant.actors")} names=${ACTORS} chosen=${grant.actors} word="actor" onChange=${set("actors")} />
    <div class="form"><${Field} label=${t("access.grant.sensitivity")} value=${String(grant.sensitivity)} options=${["0", "1", "2", "3"].map((one) => [one, t(`memory.sensitivity.${one}`)])} onChange=${(one) => set("sensitivity")(Number(one))} />
      <${Field} label=${t("access.grant.trust")} value=${grant.trust} options=${TRUSTS.map((one) => [one, t(`trust.${one}`)])} onChange=${set("trust")} />
      ${onDrop && html`<${Button} kind="danger" onClick=${onDrop}>${t("access.grant.drop")}<//>`}</div>
  </div></fieldset>`;
}

/** All grants of somebody as a form. */
export function GrantsForm({ grants, onChange }) {
  const put = (index, ...ones) => onChange([...grants.slice(0, index), ...ones, ...grants.slice(index + 1)]);
  return html`${grants.map((one, index) => html`<${GrantForm} key=${index} grant=${one} title=${t("access.grant", { count: index + 1 })} onChange=${(told) => put(index, told)} onDrop=${() => put(index)} />`)}
    ${grants.length < MOST && html`<div class="actions"><${Button} onClick=${() => onChange([...grants, FIRST])}>＋ ${t("access.grant.add")}<//></div>`}`;
}

/** As the service takes them. */
export const asTold = (grants) => grants.map(({ text, ...one }) => one);
