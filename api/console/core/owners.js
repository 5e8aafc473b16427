/** Whose memories: the picker in the frame, and the first page. */

import { html, useEffect, useRef, useState } from "./dom.js";
import { path, tell, useAsk } from "./http.js";
import { go, here, written } from "./location.js";
import { Asked, Button, Command, Field, Problem, Screen, useQuiet } from "./parts.js";
import { onlyOwner, whyNot } from "./rights.js";
import { plain, Said } from "./said.js";
import { number, t, useLanguage } from "./words.js";

const MOST = 50;

export function OwnerPicker({ owner }) {
  useLanguage();
  const [open, setOpen] = useState(false);
  const place = useRef(null);
  useEffect(() => {
    if (!open) return undefined;
    const away = (event) => !place.current?.contains(event.target) && setOpen(false);
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [open]);
  const escape = (event) => {
    if (event.key !== "Escape" || !open) return;
    setOpen(false);
    place.current.querySelector("button").focus();
  };
  return html`<div class="picker" ref=${place} onKeyDown=${escape}>
    <${Button} aria-expanded=${open ? "true" : "false"} aria-label=${owner ? `${t("owner")}: ${plain(owner)}` : t("owner.choose")} onClick=${() => setOpen(!open)}>
      ${owner ? html`<${Said} text=${owner} />` : t("owner.choose")} <span aria-hidden="true">▾</span><//>
    ${open && html`<div class="picker-list"><${List} onChosen=${() => setOpen(false)} first=${true} /></div>`}
  </div>`;
}

function List({ onChosen, first }) {
  const [part, setPart] = useState("");
  const quiet = useQuiet(part);
  const asked = useAsk(path("owners"), { search: quiet || undefined, limit: MOST });
  const input = useRef(null);
  useEffect(() => {
    if (first) input.current?.querySelector("input").focus();
  }, []);
  const { parts } = here.get();
  const screen = parts[0] === "owners" && parts[2] && parts[2] !== "memory" ? parts[2] : "overview";
  return html`<div class="owner-list" ref=${input}>
    <${Field} label=${t("owner.search")} kind="search" value=${part} onChange=${setPart} />
    <${Asked} of=${asked}>${(told) => html`<ul class="owners">
      ${told.owners.map((one) => html`<li key=${one.owner}><a href=${written(["owners", one.owner, screen])} onClick=${onChosen}>
        <${Said} text=${one.owner} /><span class="muted">${t("memories.total", { count: number(one.memories) })}</span></a></li>`)}
      ${!told.owners.length && html`<li class="muted">${t("owner.none")}</li>`}
      ${told.matching > told.owners.length && html`<li class="muted">${t("owner.more", { count: number(told.matching - told.owners.length) })}</li>`}
    </ul>`}<//>
  </div>`;
}

/** The first page: the owners there are, or what to do where there is none. */
export function Owners() {
  const asked = useAsk(path("owners"), { limit: 2 });
  const only = onlyOwner();
  useEffect(() => {
    if (only && !here.get().parts.length) go(written(["owners", only, "overview"]), { replace: true });
  }, [only]);
  useEffect(() => {
    const owners = asked.data?.owners;
    if (owners?.length === 1 && !here.get().parts.length) go(written(["owners", owners[0].owner, "overview"]), { replace: true });
  }, [asked.data]);
  return html`<${Asked} of=${asked}>${(told) =>
    told.owners.length
      ? html`<${Screen} title=${t("owners.title")} lead=${t("owners.lead")}><${List} /><//>`
      : html`<${NothingYet} />`}<//>`;
}

function NothingYet() {
  const [owner, setOwner] = useState(onlyOwner() ?? "");
  const [text, setText] = useState("");
  const [error, setError] = useState(null);
  const add = async (event) => {
    event.preventDefault();
    try {
      await tell(path("owners", owner.trim(), "memories"), { content: text.trim() });
      go(written(["owners", owner.trim(), "memories"]));
    } catch (refused) {
      setError(refused);
    }
  };
  return html`<${Screen} title=${t("store.empty")} lead=${t("store.empty.what")}>
    <form class="panel first-memory" onSubmit=${add}>
      <${Field} label=${t("owner")} value=${owner} onChange=${setOwner} placeholder="alice" required maxlength="200" />
      <${Field} label=${t("screen.memory")} kind="textarea" value=${text} onChange=${setText} placeholder=${t("store.empty.text")} required />
      <${Problem} error=${error} />
      <div class="actions"><${Button} kind="main" type="submit" disabled=${!owner.trim() || !text.trim()} why=${owner.trim() ? whyNot("produce", owner.trim(), { actor: "user" }) : undefined}>${t("store.empty.add")}<//>
        <${Button} onClick=${() => { setOwner("alice"); setText(t("store.empty.text")); }}>${t("store.empty.example")}<//></div>
    </form>
    <${Command} text=${'engramlog add alice "I drink coffee every morning"'} />
    <${Command} text="engramlog import turns chat.json --shape auto --owner alice" />
    <${Command} text="engramlog console --demo" />
  <//>`;
}
