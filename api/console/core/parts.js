/** Parts that every screen is made of. */

import { html, useEffect, useId, useRef, useState } from "./dom.js";
import { away, newKey } from "./http.js";
import { useHere } from "./location.js";
import { Refusal } from "./reason.js";
import { Said } from "./said.js";
import { shared, useShared } from "./store.js";
import { number, t } from "./words.js";

/** A screen: its title, one sentence on what it is for, what can be done, and the rest. */
export function Screen({ title, lead, actions, children }) {
  useEffect(() => {
    document.title = `${title} · Engramlog`;
  }, [title]);
  return html`<div class="screen">
    <div class="screen-head">
      <div>
        <h1 tabindex="-1">${title}</h1>
        ${lead && html`<p class="lead">${lead}</p>`}
      </div>
      ${actions && html`<div class="actions">${actions}</div>`}
    </div>
    ${children}
  </div>`;
}

export const Panel = ({ title, actions, children, ...rest }) =>
  html`<section class=${`panel ${rest.class ?? ""}`} aria-label=${title}>
    ${(title || actions) && html`<div class="panel-head"><h2>${title}</h2>${actions && html`<div class="actions">${actions}</div>`}</div>`}
    ${children}
  </section>`;

/** `kind`: plain, main, danger, quiet. `why`: why it cannot be used now; then it cannot. */
export function Button({ kind = "plain", why, disabled, children, ...rest }) {
  return html`<button type="button" ...${rest} class=${`button ${kind} ${rest.class ?? ""}`}
    disabled=${Boolean(disabled || why)} title=${why ?? rest.title}>${children}</button>`;
}

/** Why nothing can be changed now, or undefined: a past view is read-only. */
export function useReadOnly() {
  const { params } = useHere();
  return params.has("as_of") || params.has("known") ? t("past.read-only") : undefined;
}

/** A labelled input. `kind`: text, search, number, textarea, or `options` for a choice: [value, words]. */
export function Field({ label, hint, value, onChange, kind = "text", options, wide, hideLabel, ...rest }) {
  const id = useId();
  const told = { id, value, "aria-describedby": hint ? `${id}-hint` : undefined, ...rest };
  const change = (event) => onChange(event.currentTarget.value);
  let control;
  if (options) {
    control = html`<select ...${told} onChange=${change}>
      ${options.map(([one, shown]) => html`<option value=${one} selected=${one === value}>${shown}</option>`)}
    </select>`;
  } else if (kind === "textarea") control = html`<textarea rows="3" ...${told} onInput=${change}></textarea>`;
  else control = html`<input type=${kind} autocomplete="off" ...${told} onInput=${change} />`;
  return html`<div class=${`field ${wide ? "wide" : ""}`}>
    <label for=${id} class=${hideLabel ? "out-of-sight" : ""}>${label}</label>${control}
    ${hint && html`<small id=${`${id}-hint`} class="muted">${hint}</small>`}
  </div>`;
}

/** A field whose value counts once it is left, or Enter is pressed. */
export function Typed({ value, onChange, ...rest }) {
  const [told, setTold] = useState(value);
  useEffect(() => setTold(value), [value]);
  const done = () => told.trim() !== value && onChange(told.trim());
  const pressed = (event) => event.key === "Enter" && event.currentTarget.tagName !== "TEXTAREA" && done();
  return html`<${Field} value=${told} onChange=${setTold} onBlur=${done} onKeyDown=${pressed} spellcheck=${false} ...${rest} />`;
}

export function Check({ label, checked, onChange, ...rest }) {
  const id = useId();
  return html`<span class="check"><input type="checkbox" id=${id} checked=${checked} ...${rest}
    onChange=${(event) => onChange(event.currentTarget.checked)} /><label for=${id}>${label}</label></span>`;
}

/** A word that stands for a state; `tone`: good, warn, bad, cool, none. */
export const Chip = ({ tone = "none", title, children }) =>
  html`<span class=${`chip ${tone}`} title=${title}>${children}</span>`;

