/** The door: what somebody sees who has no session. */

import { html, useEffect, useRef, useState } from "./dom.js";
import { Button, Command, Field } from "./parts.js";
import { coded } from "./said.js";
import { exchange, signIn, without } from "./session.js";
import { useShared } from "./store.js";
import { t, useLanguage } from "./words.js";

const NO_FAULT = ["none", "ended"];

/** `chooser`: language and theme. */
export function Door({ chooser }) {
  useLanguage();
  const why = useShared(without);
  const told = useRef(null);
  const [key, setKey] = useState("");
  const [code, setCode] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (!NO_FAULT.includes(why)) told.current?.focus();
  }, [why]);
  const opens = (give, clear) => async (event) => {
    event.preventDefault();
    setBusy(true);
    const opened = give();
    clear(""); // it is nowhere in the page from here on
    if (!(await opened)) told.current?.focus();
    setBusy(false);
  };
  const byKey = opens(() => signIn(key.trim()), setKey);
  const byCode = opens(() => {
    const found = code.match(/code=([^&\s]+)/);
    return exchange(found ? decodeURIComponent(found[1]) : code.trim());
  }, setCode);
  document.title = "Engramlog";
  return html`<div class="door-top">${chooser}</div><main class="door" id="content">
    <img src="/console/icon.svg" alt="" width="56" height="56" />
    <h1>${t("door.title")}</h1>
    <p ref=${told} tabindex="-1" class=${NO_FAULT.includes(why) ? "" : "problem"} role="status">${coded(t(`door.${why}`))}</p>
    <div class="columns">
      <section class="panel" aria-labelledby="door-key"><h2 id="door-key">${t("door.by-key")}</h2>
        <form class="form stacked" onSubmit=${byKey}>
          <${Field} label=${t("access.key")} hint=${t("door.key.hint")} kind="password" value=${key} onChange=${setKey} spellcheck=${false} autocapitalize="none" maxlength="8192" />
          <div class="actions"><${Button} kind="main" type="submit" disabled=${busy || !key.trim()}>${t("door.sign-in")}<//></div>
        </form>
      </section>
      <section class="panel" aria-labelledby="door-here"><h2 id="door-here">${t("door.here")}</h2>
        <p class="muted">${t("door.here.what")}</p>
        <${Command} text="engramlog console" />
        <form class="form stacked" onSubmit=${byCode}>
          <${Field} label=${t("door.code")} value=${code} onChange=${setCode} spellcheck=${false} />
          <div class="actions"><${Button} type="submit" disabled=${busy || !code.trim()}>${t("door.open")}<//></div>
        </form>
      </section>
    </div>
  </main>`;
}
