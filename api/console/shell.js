/** The frame around every screen: whose memories, which screen, which moment. */

import { Door } from "./core/door.js";
import { html, useEffect, useErrorBoundary, useRef } from "./core/dom.js";
import { path, useAsk } from "./core/http.js";
import { To, useHere } from "./core/location.js";
import { OwnerPicker, Owners } from "./core/owners.js";
import { Button, Empty, Notes, Problem } from "./core/parts.js";
import { end, token } from "./core/session.js";
import { shared, useShared } from "./core/store.js";
import { theme, changeTheme } from "./core/theme.js";
import { TimeBar } from "./core/timebar.js";
import { language, t, useLanguage } from "./core/words.js";
import { OF_OWNER, OF_STORE } from "./screens.js";
import "./words/shell.js";

const ALARMS_MS = 20_000;

/** The owner that was looked at last: the screens of the store keep it in the picker. */
const lastOwner = shared(null);

function placeOf(parts) {
  const [first, owner, name, ...rest] = parts;
  if (first === "owners" && owner) {
    const found = OF_OWNER.find((one) => one.name === (name ?? "memories"));
    return { owner, found, id: rest.join("/") || undefined };
  }
  if (first === "owners" || first === undefined) return { owners: true };
  return { found: OF_STORE.find((one) => one.name === first), id: owner };
}

export function Shell() {
  useLanguage();
  const session = useShared(token);
  const { parts } = useHere();
  if (!session) return html`<${Door} />`;
  useArrival(parts.join("/"));
  const place = placeOf(parts);
  if (place.owner) lastOwner.set(place.owner);
  const owner = place.owner ?? lastOwner.get();
  return html`<a class="skip" href="#content" onClick=${toContent}>${t("skip")}</a>
    <header class="top">
      <${To} class="brand" parts=${[]} now=${true} aria-label="Engramlog"><img src="/console/icon.svg" alt="" width="22" height="22" /><span>Engramlog</span><//>
      <${OwnerPicker} owner=${owner} />
      <nav aria-label=${t("screens")}>
        ${owner && OF_OWNER.filter((one) => !one.hidden).map((one) => html`<${Tab} key=${one.name} parts=${["owners", owner, one.name]} current=${place.found === one || (one.name === "memories" && place.found?.name === "memory")} name=${one.name} />`)}
        ${OF_STORE.filter((one) => !one.hidden).map((one) => html`<${Tab} key=${one.name} now=${true} parts=${[one.name]} current=${place.found === one} name=${one.name} />`)}
      </nav>
      <div class="top-end"><${Alarms} /><${Chooser} /></div>
    </header>
    <${TimeBar} owner=${place.owner} twoHands=${["ask", "memory", "memories"].includes(place.found?.name)} />
    <main id="content" tabindex="-1"><${Safe} key=${parts.join("/")}>
      ${place.owners ? html`<${Owners} />` : place.found ? html`<${place.found.screen} key=${place.owner} owner=${place.owner} id=${place.id} />` : html`<${Missing} />`}
    <//></main>
    <${Notes} />`;
}

/** At another place the page begins at its top, and who reads by ear or keys is there too. */
function useArrival(place) {
  const was = useRef(null);
  useEffect(() => {
    if (was.current !== null && was.current !== place) {
      scrollTo(0, 0);
      document.getElementById("content")?.focus({ preventScroll: true });
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

/** Alarms of the store stand on every screen: nothing fails in silence. */
function Alarms() {
  const asked = useAsk(path("alarms"));
  const timer = useRef(null);
  useEffect(() => {
    timer.current = setInterval(() => !document.hidden && asked.reload(), ALARMS_MS);
    return () => clearInterval(timer.current);
  }, []);
  const count = asked.data?.alarms?.length ?? 0;
  if (asked.error && asked.error.status === 0) return html`<${To} class="chip bad" parts=${["operate"]} now=${true}>${t("problem.unreachable")}<//>`;
  return count ? html`<${To} class="chip bad" parts=${["operate"]} now=${true}>${t("alarms", { count })}<//>` : null;
}

function Chooser() {
  const shown = useShared(theme);
  return html`<${Button} kind="quiet" aria-label=${t("language.label")} onClick=${() => language.set(language.get() === "en" ? "zh" : "en")}>${t("language.other")}<//>
    <${Button} kind="quiet" aria-label=${`${t("theme.label")}: ${t(shown === "dark" ? "theme.light" : "theme.dark")}`} onClick=${changeTheme}>${shown === "dark" ? "☀" : "☾"}<//>
    <${Button} kind="quiet" onClick=${end}>${t("session.end")}<//>`;
}