/** How much of something, from 0 to 1, beside its figure. */
export const Bar = ({ share, tone = "cool", label }) => html`<span class=${`bar ${tone}`} role="img" aria-label=${label}>
  <span style=${{ width: `${Math.max(0, Math.min(1, share || 0)) * 100}%` }}></span>
</span>`;

/** Why something was refused, for a note. */
export const told = (error) => html`<${Refusal} error=${error} />`;

/** What went wrong, which field, what was got, what is allowed. That nobody answers is said by the frame; once somebody does, it is asked again. */
export function Problem({ error, again }) {
  const waits = Boolean(again) && error?.problem?.title === "unreachable";
  useEffect(() => (waits ? away.listen((now) => !now && again()) : undefined), [waits]);
  if (!error || waits) return null;
  return html`<div class="problem" role="alert">
    <${Refusal} error=${error} />
    ${again && html`<${Button} onClick=${again}>${t("problem.again")}<//>`}
  </div>`;
}

export const Loading = ({ what }) => html`<p class="loading" role="status"><span class="spinner" aria-hidden="true"></span>${what ?? t("loading")}</p>`;

/** A place without data says what to do next: `examples` are buttons, [words, what a click does]; `commands` what to type. */
export const Empty = ({ title, children, examples = [], commands = [] }) => html`<div class="empty">
  <h2>${title}</h2>
  ${children}
  ${examples.length > 0 && html`<p class="actions">${examples.map(([words, act]) => html`<${Button} key=${words} onClick=${act}>${words}<//>`)}</p>`}
  ${commands.map((one) => html`<${Command} text=${one} />`)}
</div>`;

/** A line for the terminal, with a button that copies it. */
export function Command({ text }) {
  return html`<div class="command"><code tabindex="0">${text}</code><${Copy} text=${text} /></div>`;
}

export function Copy({ text, label, kind = "quiet" }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    if (!copied) return;
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<${Button} kind=${kind} onClick=${copy} aria-live="polite">${done ? t("copied") : (label ?? t("copy"))}<//>`;
}

/** From page to page of a list: newer and older, and where one is. `onMove(offset)`. */
export const Pager = ({ offset, shown, total, page, onMove }) => total > page && html`<p class="actions">
  <${Button} disabled=${!offset} onClick=${() => onMove(Math.max(0, offset - page))}>${t("inbox.newer")}<//>
  <${Button} disabled=${offset + shown >= total} onClick=${() => onMove(offset + page)}>${t("inbox.older")}<//>
  <span class="muted figure" role="status">${t("inbox.shown", { from: number(offset + 1), to: number(offset + shown), total: number(total) })}</span></p>`;

/** Data, or its problem, or that it is waited for. */
export function Asked({ of, children, what }) {
  if (of.error && !of.data) return html`<${Problem} error=${of.error} again=${of.reload} />`;
  if (!of.data) return of.loading ? html`<${Loading} what=${what} />` : null;
  return html`<${Problem} error=${of.error} again=${of.reload} /><div class=${of.loading ? "stale" : ""} aria-busy=${of.loading}>${children(of.data)}</div>`;
}

const focusField = (dialog) => dialog.querySelector("form textarea:enabled, form input:not([type=checkbox]):enabled, form select:enabled")?.focus();

/** A window in front: Escape closes it, the focus goes back to where it was. */
export function Dialog({ title, onClose, children, wide }) {
  const place = useRef(null);
  const id = useId();
  useEffect(() => {
    const was = document.activeElement;
    const dialog = place.current;
    dialog.showModal();
    focusField(dialog);
    return () => {
      if (dialog.open) dialog.close();
      if (was?.isConnected) was.focus();
    };
  }, []);
  return html`<dialog ref=${place} class=${wide ? "wide" : ""} aria-labelledby=${id}
    onCancel=${(event) => {
      event.preventDefault();
      onClose();
    }}>
    <div class="dialog-head"><h2 id=${id}>${title}</h2>
      <${Button} kind="quiet" aria-label=${t("close")} onClick=${onClose}>✕<//></div>
    ${children}
  </dialog>`;
}

/**
 * Ask before something is changed, or what to change: a form, which Enter sends. `first`: a promise of what it would touch (a dry run),
 * asked again when `again` changes and shown by `children(would)`; `act(key, would)` does it, and closes if it went well. A second try
 * has the same key. `forGood`: it cannot be undone, so Enter does not do it.
 */
export function Confirm({ title, kind = "main", verb, first, again, ready = true, wide, forGood, act, onClose, children }) {
  const [would, setWould] = useState(first ? null : {});
  const [looks, setLooks] = useState(Boolean(first));
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  const form = useRef(null);
  useEffect(() => {
    if (!first) return undefined;
    let left = false;
    setLooks(true);
    const done = (set) => (what) => {
      if (left) return;
      setLooks(false);
      set(what);
    };
    first().then(done(setWould), done(setError));
    return () => {
      left = true;
    };
  }, [again]);
  const known = would !== null;
  useEffect(() => void (first && known && focusField(form.current.closest("dialog"))), [known]);
  const go = async () => {
    setBusy(true);
    setError(null);
    try {
      await act(key.current, would);
      onClose();
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${title} onClose=${onClose} wide=${wide}>
    <form class="form stacked" ref=${form} onSubmit=${(event) => { event.preventDefault(); if (!forGood) go(); }}>
      ${known ? html`<div class=${`form stacked ${looks ? "stale" : ""}`}>${typeof children === "function" ? children(would) : children}</div>` : !error && html`<${Loading} what=${t("confirm.looking")} />`}
      <${Problem} error=${error} />
      <div class="dialog-foot">
        <${Button} onClick=${onClose}>${t("cancel")}<//>
        <${Button} kind=${kind} type=${forGood ? "button" : "submit"} onClick=${forGood ? go : undefined} disabled=${!known || busy || looks || !ready}>${verb}<//>
      </div>
    </form>
  <//>`;
}

/** Notes at the page's edge, a text or what is drawn for it: `{text, undo?: () => Promise, tone?}`. They stay until they are read: with an undo 20 s, else 6 s. */
const notes = shared([]);
let count = 0;
export function note(text, { undo, undoes, undone, tone = "good" } = {}) {
  const one = { id: (count += 1), text, undo, undoes, undone, tone };
  notes.set([...notes.get().slice(-3), one]);
  setTimeout(() => drop(one.id), undo ? 20_000 : 6_000);
}
/** What an undo returns that has told by itself how it went. */
export const TOLD = Symbol("told");
const drop = (id) => notes.set(notes.get().filter((one) => one.id !== id));

export function Notes() {
  const shown = useShared(notes);
  const undo = async (one) => {
    try {
      const told = await one.undo();
      drop(one.id);
      if (told !== TOLD) note(one.undone ?? t("undone"));
    } catch (error) {
      note(told(error), { tone: "bad" });
    }
  };
  return html`<div class="notes" role="status" aria-live="polite">
    ${shown.map(
      (one) => html`<div key=${one.id} class=${`note ${one.tone}`}>
        ${typeof one.text === "string" ? html`<${Said} text=${one.text} />` : html`<div>${one.text}</div>`}
        ${one.undo && html`<${Button} onClick=${() => undo(one)}>${one.undoes ?? t("undo")}<//>`}
        <${Button} kind="quiet" aria-label=${t("close")} onClick=${() => drop(one.id)}>✕<//>
      </div>`,
    )}
  </div>`;
}

/** Give a file to the person: a Blob under a name. */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A value that follows another after a moment of quiet: what is typed is not asked for at every letter. */
export function useQuiet(value, milliseconds = 250) {
  const [quiet, setQuiet] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return quiet;
}
