/* states: the words of a job, each with its shape; the colour never stands alone. */

export const SHAPES: Record<string, string> = {
  queued: "○",
  placing: "◐",
  running: "●",
  stopping: "◍",
  succeeded: "✓",
  failed: "✕",
  preempted: "↺",
  cancelled: "⊘",
  expired: "⊝",
  warning: "▲",
};

export const JOB_STATES = [
  "queued",
  "placing",
  "running",
  "stopping",
  "succeeded",
  "failed",
  "cancelled",
  "expired",
] as const;

export function ended(state: string): boolean {
  return ["succeeded", "failed", "cancelled", "expired"].includes(state);
}

/* The tone of a word that is not a job's: of nodes, devices, leases, artifacts, invoices. */
const TONES: Record<string, string> = {
  ready: "succeeded",
  ok: "succeeded",
  held: "succeeded",
  issued: "succeeded",
  released: "succeeded",
  joining: "placing",
  granted: "placing",
  uploading: "placing",
  draft: "queued",
  cordoned: "warning",
  draining: "stopping",
  revoking: "stopping",
  suspect: "warning",
  quarantined: "failed",
  lost: "failed",
  revoked: "cancelled",
  retired: "cancelled",
  closed: "cancelled",
};

export function tone(word: string): string {
  return SHAPES[word] ? word : (TONES[word] ?? "queued");
}

export function shape(word: string): string {
  return SHAPES[tone(word)] ?? "○";
}
