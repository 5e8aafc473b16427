/** Where the page begins: the session first, then the frame. */

import { html, render } from "./core/dom.js";
import { begin } from "./core/session.js";
import { Shell } from "./shell.js";

await begin();
render(html`<${Shell} />`, document.getElementById("page"));
