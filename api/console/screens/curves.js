/** The service's picture of a memory's weights under every law, made live: readings under the pointer, hands of the time bar, events that open. */

import { html, useEffect, useRef, useState } from "../core/dom.js";
import { ask, askText, useAsk } from "../core/http.js";
import { parsed, setHand, useMoment, usePreview } from "../core/moment.js";
import { Asked } from "../core/parts.js";
import { drawInto } from "../core/picture.js";
import { useShared } from "../core/store.js";
import { theme } from "../core/theme.js";
import { shownInstant } from "../core/timebar.js";
import { language, t, weight } from "../core/words.js";

const SVG = "http://www.w3.org/2000/svg";
const TALL = 430;

/** How wide pictures are asked for: as wide as they are shown, so that their letters have the size of the page's. */
export function useWidth(least = 340) {
  const place = useRef(null);
  const [wide, setWide] = useState(null);
  useEffect(() => {
    const look = () => place.current && setWide(Math.max(least, Math.min(1600, Math.round(place.current.clientWidth / 20) * 20)));
    look();
    const watch = new ResizeObserver(look);
    watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  return [place, wide];
}

export function Curves({ address, moment, turn, onMark }) {
  const shownTheme = useShared(theme);
  const [place, wide] = useWidth();
  // The whole life, also where hand A stands in the midst of it: the hand shows where.
  const query = moment.query.known ? { known: moment.query.known } : {};
  const told = { language: language.get(), theme: shownTheme, width: wide, height: TALL, ...query };
  const asked = useAsk(wide ? `${address}/compare.svg` : null, told, askText);
  useEffect(() => {
    if (turn) asked.reload();
  }, [turn]);
  return html`<p class="muted">${t("memory.curves.hint")}</p><div ref=${place} class="picture-box"><${Asked} of=${asked}>${(text) => html`<${Live} key=${text} text=${text} address=${address} query=${query} onMark=${onMark} />`}<//></div>`;
}

function Live({ text, address, query, onMark }) {
  const place = useRef(null);
  const drawn = useRef(null);
  const [reading, setReading] = useState(null);
  const [points, setPoints] = useState(null);
  const moment = useMoment();
  const dragged = usePreview();
  const wanted = useRef(false);
  const read = () => {
    if (wanted.current) return;
    wanted.current = true;
    ask(`${address}/compare`, { points: 300, ...query }).then(setPoints, () => null);
  };
  useEffect(() => {
    const root = drawInto(place.current, text);
    const scale = scaleOf(root);
    drawn.current = { root, ...scale };
    for (const mark of root.querySelectorAll(".mark")) {
      mark.setAttribute("tabindex", "0");
      mark.setAttribute("role", "button");
      mark.setAttribute("aria-label", mark.querySelector("title")?.textContent ?? mark.dataset.event);
      const open = () => onMark({ position: mark.dataset.position.split(" ")[0] });
      mark.addEventListener("click", open);
      mark.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          open();
        }
      });
    }
    const at = (event) => {
      const box = root.getBoundingClientRect();
      return scale.instant(((event.clientX - box.left) / box.width) * scale.wide);
    };
    root.addEventListener("pointermove", (event) => {
      read();
      setReading(at(event));
    });
    root.addEventListener("pointerleave", () => setReading(null));
    root.addEventListener("dblclick", (event) => {
      if (!event.target.closest(".mark")) setHand("a", "as_of", at(event));
    });
    return () => place.current?.replaceChildren();
  }, [text]);
  const handAt = (hand) => (dragged?.hand === hand && dragged.line === "as_of" ? dragged.at : parsed((hand === "a" ? moment.a : moment.b)?.as_of));
  const [a, b] = [handAt("a"), handAt("b")];
  useEffect(() => {
    if (a !== null || b !== null) read();
    const { root, x, top, bottom } = drawn.current;
    for (const old of root.querySelectorAll(".page-hand")) old.remove();
    for (const [name, at] of [["a", a], ["b", b], ["read", reading]]) {
      const left = at === null ? null : x(at);
      if (left === null) continue;
      const line = document.createElementNS(SVG, "line");
      for (const [key, value] of Object.entries({ class: `page-hand ${name}`, x1: left, x2: left, y1: top, y2: bottom })) line.setAttribute(key, value);
      root.append(line);
    }
  }, [a, b, reading, text]);
  const shownAt = reading ?? a;
  return html`<div ref=${place}></div><${Readings} points=${points} at=${shownAt} />`;
}

function scaleOf(root) {
  const [left, top, wide, tall] = root.dataset.plot.split(" ").map(Number);
  const from = Date.parse(root.dataset.xFrom);
  const to = Date.parse(root.dataset.xTo);
  return {
    wide: root.viewBox.baseVal.width,
    top,
    bottom: top + tall,
    x: (at) => (at < from || at > to ? null : left + ((at - from) / (to - from)) * wide),
    instant: (x) => Math.max(from, Math.min(to, from + ((x - left) / wide) * (to - from))),
  };
}

function Readings({ points, at }) {
  if (!points || at === null) return html`<p class="readings muted" aria-hidden="true"> </p>`;
  const times = points.times.map(Date.parse);
  let index = 0;
  while (index + 1 < times.length && times[index + 1] <= at) index += 1;
  return html`<p class="readings" aria-live="off"><span>${t("memory.curves.read", { at: shownInstant(at) })}</span>
    ${Object.entries(points.laws).map(([name, law]) => html`<span key=${name} class="figure"><strong>${t(`law.${name}`)}</strong> ${weight(law.weights[index])}${law.shown[index] ? "" : ` (${t("memory.curves.hidden")})`}</span>`)}</p>`;
}
