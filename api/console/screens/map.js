/** A map of what is known: the service's picture, made live, and the same as a list. */

import { html, useEffect, useRef, useState } from "../core/dom.js";
import { askText, path, useAsk } from "../core/http.js";
import { go, setParams, To, to, useHere } from "../core/location.js";
import { useMoment } from "../core/moment.js";
import { Asked, Button, Chip, download, Empty, Field, Panel, Screen } from "../core/parts.js";
import { drawInto } from "../core/picture.js";
import { modeOf } from "../core/rights.js";
import { plain, Said } from "../core/said.js";
import { useShared } from "../core/store.js";
import { theme } from "../core/theme.js";
import { language, number, t, weight } from "../core/words.js";
import { useWidth } from "./curves.js";
import "../words/memory.js";
import "../words/operate.js";

const LIMITS = ["12", "24", "36", "60", "100"];
/** A narrow picture has room for the labels of fewer. */
const NARROW_PX = 600;
const usual = () => (innerWidth < NARROW_PX ? "24" : "36");

export function Map({ owner }) {
  const { params } = useHere();
  const moment = useMoment();
  const topic = params.get("topic") ?? "";
  const { mode, options } = modeOf(owner, params.get("mode"), "review");
  const limit = params.get("limit") ?? usual();
  const [text, setText] = useState(topic);
  useEffect(() => setText(topic), [topic]);
  const question = { topic: topic || undefined, mode, limit, ...moment.query };
  const asked = useAsk(path("owners", owner, "map"), question);
  const list = params.get("as") === "list";
  return html`<${Screen} title=${t("screen.map")} lead=${t("map.lead")}>
    <form class="form manager-bar" role="search" onSubmit=${(event) => { event.preventDefault(); setParams({ topic: text.trim() || null }); }}>
      <${Field} wide label=${t("map.topic")} kind="search" value=${text} onChange=${setText} maxlength="400" />
      <${Button} kind="main" type="submit">${t("map.go")}<//>
      <${Field} label=${t("memories.mode")} value=${mode} options=${options} onChange=${(one) => setParams({ mode: one === "review" ? null : one })} />
      <${Field} label=${t("map.limit")} value=${limit} options=${LIMITS.map((one) => [one, one])} onChange=${(one) => setParams({ limit: one === usual() ? null : one })} />
      <${Button} aria-pressed=${list ? "true" : "false"} onClick=${() => setParams({ as: list ? null : "list" })}>${t(list ? "map.as-picture" : "map.as-list")}<//>
    </form>
    <${Asked} of=${asked}>${(told) => !told.nodes.length ? html`<${Empty} title=${t("map.none")} examples=${topic ? [[t("map.everything"), () => setParams({ topic: null })]] : [[t("screen.memories"), () => go(to(["owners", owner, "memories"]))]]}><p>${t("map.none.what")}</p><//>`
      : list ? html`<${List} owner=${owner} told=${told} />` : html`<${Drawn} owner=${owner} told=${told} question=${question} />`}<//>
  <//>`;
}

