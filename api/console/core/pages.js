/**
 * Pages of a list without end: those that are looked at are asked for and kept. However far and fast somebody scrolls, only a few
 * questions are on their way: what is passed by is not asked for, and what is passed by while it is on its way is given up at rest.
 */

import { useEffect, useRef, useState } from "./dom.js";

export const PAGE = 100;
/** Rows beyond those that are built whose page is asked for already. */
const AHEAD = 30;
const AT_ONCE = 2;
const REST_MS = 120;
const KEPT_PAGES = 30;

/**
 * @param {object} told
 * @param {string} told.of what is listed: another value begins anew
 * @param {(offset: number, limit: number, signal: AbortSignal) => Promise<{rows: any[], total: number}>} told.page
 * @param {number} told.refreshed another number asks anew for what is seen; what stands there stays until the answer is there
 * @param {(total: number) => [number, number]} told.span the first and last row that are built
 * @param {() => void} told.onAnew
 */
export function usePages({ of, page, refreshed, span, onAnew }) {
  const pages = useRef(new Map());
  const asked = useRef(new Map());
  const failed = useRef(new Set());
  const stale = useRef(new Set());
  const timer = useRef(null);
  const [told, setTold] = useState({ of: null, total: null });
  const total = told.of === of ? told.total : null;
  const [error, setError] = useState(null);
  const [, redraw] = useState(0);

  /** Pages of these rows; at least the first, as it tells how many there are. */
  const pagesOf = (first, last) => {
    const found = [];
    const end = Math.floor(Math.max(last, 0) / PAGE);
    for (let number = Math.floor(Math.max(first, 0) / PAGE); number <= end; number += 1) found.push(number);
    return found;
  };
  const [first, last] = span(total ?? 0);
  const seen = pagesOf(first, last);
  const near = pagesOf(first - AHEAD, Math.min(last + AHEAD, (total ?? 1) - 1));
  const wanted = [...new Set([...seen, ...near])];
  const latest = useRef(wanted);
  latest.current = wanted;
  const due = (number) => stale.current.has(number) || (!pages.current.has(number) && !failed.current.has(number));

  function giveUp(but = []) {
    for (const [number, leave] of [...asked.current]) {
      if (but.includes(number)) continue;
      asked.current.delete(number);
      leave.abort();
    }
  }

  function need(number) {
    const leave = new AbortController();
    asked.current.set(number, leave);
    const done = (then) => (what) => {
      if (asked.current.get(number) !== leave) return;
      asked.current.delete(number);
      then(what);
      redraw((was) => was + 1);
    };
    page(number * PAGE, PAGE, leave.signal).then(
      done((answer) => {
        setError(null);
        pages.current.delete(number);
        pages.current.set(number, answer.rows);
        while (pages.current.size > KEPT_PAGES) pages.current.delete(pages.current.keys().next().value);
        setTold({ of, total: answer.total });
      }),
      done((refused) => {
        failed.current.add(number);
        if (refused.name !== "AbortError") setError(refused);
      }),
    );
  }

  useEffect(() => {
    giveUp();
    pages.current = new Map();
    failed.current.clear();
    stale.current.clear();
    setError(null);
    setTold({ of, total: null });
    onAnew();
  }, [of]);

  useEffect(() => {
    if (!refreshed) return;
    failed.current.clear();
    stale.current = new Set(seen);
    for (const number of [...pages.current.keys()]) if (!seen.includes(number)) pages.current.delete(number);
    redraw((was) => was + 1);
  }, [refreshed]);

  // What is on its way is awaited even where news come in meanwhile, and then asked for once more: news may come faster than answers.
  useEffect(() => {
    for (const number of wanted) {
      if (asked.current.size >= AT_ONCE) return;
      if (asked.current.has(number) || !due(number)) continue;
      stale.current.delete(number);
      need(number);
    }
  });

  useEffect(() => {
    if (total === null) return undefined;
    timer.current = setTimeout(() => {
      giveUp(latest.current);
      failed.current.clear();
      redraw((was) => was + 1);
    }, REST_MS);
    return () => clearTimeout(timer.current);
  }, [first, last]);

  useEffect(() => () => giveUp(), []);

  return {
    total,
    error,
    busy: asked.current.size > 0 || seen.some(due),
    rowAt: (index) => pages.current.get(Math.floor(index / PAGE))?.[index % PAGE],
    again: () => {
      failed.current.clear();
      setError(null);
      redraw((was) => was + 1);
    },
  };
}
