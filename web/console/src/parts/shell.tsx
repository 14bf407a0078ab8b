/* shell: the rail, what is live, the theme, and the place of the page. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { announcement, feedSince, feedState } from "../base/live";
import { navigate, path } from "../base/router";
import { isOperator, may, me, signOut } from "../base/session";
import { type Theme, theme } from "../base/theme";
import { Palette } from "./palette";

interface Place {
  href: string;
  word: string;
  permission: string;
}

export const TENANT_PLACES: Place[] = [
  { href: "/", word: "Home", permission: "jobs:read" },
  { href: "/jobs", word: "Jobs", permission: "jobs:read" },
  { href: "/submit", word: "Submit", permission: "jobs:write" },
  { href: "/artifacts", word: "Artifacts", permission: "artifacts:read" },
  { href: "/usage", word: "Usage and invoice", permission: "usage:read" },
  { href: "/keys", word: "Keys", permission: "keys:read" },
];

export const OPERATOR_PLACES: Place[] = [
  { href: "/ops", word: "Region", permission: "ops:read" },
  { href: "/ops/nodes", word: "Nodes", permission: "ops:read" },
];

function isHere(href: string): boolean {
  if (href === "/" || href === "/ops") return path.value === href;
  return path.value === href || path.value.startsWith(`${href}/`);
}

export function Shell({ children }: { children: ComponentChildren }) {
  const operator = isOperator();
  const places = (operator ? OPERATOR_PLACES : TENANT_PLACES).filter((p) => may(p.permission));
  const palette = useSignal(false);
  return (
    <div class="shell">
      <a class="sr" href="#page">
        skip to the page
      </a>
      <aside class={`rail ${operator ? "operator" : ""}`}>
        <a class="brand" href={operator ? "/ops" : "/"}>
          <img src="/mark.svg" width="20" height="20" alt="" />
          Cresset
        </a>
        {operator && <p class="operator-word">OPERATOR</p>}
        <nav aria-label="Pages">
          <ul>
            {places.map((place) => (
              <li key={place.href}>
                <a href={place.href} aria-current={isHere(place.href) ? "page" : undefined}>
                  {place.word}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <button
          type="button"
          onClick={() => {
            palette.value = true;
          }}
        >
          Find <span class="faint mono small">Ctrl K</span>
        </button>
        <div class="foot">
          <Live />
          <span>
            {me.value?.tenant_name ?? me.value?.tenant ?? "operator"}{" "}
            <span class="faint">in {me.value?.region}</span>
          </span>
          <ThemeChoice />
          <a href="/docs/">Documentation</a>
          <button
            type="button"
            class="plain small"
            onClick={() => void signOut().then(() => navigate("/login"))}
          >
            Sign out
          </button>
        </div>
      </aside>
      <main id="page" tabIndex={-1}>
        {children}
      </main>
      <p class="sr" aria-live="polite">
        {announcement.value}
      </p>
      <Palette open={palette} />
    </div>
  );
}

function Live() {
  const state = feedState.value;
  const since = new Date(feedSince.value);
  const at = `${since.getHours().toString().padStart(2, "0")}:${since.getMinutes().toString().padStart(2, "0")}`;
  return (
    <span class="live-word" data-live={state}>
      <span class={`dot ${state === "live" ? "live" : ""}`} />
      {state === "live"
        ? "live"
        : state === "reconnecting"
          ? `reconnecting since ${at}`
          : "signed out"}
    </span>
  );
}

function ThemeChoice() {
  return (
    <select
      aria-label="Theme"
      value={theme.value}
      onChange={(event) => {
        theme.value = event.currentTarget.value as Theme;
      }}
    >
      <option value="system">Theme of the system</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
