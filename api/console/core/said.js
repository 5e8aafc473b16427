/** Texts of others, always as text: what a screen would obey or hide is shown as its code. */

import { html } from "./dom.js";
import { has, t } from "./words.js";
import "../words/names.js";

/** Controls but tab and line end, signs without width, marks that turn text around, tags. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|[\u{e0000}-\u{e0fff}]/gu;

const code = (sign) => `\\u${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The text with its hidden signs as codes: for attributes, titles and names. */
export const plain = (text) => String(text ?? "").replace(HIDDEN, code);

/** What stands for a text that is not told, with why. */
const MARK = /^\[withheld: ([^\]]{1,60})\]$/;

/** A text that somebody said. `lines`: at most so many lines are shown. */
export function Said({ text, lines, as = "span", ...rest }) {
  const told = String(text ?? "");
  const why = told.match(MARK)?.[1];
  if (why && has(`mark.${why}`)) return html`<span class="told muted">[${t("withheld")}: ${t(`mark.${why}`)}]</span>`;
  const pieces = [];
  let end = 0;
  for (const found of told.matchAll(HIDDEN)) {
    pieces.push(told.slice(end, found.index));
    pieces.push(html`<span class="hidden-sign" title=${t("said.hidden")}>${code(found[0])}</span>`);
    end = found.index + found[0].length;
  }
  pieces.push(told.slice(end));
  return html`<${as} dir="auto" class=${`said ${lines ? "cut" : ""} ${rest.class ?? ""}`}
    style=${lines ? { "--lines": lines } : undefined}>${pieces}</${as}>`;
}

/** An instant, in UTC as all tables have it. */
export function When({ at, day = false }) {
  if (!at) return html`<span class="muted">–</span>`;
  const shown = at.slice(0, day ? 10 : 16).replace("T", " ");
  return html`<time datetime=${at} title=${`${at.replace("T", " ").replace("Z", "")} UTC`}>${shown}</time>`;
}

const AGES = [["years", 365 * 86_400], ["months", 30 * 86_400], ["days", 86_400], ["hours", 3_600], ["minutes", 60]];

/** How long ago, in one unit; the instant is its title. `now`: the moment that is looked at, else the present. */
export function Age({ at, now }) {
  if (!at) return html`<span class="muted">–</span>`;
  const seconds = ((now ? Date.parse(now) : Date.now()) - Date.parse(at)) / 1000;
  const found = AGES.find(([, size]) => seconds >= size);
  const shown = found ? t(`age.${found[0]}`, { count: Math.floor(seconds / found[1]) }) : t("age.now");
  return html`<time datetime=${at} title=${`${at.slice(0, 19).replace("T", " ")} UTC`}>${shown}</time>`;
}

/** Words of the page: what stands between backticks is for the terminal. */
export const coded = (text) => text.split("`").map((one, index) => (index % 2 ? html`<code>${one}</code>` : one));

/** An id, position or other name that a program gave. */
export const Id = ({ text, ...rest }) => html`<${Said} text=${text} class=${`id ${rest.class ?? ""}`} />`;
