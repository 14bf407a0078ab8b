/*
 * store: what this tab knows, a signal a URL. A page asks by use(url); what is held is shown at
 * once and asked again by its ETag. An event replaces the row of an older version wherever it is.
 */
import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, type Problem, Refused } from "./api";

export interface Held<T> {
  data: T | undefined;
  problem: Problem | undefined; // of the last try; data, where there is any, is older
  at: number; // when data was last known to be right
  asking: boolean;
}

export interface Page<T> {
  data: T[];
  next_after: string | null;
}

interface Entry {
  held: Signal<Held<unknown>>;
  etag: string | undefined;
  users: number;
  again: ReturnType<typeof setTimeout> | undefined;
}

const RETRIES = 3;
const SOON_MS = 700; // events that come together lead to one question
const entries = new Map<string, Entry>();

function entryOf(url: string): Entry {
  let entry = entries.get(url);
  if (!entry) {
    entry = {
      held: signal({ data: undefined, problem: undefined, at: 0, asking: false }),
      etag: undefined,
      users: 0,
      again: undefined,
    };
    entries.set(url, entry);
  }
  return entry;
}

export async function refresh(url: string): Promise<void> {
  const entry = entryOf(url);
  if (entry.held.value.asking) return;
  entry.held.value = { ...entry.held.value, asking: true };
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await get<unknown>(url, entry.held.value.data ? entry.etag : undefined);
      entry.etag = answer.etag ?? undefined;
      const data = answer.fresh ? entry.held.value.data : answer.data;
      entry.held.value = { data, problem: undefined, at: Date.now(), asking: false };
      return;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const passing = [0, 502, 503, 504].includes(error.problem.status);
      if (passing && attempt < RETRIES) {
        await new Promise((wake) => setTimeout(wake, Math.random() * 400 * 2 ** attempt));
        continue;
      }
      entry.held.value = { ...entry.held.value, problem: error.problem, asking: false };
      return;
    }
  }
}

function refreshSoon(url: string, entry: Entry): void {
  if (entry.again !== undefined) return;
  entry.again = setTimeout(() => {
    entry.again = undefined;
    if (entry.users > 0) void refresh(url);
    else entries.delete(url);
  }, SOON_MS);
}

export function refreshAll(): void {
  for (const [url, entry] of entries) refreshSoon(url, entry);
}

/* What is known of a URL, kept up to date while the component stands. null: nothing to ask. */
export function use<T>(url: string | null): Held<T> {
  useEffect(() => {
    if (url === null) return;
    const entry = entryOf(url);
    entry.users++;
    void refresh(url);
    return () => {
      entry.users--;
    };
  }, [url]);
  if (url === null) return { data: undefined, problem: undefined, at: 0, asking: false };
  return entryOf(url).held.value as Held<T>;
}

type Row = Record<string, unknown> & { version?: string | number };

function newer(event: Row, held: Row): boolean {
  return Number(event.version ?? 0) >= Number(held.version ?? 0);
}

/* Puts a resource of an event where it belongs, and asks again for what it may have changed. */
export function applyEvent(type: string, event: { subject?: string; data?: unknown }): void {
  const noun = type.split(".")[0] ?? "";
  const subject = event.subject ?? "";
  const row = event.data as Row | undefined;
  for (const [url, entry] of entries) {
    const held = entry.held.value.data;
    const at = url.split("?")[0] ?? "";
    if (noun === "progress" || noun === "job") {
      const isJob = at === `/v1/jobs/${subject}`;
      if (isJob && row && held && noun === "job" && newer(row, held as Row))
        entry.held.value = { ...entry.held.value, data: row, at: Date.now(), problem: undefined };
      else if (isJob && row && held && noun === "progress")
        entry.held.value = {
          ...entry.held.value,
          data: { ...(held as Row), ...row },
          at: Date.now(),
        };
      else if (at.startsWith(`/v1/jobs/${subject}/`)) refreshSoon(url, entry);
      else if (at === "/v1/jobs" && held) inList(url, entry, held as Page<Row>, subject, row, noun);
      else if (noun === "job" && /^\/v1\/(jobs\/summary|usage|invoices)/.test(at))
        refreshSoon(url, entry);
    } else if (at.startsWith(`/v1/${noun}`) || at.startsWith(`/v1/ops/${noun}`)) {
      refreshSoon(url, entry);
    }
    if (at.startsWith("/v1/ops/") && noun === "job") refreshSoon(url, entry);
  }
}

function inList(
  url: string,
  entry: Entry,
  page: Page<Row>,
  subject: string,
  row: Row | undefined,
  noun: string,
): void {
  const index = page.data.findIndex((held) => held["job"] === subject);
  if (index < 0 || !row) {
    if (noun === "job") refreshSoon(url, entry);
    return;
  }
  const data = page.data.slice();
  const held = data[index] as Row;
  if (noun === "job" && !newer(row, held)) return;
  data[index] = noun === "job" ? row : { ...held, ...row };
  entry.held.value = { ...entry.held.value, data: { ...page, data }, at: Date.now() };
}
