/* theme: system, light or dark; kept in this browser. */
import { computed, effect, signal } from "@preact/signals";

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

/* What is drawn in colours of its own must be drawn again when this changes. */
export const isDark = computed(
  () => theme.value === "dark" || (theme.value === "system" && systemDark.value),
);

effect(() => {
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
  localStorage.setItem(KEY, theme.value);
});
