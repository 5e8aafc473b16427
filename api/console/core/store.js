/** A value that parts of the page share, and are drawn anew for when it changes. */

import { useEffect, useState } from "./dom.js";

/**
 * @template T
 * @param {T} first
 */
export function shared(first) {
  let value = first;
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener(value);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a shared one, in a component. */
export function useShared(one) {
  const [value, setValue] = useState(one.get());
  useEffect(() => {
    setValue(() => one.get());
    return one.listen((next) => setValue(() => next));
  }, [one]);
  return value;
}
