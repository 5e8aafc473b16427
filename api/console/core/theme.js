/** Light or dark: the system's, unless somebody chose. */

import { shared } from "./store.js";

const NAME = "engramlog.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const chosen = localStorage.getItem(NAME);

export const theme = shared(chosen === "dark" || chosen === "light" ? chosen : system.matches ? "dark" : "light");
const show = () => document.documentElement.setAttribute("data-theme", theme.get());
show();
theme.listen(show);
system.addEventListener("change", (event) => {
  if (!localStorage.getItem(NAME)) theme.set(event.matches ? "dark" : "light");
});

export function changeTheme() {
  const next = theme.get() === "dark" ? "light" : "dark";
  localStorage.setItem(NAME, next);
  theme.set(next);
}
