// Changes each byte of a receipt, one after the other, and verifies: none may pass but where ledger.md
// section 12 says that it is a hint (white space, keyid, the alphabet of base64, members of an
// envelope and lines of a note that nobody knows, the extra line of a proof).
//
//     node tests/e2e/receipt.mjs RECEIPT TRUST
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TOGETHER = 50; // receipts that one process verifies
const [file, trust] = process.argv.slice(2);
const receipt = readFileSync(file);
const folder = mkdtempSync(join(tmpdir(), "cresset-receipt."));

// Whether each of the files is valid.
function verify(names) {
  const run = spawnSync("build/bin/cresset", ["usage", "verify", ...names, "--trust", trust, "-o", "jsonl"], {
    encoding: "utf8",
  });
  const lines = run.stdout.trim().split("\n");
  if (lines.length !== names.length) throw new Error(`${lines.length} answers for ${names.length} receipts: ${run.stderr}`);
  return lines.map((line) => JSON.parse(line).ok);
}

// Where a flip may go unseen: inside the value of keyid, and white space between members.
function isHint(at) {
  const text = receipt.toString("latin1");
  const before = text.lastIndexOf('"keyid"', at);
  if (before >= 0) {
    const end = text.indexOf('"', text.indexOf('"', before + 8) + 1);
    if (at >= before && at <= end) return true;
  }
  return /\s/.test(text[at]);
}

if (!verify([file])[0]) {
  console.log("the receipt itself does not verify");
  process.exit(1);
}
const passed = [];
for (let from = 0; from < receipt.length; from += TOGETHER) {
  const places = Array.from({ length: Math.min(TOGETHER, receipt.length - from) }, (_, i) => from + i);
  const names = places.map((at) => {
    const changed = Buffer.from(receipt);
    changed[at] ^= 1 << (at % 7);
    const name = join(folder, `${at}.json`);
    writeFileSync(name, changed);
    return name;
  });
  verify(names).forEach((ok, i) => ok && !isHint(places[i]) && passed.push(places[i]));
  for (const name of names) rmSync(name);
}
rmSync(folder, { recursive: true });
for (const at of passed)
  console.log(`byte ${at} changed and it still verifies: …${receipt.toString("latin1", Math.max(0, at - 20), at + 20)}…`);
console.log(`each of ${receipt.length} bytes changed, ${passed.length} went unseen`);
process.exit(passed.length ? 1 : 0);
