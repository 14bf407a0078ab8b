/* types: the resources, as the pages read them. Their reference is /openapi.json. */
import type { Wide } from "./format";

export interface Job {
  job: string;
  name: string;
  labels: Record<string, string> | null;
  kind: "train" | "batch";
  state: string;
  code: string | null;
  reason: string | null;
  mark: string | null;
  program: { recipe?: string; parameters?: unknown; artifact?: string };
  inputs: Record<string, string>;
  hyperparameters: Record<string, unknown> | null;
  submitted: string;
  started: string | null;
  ended: string | null;
  attempt: number;
  progress: { step: Wide; steps: Wide; phase: string } | null;
  node: string | null;
  device: string | null;
  outputs: Record<string, string> | null;
  metrics: Record<string, number> | null;
  record: string | null;
  device_ns: Wide | null;
  cost_microusd: Wide | null;
  region: string;
  version: Wide;
}

export interface Blocker {
  code: string;
  tier: number;
  sentence: string;
  numbers?: Record<string, Wide> | null;
}

export interface Why {
  as_of: string;
  state: string;
  blockers: Blocker[];
  would_start_if?: { change: string; detail: string }[] | null;
  position?: { jobs: Wide; device_ns?: Wide | null } | null;
  eta?: { low: string; high: string; basis: string } | null;
}

export interface Attempt {
  lease: string;
  lease_epoch: Wide;
  state: string;
  node: string;
  devices: string[];
  granted: string;
  started: string | null;
  ended: string | null;
  word: string | null;
  detail: string | null;
}

export interface Artifact {
  artifact: string;
  sha256: string;
  size: Wide;
  kind: string;
  state: string;
  offset: Wide;
  name: string | null;
  created: string;
  job: string | null;
}

export interface UsageRecord {
  record: string;
  job: string;
  kind: string;
  outcome: string;
  flavor: string;
  device_ns: Wide;
  amount_microusd: Wide | null;
  at: string;
}

export interface UsageSum {
  day?: string | null;
  meter: string;
  quantity: Wide;
  amount_microusd: Wide;
}

export interface Invoice {
  invoice: string;
  period: string;
  state: string;
  total_microusd: Wide;
}

export interface InvoiceLine {
  line: Wide;
  flavor: string;
  meter: string;
  price: string;
  rate_pico: Wide;
  quantity: Wide;
  amount_microusd: Wide;
  record_count: Wide;
}

export interface Key {
  key: string;
  name: string;
  kind: string;
  permissions: string[];
  state: string;
  created: string;
  expires: string | null;
  last_used: string | null;
  secret?: string;
}

export interface OpsStatus {
  region: string;
  epoch: Wide;
  holder: string | null;
  jobs: Record<string, Wide>;
  nodes: Record<string, Wide>;
  devices: Record<string, Wide>;
  log_size?: Wide;
  checkpoint?: string | null;
}

export interface Node {
  node: string;
  name: string;
  state: string;
  model: string;
  devices: Device[] | null;
  cpu_milli: Wide;
  memory_mib: Wide;
  joined: string | null;
  seen: string | null;
  jail?: string[] | null;
  leases?: Attempt[] | null;
  version: Wide;
}

export interface Device {
  device: string;
  state: string;
  lease: string | null;
  job?: string | null;
}

export interface JobEvent {
  id: string;
  seq: Wide;
  type: string;
  timestamp: string;
  subject: string;
  data: unknown;
}
