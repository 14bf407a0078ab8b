/* api: one exchange with the region. Every fault is a Problem (RFC 9457), also where none came. */
import { signal } from "@preact/signals";

export interface Fault {
  pointer?: string;
  parameter?: string;
  header?: string;
  code: string;
  detail: string;
}

export interface Problem {
  status: number; // 0: no answer at all
  code: string;
  title: string;
  detail: string;
  request_id?: string;
  permission?: string;
  errors?: Fault[];
}

export interface Answer<T> {
  data: T;
  etag: string | null;
  fresh: boolean; // 304: what is held is still right
}

export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail || problem.title);
  }
}

/* Of the session: what a mutation by cookie must show. Empty before login. */
export const csrf = signal("");

/* Set by a 401: the shell then shows the door. */
export const turnedAway = signal(false);

async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Problem;
    if (typeof body.code === "string") return { ...body, status: response.status };
  } catch {
    // not ours: a proxy's page
  }
  return { status: response.status, code: "unavailable", title: response.statusText, detail: "" };
}

export async function ask(
  method: string,
  url: string,
  options: { body?: unknown; headers?: Record<string, string>; raw?: Blob } = {},
): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers };
  if (options.body !== undefined) headers["Content-Type"] ??= "application/json";
  if (method !== "GET" && csrf.value) headers["Cresset-CSRF"] = csrf.value;
  const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
  if (options.raw) init.body = options.raw;
  else if (options.body !== undefined) init.body = JSON.stringify(options.body);

  let response: Response;
  try {
    response = await fetch(url, init);
  } catch {
    throw new Refused({
      status: 0,
      code: "unreachable",
      title: "The region does not answer",
      detail: "no answer came from this address; the connection or the control plane is down",
    });
  }
  if (response.ok || response.status === 304) return response;
  const problem = await problemOf(response);
  if (problem.status === 401) turnedAway.value = true;
  throw new Refused(problem);
}

export async function get<T>(url: string, etag?: string): Promise<Answer<T>> {
  const response = await ask("GET", url, etag ? { headers: { "If-None-Match": etag } } : {});
  if (response.status === 304) return { data: undefined as T, etag: etag ?? null, fresh: true };
  return { data: (await response.json()) as T, etag: response.headers.get("ETag"), fresh: false };
}

/* A mutation. The key is made once and kept over the tries, so that it happens once. */
export async function change<T>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  url: string,
  body?: unknown,
  options: { key?: string; etag?: string; reason?: string } = {},
): Promise<T | undefined> {
  const headers: Record<string, string> = { "Idempotency-Key": options.key ?? freshKey() };
  if (options.etag) headers["If-Match"] = options.etag;
  if (options.reason) headers["Cresset-Reason"] = encodeURIComponent(options.reason);
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await ask(method, url, body === undefined ? { headers } : { body, headers });
      const text = await response.text();
      return text ? (JSON.parse(text) as T) : undefined;
    } catch (error) {
      const again = error instanceof Refused && [0, 502, 503, 504].includes(error.problem.status);
      if (!again || attempt === 4) throw error;
      await new Promise((wake) => setTimeout(wake, Math.random() * 500 * 2 ** attempt));
    }
  }
}

export function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("")}`;
}

/* The name of an artifact: the SHA-256 of its bytes. */
export async function sha256(file: Blob): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (b) => b.toString(16).padStart(2, "0")).join("");
}