function Drawn({ owner, told, question }) {
  const shownTheme = useShared(theme);
  const [place, wide] = useWidth();
  const [picked, setPicked] = useState(null);
  const height = 700;
  const asked = useAsk(wide ? path("owners", owner, "map.svg") : null, { ...question, language: language.get(), theme: shownTheme, width: wide, height }, askText);
  return html`<p class="muted">${t("map.hint")} ${told.truncated && t("map.truncated")} ${told.weaker > 0 && t("map.weaker", { count: number(told.weaker) })}</p>
    <div class="map-page"><div ref=${place} class="picture-box"><${Asked} of=${asked}>${(text) => html`<${Live} key=${text} text=${text} owner=${owner} onPick=${setPicked} />
      <${Button} kind="quiet" onClick=${() => download(new Blob([text], { type: "image/svg+xml" }), "map.svg")}>${t("map.download")}<//>`}<//></div>
    <${Beside} owner=${owner} told=${told} picked=${picked} /></div>`;
}

function Live({ text, owner, onPick }) {
  const place = useRef(null);
  useEffect(() => {
    const root = drawInto(place.current, text);
    const nodes = [...root.querySelectorAll(".node")];
    const beside = new globalThis.Map(nodes.map((node) => [node.dataset.id, new Set([node.dataset.id])]));
    for (const edge of root.querySelectorAll(".edge")) {
      beside.get(edge.dataset.from)?.add(edge.dataset.to);
      beside.get(edge.dataset.to)?.add(edge.dataset.from);
    }
    const light = (id) => {
      root.classList.toggle("picking", id !== null);
      for (const node of [...nodes, ...root.querySelectorAll(".label")]) node.classList.toggle("lit", id !== null && beside.get(id)?.has(node.dataset.id));
      for (const edge of root.querySelectorAll(".edge")) edge.classList.toggle("lit", id !== null && (edge.dataset.from === id || edge.dataset.to === id));
    };
    nodes.forEach((node, index) => {
      node.setAttribute("tabindex", index ? "-1" : "0");
      node.setAttribute("role", "link");
      node.setAttribute("aria-label", node.querySelector("title")?.textContent ?? node.dataset.id);
      const open = () => go(to(["owners", owner, "memory", node.dataset.id]));
      const pick = () => {
        light(node.dataset.id);
        onPick(node.dataset.id);
      };
      node.addEventListener("pointerenter", pick);
      node.addEventListener("focus", pick);
      node.addEventListener("click", open);
      node.addEventListener("pointerleave", () => light(null));
      node.addEventListener("blur", () => light(null));
      node.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (event.key === "Enter") open();
        if (!step) return;
        event.preventDefault();
        const next = nodes[(index + step + nodes.length) % nodes.length];
        node.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    });
    return () => place.current?.replaceChildren();
  }, [text]);
  return html`<div ref=${place} class="map-picture"></div>`;
}

/** Beside the picture: the memory under the pointer with what it hangs together with, and the clusters. */
function Beside({ owner, told, picked }) {
  const nodes = new globalThis.Map(told.nodes.map((one) => [one.id, one]));
  const node = nodes.get(picked);
  const edges = told.edges.filter((one) => one.from === picked || one.to === picked);
  return html`<aside class="map-beside" aria-label=${t("map.picked")}>
    ${node && html`<${Panel} title=${t("map.picked")}><p><${To} parts=${["owners", owner, "memory", node.id]}><${Said} text=${node.label} /><//> <span class="figure muted">${weight(node.weight)}</span></p>
      ${edges.length > 0 && html`<h3>${t("map.edges")}</h3><ul class="plain">${edges.map((one) => html`<${Edge} key=${one.from + one.to} owner=${owner} edge=${one} other=${nodes.get(one.from === picked ? one.to : one.from)} />`)}</ul>`}<//>`}
    <${Panel} title=${t("map.clusters")}><ul class="plain">${told.clusters.map((one) => html`<li key=${one.id}><strong><${Said} text=${one.label} /></strong> <span class="muted figure">${number(one.members.length)}</span></li>`)}</ul><//>
  </aside>`;
}

const Edge = ({ owner, edge, other }) => html`<li>${(edge.reasons ?? [edge]).map((one, index) => html`<${Chip} key=${index}>${t(`link.${one.link}`)}<//> ${one.keywords?.length ? html`<span class="muted"><${Said} text=${one.keywords.join(", ")} /></span> ` : ""}`)}
  <${To} parts=${["owners", owner, "memory", other?.id ?? ""]}><${Said} text=${other?.label ?? ""} /><//></li>`;

function List({ owner, told }) {
  const groups = [...told.clusters.map((one) => [one.label, told.nodes.filter((node) => node.cluster === one.id)]), [t("map.cluster.alone"), told.nodes.filter((node) => !told.clusters.some((one) => one.id === node.cluster))]].filter(([, nodes]) => nodes.length);
  const nodes = new globalThis.Map(told.nodes.map((one) => [one.id, one]));
  return html`<div class="columns">${groups.map(([label, members], index) => html`<${Panel} key=${index} title=${plain(label)}><ul class="plain">
    ${members.map((node) => html`<li key=${node.id}><${To} parts=${["owners", owner, "memory", node.id]}><${Said} text=${node.label} /><//> <span class="figure muted">${weight(node.weight)}</span>
      <ul class="plain edge-list">${told.edges.filter((one) => one.from === node.id).map((one) => html`<${Edge} key=${one.to} owner=${owner} edge=${one} other=${nodes.get(one.to)} />`)}</ul></li>`)}</ul><//>`)}</div>`;
}
