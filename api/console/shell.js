/** The frame around every screen: whose memories, which screen, which moment. */

import { Door } from "./core/door.js";
import { html, useEffect, useErrorBoundary, useRef, useState } from "./core/dom.js";
import { away, path, useAgain } from "./core/http.js";
import { To, useHere } from "./core/location.js";
import { OwnerPicker, Owners } from "./core/owners.js";
import { Button, Empty, Loading, Notes, Problem, Screen } from "./core/parts.js";
import { AGAIN_MS, learn, may, useMe } from "./core/rights.js";
import { coded, plain } from "./core/said.js";
import { end, token } from "./core/session.js";
import { shared, useShared } from "./core/store.js";
import { theme, changeTheme } from "./core/theme.js";
import { TimeBar } from "./core/timebar.js";
import { language, t, useLanguage } from "./core/words.js";
import { isOpen, OF_OWNER, OF_STORE } from "./screens.js";
import "./words/shell.js";

const ALARMS_MS = 20_000;
const BACK_MS = 2_000;

/** The owner that was looked at last: the screens of the store keep it in the picker. */
const lastOwner = shared(null);

function placeOf(parts) {
  const [first, owner, name, ...rest] = parts;
  if (first === "owners" && owner) {
    const found = OF_OWNER.find((one) => one.name === (name ?? "overview"));
    return { owner, found, id: rest.join("/") || undefined };
  }
  if (first === "owners" || first === undefined) return { owners: true };
  return { found: OF_STORE.find((one) => one.name === first), id: owner };
}

export function Shell() {
  useLanguage();
  const session = useShared(token);
  return session ? html`<${Known} key=${session} />` : html`<${Door} chooser=${html`<${Chooser} />`} />`;
}

/** Nothing is asked before it is known what may be. */
function Known() {
  const who = useMe();
  const [error, setError] = useState(null);
  const look = () => learn().then(() => setError(null), setError);
  const limited = who !== null && !who.unlimited;
  useEffect(() => void look(), []);
  useEffect(() => {
    if (!limited) return undefined;
    const timer = setInterval(() => !document.hidden && learn().catch(() => null), AGAIN_MS);
    return () => clearInterval(timer);
  }, [limited]);
  if (who) return html`<${Frame} who=${who} />`;
  return html`<${Away} /><main id="content">${error ? html`<${Screen} title="Engramlog" actions=${html`<${Chooser} />`}><${Problem} error=${error} again=${look} /><//>` : html`<${Loading} />`}</main>`;
}

function Frame({ who }) {
  const { parts } = useHere();
  useArrival(parts.join("/"));
  const place = placeOf(parts);
  if (place.owner) lastOwner.set(place.owner);
  const owner = place.owner ?? lastOwner.get();
  return html`<a class="skip" href="#content" onClick=${toContent}>${t("skip")}</a>
    <header class="top">
      <${To} class="brand" parts=${[]} now=${true} aria-label="Engramlog"><img src="/console/icon.svg" alt="" width="22" height="22" /><span>Engramlog</span><//>
      <${OwnerPicker} owner=${owner} />
      <nav aria-label=${t("screens")}>
        ${owner && OF_OWNER.filter((one) => !one.hidden && isOpen(one, owner)).map((one, index, all) => html`${index > 0 && all[index - 1].group !== one.group && html`<span class="nav-gap" aria-hidden="true"></span>`}
          <${Tab} key=${one.name} parts=${["owners", owner, one.name]} current=${place.found === one || (one.name === "memories" && place.found?.name === "memory")} name=${one.name} />`)}
        ${OF_STORE.filter((one) => !one.hidden && isOpen(one, null)).map((one) => html`<${Tab} key=${one.name} now=${true} parts=${[one.name]} current=${place.found === one} name=${one.name} />`)}
      </nav>
      <div class="top-end">${may("operate", null) && html`<${Alarms} />`}<${Me} who=${who} /><${Chooser} /><${Button} kind="quiet" onClick=${end}>${t("session.end")}<//></div>
    </header>
    <${TimeBar} owner=${place.owner && may("read", place.owner) ? place.owner : undefined} twoHands=${place.found?.name === "ask" || (["memory", "compare"].includes(place.found?.name) && may("replay", place.owner))} />
    <${Away} />
    <main id="content" tabindex="-1"><${Safe} key=${parts.join("/")}>
      ${place.owners ? html`<${Owners} />` : place.found && !isOpen(place.found, place.owner ?? null) ? html`<${Closed} verb=${place.found.needs} owner=${place.owner} />` : place.found ? html`<${place.found.screen} key=${place.owner} owner=${place.owner} id=${place.id} />` : html`<${Missing} />`}
    <//></main>
    <${Notes} />`;
}

