/* router: the URL is the state. Pages read it here, and change it by navigate. */
import { computed, signal } from "@preact/signals";

const here = signal(location.pathname + location.search);

export const path = computed(() => here.value.split("?")[0] ?? "/");
export const query = computed(() => new URLSearchParams(here.value.split("?")[1] ?? ""));

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (to === here.value) return;
  if (options.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  const moved = to.split("?")[0] !== path.value;
  here.value = to;
  if (moved) {
    window.scrollTo(0, 0);
    document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  }
}

/* The same page with other members of the query; an empty value takes one away. */
export function withQuery(changes: Record<string, string | null>): string {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes))
    if (value) next.set(name, value);
    else next.delete(name);
  const text = next.toString();
  return path.value + (text ? `?${text}` : "");
}

export function startRouter(): void {
  addEventListener("popstate", () => {
    here.value = location.pathname + location.search;
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey)
      return;
    const link = (event.target as Element).closest?.("a");
    if (!link || link.target || link.hasAttribute("download")) return;
    if (link.origin !== location.origin || /^\/(v1|log|docs)\b/.test(link.pathname)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}

/* The parameters of a path under a pattern such as "/jobs/:job", or null. */
export function match(pattern: string, actual: string): Record<string, string> | null {
  const want = pattern.split("/");
  const have = actual.replace(/\/$/, "").split("/");
  if (pattern === "/") return actual === "/" ? {} : null;
  if (want.length !== have.length) return null;
  const found: Record<string, string> = {};
  for (let i = 0; i < want.length; i++) {
    const part = want[i] as string;
    if (part.startsWith(":")) found[part.slice(1)] = decodeURIComponent(have[i] as string);
    else if (part !== have[i]) return null;
  }
  return found;
}
