// secrets: finds keys of ours (crs_…, whose last six letters are a check sum, so that nothing else
// looks like one) and private keys in the files that git keeps. Published vectors are allowed.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const key = /\bcrs_(?:live|test|dev|tok|opr|enr)_[0-9A-Za-z]{12}_[0-9A-Za-z]{36}\b/g;
const pem = /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/g;
const vectorId = "0123456789AB"; // the id of the vectors in the specification
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let sum = n;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum >>> 0;
});

function crc32(text) {
  let sum = 0xffffffff;
  for (const byte of Buffer.from(text)) sum = table[(sum ^ byte) & 255] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

function base62(number) {
  let text = "";
  for (let i = 0; i < 6; i++, number = Math.floor(number / 62)) text = alphabet[number % 62] + text;
  return text;
}

export function findSecrets(text) {
  const keys = [...text.matchAll(key)].map((match) => match[0]);
  const real = keys.filter((k) => base62(crc32(k.slice(0, -6))) === k.slice(-6));
  const outside = real.filter((k) => k.split("_")[2] !== vectorId);
  return [...outside, ...[...text.matchAll(pem)].map((match) => match[0])];
}

let bad = 0;
const files = execFileSync("git", ["ls-files", "-z"], { encoding: "utf8", maxBuffer: 1 << 26 });
for (const file of files.split("\0").filter((name) => name && !name.endsWith("ops/lint/secrets.mjs"))) {
  let text;
  try {
    text = readFileSync(file, "latin1");
  } catch {
    continue; // removed, but not yet committed so
  }
  for (const secret of findSecrets(text)) {
    console.log(`   ${file}: ${secret.slice(0, 14)}… is a secret`);
    bad = 1;
  }
}
process.exit(bad);