/** At another place the page begins at its top, and who reads by ear or keys is there too: in the field that is typed into first, else at the page. */
function useArrival(place) {
  const was = useRef(null);
  useEffect(() => {
    if (was.current !== null && was.current !== place) {
      scrollTo(0, 0);
      document.querySelector("nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
      const first = matchMedia("(pointer: fine)").matches ? document.querySelector("#content [data-first]") : null;
      (first ?? document.getElementById("content"))?.focus({ preventScroll: true });
    }
    was.current = place;
  }, [place]);
}

function toContent(event) {
  event.preventDefault();
  document.getElementById("content").focus();
}

const Tab = ({ parts, current, name, now }) =>
  html`<${To} parts=${parts} now=${now} aria-current=${current ? "page" : undefined}>${t(`screen.${name}`)}<//>`;

/** A fault of a screen's own stays in it, and is told. */
function Safe({ children }) {
  const [error, reset] = useErrorBoundary((fault) => console.error(fault));
  return error ? html`<${Problem} error=${{ problem: { detail: String(error?.message ?? error) } }} again=${reset} />` : children;
}

const Missing = () => html`<${Empty} title=${t("missing.title")}><p><${To} parts=${["owners"]}>${t("missing.back")}<//></p><//>`;

/** A screen that whoever signed in may not open: what it would need. */
const Closed = ({ verb, owner }) => html`<${Screen} title=${t("rights.denied.title")}><${Empty} title=${t("rights.denied.needs", { verb: t(`verb.${verb}`), owner: owner ? plain(owner) : t("rights.store") })}>
  <p>${t(`verb-what.${verb}`)}</p><p><${To} parts=${["access"]} now=${true}>${t("rights.mine")}<//></p><//><//>`;

/** Who one is, until when, and from there what one may do. */
function Me({ who }) {
  const name = who.unlimited ? t("session.all") : plain(who.principal);
  const at = who.expires_at?.slice(0, 16).replace("T", " ");
  const words = at ? t("session.me.until", { who: name, at: `${at} UTC` }) : t("session.me", { who: name });
  return html`<${To} class="chip me" parts=${["access"]} now=${true} aria-label=${words} title=${words}>${name}${at && html`<span class="me-until"> ${t("session.until", { at: at.slice(0, 10) })}</span>`}<//>`;
}

/** That the service does not answer; it is asked again until it does. */
function Away() {
  const shown = useShared(away);
  useEffect(() => {
    if (!shown) return undefined;
    const timer = setInterval(() => !document.hidden && learn().catch(() => null), BACK_MS);
    return () => clearInterval(timer);
  }, [shown]);
  return shown && html`<p class="problem away" role="alert">${coded(t("problem.unreachable"))}</p>`;
}

/** Alarms of the store stand on every screen: nothing fails in silence. */
function Alarms() {
  const asked = useAgain(path("alarms"), ALARMS_MS);
  const count = asked.data?.alarms?.length ?? 0;
  return count ? html`<${To} class="chip bad" parts=${["operate"]} now=${true}>${t("alarms", { count })}<//>` : null;
}

function Chooser() {
  const shown = useShared(theme);
  return html`<${Button} kind="quiet" aria-label=${t("language.label")} onClick=${() => language.set(language.get() === "en" ? "zh" : "en")}>${t("language.other")}<//>
    <${Button} kind="quiet" aria-label=${`${t("theme.label")}: ${t(shown === "dark" ? "theme.light" : "theme.dark")}`} onClick=${changeTheme}>${shown === "dark" ? "☀" : "☾"}<//>`;
}
