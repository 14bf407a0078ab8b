// Flips each byte of a receipt, one after the other, and verifies: none may pass but where ledger.md
// section 12 says that it is a hint (white space, keyid, the alphabet of base64, members of an
// envelope and lines of a note that nobody knows, the extra line of a proof).
//
//     node tests/e2e/receipt.mjs RECEIPT TRUST [STRIDE]
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [file, trust, stride = "7"] = process.argv.slice(2);
const receipt = readFileSync(file);
const folder = mkdtempSync(join(tmpdir(), "cresset-receipt."));

const verify = (name) =>
  new Promise((resolve) => {
    const child = spawn("build/bin/cresset", ["usage", "verify", name, "--trust", trust, "-o", "json"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    child.stdout.on("data", (part) => (output += part));
    child.on("close", (code) => resolve({ code, output }));
  });

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

let tried = 0;
const passed = [];
async function flip(at) {
  const changed = Buffer.from(receipt);
  changed[at] ^= 1 << (at % 7);
  const name = join(folder, `${at}.json`);
  writeFileSync(name, changed);
  const { code } = await verify(name);
  rmSync(name);
  tried++;
  if (code === 0 && !isHint(at)) passed.push(at);
}

const whole = await verify(file);
if (whole.code !== 0) {
  console.log(`the receipt itself does not verify: ${whole.output}`);
  process.exit(1);
}
for (let at = 0; at < receipt.length; at += 4 * Number(stride))
  await Promise.all([0, 1, 2, 3].map((n) => at + n * Number(stride)).filter((a) => a < receipt.length).map(flip));
rmSync(folder, { recursive: true });
for (const at of passed)
  console.log(`byte ${at} changed and it still verifies: …${receipt.toString("latin1", Math.max(0, at - 20), at + 20)}…`);
console.log(`${tried} of ${receipt.length} bytes changed, ${passed.length} went unseen`);
process.exit(passed.length ? 1 : 0);
