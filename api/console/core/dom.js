/** What pages are made of: one place that names the vendored libraries. */

import htm from "../lib/htm.js";
import { createContext, Fragment, h, render } from "../lib/preact.js";

export * from "../lib/hooks.js";
export { createContext, Fragment, h, render };

/** Markup as a tagged template. What is put into it becomes text, never markup. */
export const html = htm.bind(h);
