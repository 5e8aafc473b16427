/**
 * Rows without end: only those that are seen exist. Their pages are asked for as they are scrolled to.
 */

import { html, useLayoutEffect, useRef, useState } from "./dom.js";
import { usePages } from "./pages.js";
import { Problem } from "./parts.js";
import { t } from "./words.js";

const BEYOND = 8;
/** Rows that are built above and below what is seen. */
const TALLEST = 15_000_000;
/** Pixels: a browser makes no element taller than 17 or 33 million, nor places one exactly beyond 2 ** 24. More rows share these. */

/**
 * @param {object} told
 * @param {string} told.of what is listed: another value begins anew
 * @param {(offset: number, limit: number, signal: AbortSignal) => Promise<{rows: any[], total: number}>} told.page
 * @param {{name: string, title: any, class?: string}[]} told.columns
 * @param {(row: any, index: number) => any[]} told.cells one for each column
 * @param {number} [told.height] of a row, in pixels
 * @param {(row: any) => void} [told.onOpen] Enter or a double click
 * @param {(row: any, event: Event) => void} [told.onPick] space
 */
export function Rows({ of, page, columns, cells, height = 44, label, onOpen, onPick, isPicked, empty, template, refreshed = 0 }) {
  const box = useRef(null);
  const [seen, setSeen] = useState({ top: 0, tall: 600, head: 0 });
  const [active, setActive] = useState(0);
  /** Of so many rows: how tall their space is, by how much faster they pass than it is scrolled, the first and last that are built. */
  const placed = (count) => {
    const whole = count * height;
    const space = Math.max(Math.min(whole, TALLEST), height);
    const pace = 1 + Math.max(whole - space, 0) / Math.max(space + seen.head - seen.tall, 1);
    const above = seen.top * pace;
    const first = Math.max(0, Math.min(Math.floor(above / height), count - 1) - BEYOND);
    return { space, pace, first, last: Math.min(count - 1, Math.ceil((above + seen.tall) / height) + BEYOND) };
  };
  const { total, error, busy, rowAt, again } = usePages({
    of, page, refreshed,
    span: (count) => [placed(count).first, placed(count).last],
    onAnew: () => {
      setActive(0);
      if (box.current) box.current.scrollTop = 0;
      setSeen((was) => ({ ...was, top: 0 }));
    },
  });
  const { space, pace, first, last } = placed(total ?? 0);

  useLayoutEffect(() => {
    const place = box.current;
    if (!place) return undefined;
    const look = () => setSeen({ top: place.scrollTop, tall: place.clientHeight, head: place.firstElementChild.offsetHeight });
    const watch = new ResizeObserver(look);
    watch.observe(place);
    place.addEventListener("scroll", look, { passive: true });
    return () => {
      watch.disconnect();
      place.removeEventListener("scroll", look);
    };
  }, [total === 0, error !== null && total === null]);

  function move(event) {
    const step = Math.max(1, Math.floor(seen.tall / height) - 1);
    const next = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + step,
      PageUp: active - step,
      Home: 0,
      End: total - 1,
    }[event.key];
    if (event.target !== event.currentTarget) return;
    if (next !== undefined) {
      event.preventDefault();
      const to = Math.max(0, Math.min((total ?? 1) - 1, next));
      setActive(to);
      const place = box.current;
      const least = ((to + 1) * height - (place.clientHeight - seen.head)) / pace;
      const most = (to * height) / pace;
      if (place.scrollTop > most) place.scrollTop = Math.floor(most);
      else if (place.scrollTop < least) place.scrollTop = Math.ceil(least);
      return;
    }
    const row = rowAt(active);
    if (!row) return;
    if (event.key === "Enter" && onOpen) {
      event.preventDefault();
      onOpen(row);
    }
    if (event.key === " " && onPick) {
      event.preventDefault();
      onPick(row, event);
    }
  }

  if (error && total === null) return html`<${Problem} error=${error} again=${again} />`;
  if (total === 0) return empty ?? html`<p class="muted">${t("rows.none")}</p>`;
  const shown = [];
  if (total !== null) for (let index = first; index <= last; index += 1) shown.push(index);
  const style = { gridTemplateColumns: template };
  return html`<${Problem} error=${error} again=${again} /><div class="rows" role="grid" aria-label=${label} aria-rowcount=${(total ?? 0) + 1} aria-colcount=${columns.length}
    aria-busy=${busy} ref=${box} tabindex="0" onKeyDown=${move}
    aria-activedescendant=${active >= first && active <= last ? `row-${active}` : undefined}>
    <div role="rowgroup" class="rows-head"><div class="row head" role="row" aria-rowindex="1" style=${style}>
      ${columns.map((one) => html`<div role="columnheader" class=${one.class} aria-sort=${one.sort}>${one.title}</div>`)}
    </div></div>
    <div class="rows-space" role="rowgroup" style=${{ height: `${space}px` }}>
      ${total === null && html`<div class="row" role="row" style=${{ height: `${height}px` }}><span role="gridcell" class="loading">${t("loading")}</span></div>`}
      ${shown.map((index) => {
        const row = rowAt(index);
        const state = `row ${index === active ? "active" : ""} ${row && isPicked?.(row) ? "picked" : ""}`;
        return html`<div key=${index} id=${`row-${index}`} class=${state} role="row" aria-rowindex=${index + 2}
          aria-selected=${row && isPicked ? String(isPicked(row)) : undefined}
          style=${{ ...style, height: `${height}px`, transform: `translateY(${index * height - Math.round(seen.top * (pace - 1))}px)` }}
          onClick=${() => setActive(index)} onDblClick=${() => row && onOpen?.(row)}>
          ${row
            ? cells(row, index).map((cell, column) => html`<div role="gridcell" class=${columns[column].class}>${cell}</div>`)
            : html`<div role="gridcell" class="waiting" aria-colspan=${columns.length}>…</div>`}
        </div>`;
      })}
    </div>
  </div>`;
}
