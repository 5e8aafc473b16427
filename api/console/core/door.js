/** The door: what somebody sees who has no session. */

import { html, useState } from "./dom.js";
import { Button, Command, Field } from "./parts.js";
import { exchange, without } from "./session.js";
import { useShared } from "./store.js";
import { t, useLanguage } from "./words.js";

export function Door() {
  useLanguage();
  const why = useShared(without);
  const [code, setCode] = useState("");
  const [busy, setBusy] = useState(false);
  const open = async (event) => {
    event.preventDefault();
    setBusy(true);
    const found = code.match(/code=([^&\s]+)/);
    await exchange(found ? decodeURIComponent(found[1]) : code.trim());
    setBusy(false);
  };
  document.title = "Engramlog";
  return html`<main class="door" id="content">
    <img src="/console/icon.svg" alt="" width="56" height="56" />
    <h1>${t("door.title")}</h1>
    <p class=${["none", "ended"].includes(why) ? "" : "problem"} role="status">${t(`door.${why}`)}</p>
    <${Command} text="engramlog console" />
    <form onSubmit=${open}>
      <${Field} label=${t("door.code")} value=${code} onChange=${setCode} spellcheck=${false} />
      <${Button} kind="main" type="submit" disabled=${busy || !code.trim()}>${t("door.open")}<//>
    </form>
  </main>`;
}
