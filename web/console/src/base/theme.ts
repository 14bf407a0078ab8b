/* theme: system, light or dark; kept in this browser. */
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "cresset-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(dark.matches);
dark.addEventListener("change", () => {
  systemDark.value = dark.matches;
});

function kept(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

export const theme = signal<Theme>(kept());

effect(() => {
  const isDark = theme.value === "dark" || (theme.value === "system" && systemDark.value);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  localStorage.setItem(KEY, theme.value);
});
