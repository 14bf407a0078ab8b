// Four principals ask every route of a running region for things that are not theirs, or that never
// were. Who may not is refused as the matrix says; who may is not; nobody meets a fault of ours. What
// another tenant owns answers byte for byte as what never was.
//
//     node tests/contract/matrix.mjs ORIGIN OPS_ORIGIN OPERATOR_KEY OWNER_KEY JOB
import { execFileSync } from "node:child_process";

const [origin, opsOrigin, operatorKey, ownerKey, ownersJob] = process.argv.slice(2);
const print = (what) => execFileSync("build/bin/cressetd", ["print", what], { encoding: "utf8", maxBuffer: 1 << 26 });
const rows = (text) => text.trimEnd().split("\n").slice(1).map((line) => line.split("\t"));
const faults = [];
const say = (where, what) => faults.push(`${where}: ${what}`);

const ULID = "01M8RHHQPNQ4ZK9W7V2X5T8RND";
const prefixes = { job: "job", lease: "lse", node: "node", tenant: "tnt", artifact: "art", record: "rec", invoice: "inv", price: "prc", event: "evt", key: "key" };
const sample = (path) =>
  path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_, name) => (prefixes[name] ? `${prefixes[name]}_${ULID}` : "7"));

let count = 0;
async function ask(method, path, key, flags, body = "{}") {
  const headers = { "Content-Type": "application/json", "Cresset-Reason": "matrix", "If-Match": '"1"' };
  if (flags.includes("keyed")) headers["Idempotency-Key"] = `matrix-${process.pid}-${count++}`;
  if (key) headers.Authorization = `Bearer ${key}`;
  const sends = method !== "GET" && method !== "DELETE";
  const to = /^\/(healthz|readyz|metrics)$/.test(path) ? opsOrigin : origin;
  const controller = new AbortController();
  const answer = await fetch(to + path, {
    method, headers, signal: controller.signal, ...(sends ? { body } : {}),
  });
  const text = answer.headers.get("content-type") === "text/event-stream" ? "" : await answer.text();
  controller.abort(); // a stream has told what it had to tell: that it was opened
  return { status: answer.status, text, code: text.startsWith("{") ? JSON.parse(text).code : undefined };
}

const made = await ask("POST", "/v1/ops/tenants", operatorKey, "keyed", JSON.stringify({ name: `other-${process.pid}` }));
const otherKey = JSON.parse(made.text).secret;
if (made.status !== 201) say("a second tenant", `cannot be made: ${made.text}`);

const expected = new Map(rows(print("matrix")).map(([method, path, ...statuses]) => [`${method} ${path}`, statuses]));
const principals = [["owner", ownerKey], ["other tenant", otherKey], ["operator", operatorKey], ["anonymous", undefined]];
const unsafe = new Set(["session_delete", "keys_revoke"]);

for (const [method, path, operation, , scope, , , flags] of rows(print("routes"))) {
  if (unsafe.has(operation)) continue;
  for (const [index, [name, key]] of principals.entries()) {
    const wanted = Number(expected.get(`${method} ${path}`)[index]);
    const { status, code, text } = await ask(method, sample(path), key, flags);
    const where = `${operation} by ${name}`;
    if (status >= 500 && code !== "unavailable") say(where, `${status} ${text}`);
    else if (wanted === 401 || wanted === 403) {
      if (status !== wanted) say(where, `${wanted} wanted, ${status} ${code}`);
    } else if ((status === 401 && scope !== "public") || (status === 403 && code === "permission_denied"))
      say(where, `${wanted} wanted, ${status} ${code}`);
  }
}

// Another tenant's job, and one that never was.
const blank = (text, id) => text.replaceAll(id, "ID").replace(/"request_id":"[^"]*"/, "");
for (const path of ["", "/why", "/attempts", "/events", "/outputs", "/logs", "/metrics", "/receipt"]) {
  const never = `job_${ULID}`;
  const theirs = await ask("GET", `/v1/jobs/${ownersJob}${path}`, otherKey, "");
  const none = await ask("GET", `/v1/jobs/${never}${path}`, otherKey, "");
  if (theirs.status !== 404 || blank(theirs.text, ownersJob) !== blank(none.text, never))
    say(`GET /v1/jobs/{job}${path}`, `tells that another tenant's job is there: ${theirs.text} ${none.text}`);
}
for (const bad of ["crs_dev_0", "x", `${ownerKey.slice(0, -1)}${ownerKey.endsWith("0") ? "1" : "0"}`]) {
  const { status } = await ask("GET", "/v1/me", bad, "");
  if (status !== 401) say("a bad credential", `gets ${status}`);
}

for (const fault of faults) console.error(fault);
console.log(`matrix: ${expected.size} routes, ${principals.length} principals, ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
