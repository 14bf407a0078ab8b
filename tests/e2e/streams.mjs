// Reads the event stream and hangs up at random, again and again, while things happen; resumed by
// Last-Event-ID, it must have told each event once, in order, whatever was cut.
//
//     CRESSET_KEY=… node tests/e2e/streams.mjs ORIGIN CUTS
import { createHash, randomBytes, randomInt } from "node:crypto";
import { get as fetchByHttp } from "node:http";

const [origin, cutCount = "100"] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${process.env.CRESSET_KEY}` };
const seen = [];
let last = null;
let happening = true;

async function ask(method, path, body) {
  const response = await fetch(origin + path, {
    method,
    headers: {
      ...headers,
      ...(body && {
        "Content-Type": "application/json",
        "Idempotency-Key": randomBytes(12).toString("hex"),
      }),
    },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

// Each upload that begins is an event.
async function makeThingsHappen() {
  let made = 0;
  while (happening) {
    const sha256 = createHash("sha256").update(randomBytes(16)).digest("hex");
    await ask("POST", "/v1/artifacts", { sha256, size: 1, kind: "other" });
    made++;
    await new Promise((wake) => setTimeout(wake, randomInt(30)));
  }
  return made;
}

// One connection, cut after so many bytes, wherever that is in a frame.
function readFor(byteCount, waitMs) {
  return new Promise((resolve, reject) => {
    const asked = { ...headers, ...(last !== null && { "Last-Event-ID": String(last) }) };
    let text = "";
    let timer;
    const request = fetchByHttp(`${origin}/v1/events/stream?types=artifact.*`, { headers: asked });
    const cut = () => {
      clearTimeout(timer);
      request.destroy();
      const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
      for (const frame of whole.split("\n\n")) {
        const id = /^id: (\d+)$/m.exec(frame);
        if (!id) continue;
        const event = JSON.parse(/^data: (.*)$/m.exec(frame)[1]);
        if (event.seq !== Number(id[1])) reject(new Error(`id ${id[1]} and seq ${event.seq}`));
        last = event.seq;
        seen.push(event.seq);
      }
      resolve();
    };
    request.on("error", () => resolve());
    request.on("response", (response) => {
      if (response.statusCode !== 200) return reject(new Error(`the stream answers ${response.statusCode}`));
      response.on("error", () => resolve());
      response.on("data", (part) => {
        text += part;
        if (text.length >= byteCount) cut();
      });
    });
    timer = setTimeout(cut, waitMs);
  });
}

async function history(first) {
  const seqs = [];
  for (let after = ""; after !== null; ) {
    const page = await ask("GET", `/v1/events?types=artifact.*&limit=500${after && `&after=${after}`}`);
    for (const event of page.data) if (event.seq > first) seqs.unshift(event.seq);
    after = page.next_after;
  }
  return seqs;
}

const newest = (await ask("GET", "/v1/events?limit=1")).data[0];
const first = newest ? newest.seq : 0;
last = first;
const maker = makeThingsHappen();
for (let cut = 0; cut < Number(cutCount); cut++) await readFor(randomInt(1, 3000), 1500);
happening = false;
const made = await maker;
for (let quiet = 0; quiet < 3; ) {
  const before = seen.length;
  await readFor(1 << 20, 1500);
  quiet = seen.length === before ? quiet + 1 : 0;
}
const wanted = await history(first);
const equal = wanted.length === seen.length && wanted.every((seq, i) => seq === seen[i]);
console.log(`${cutCount} cuts, ${made} made, ${wanted.length} in the history, ${seen.length} told`);
if (!equal || wanted.length !== made) {
  console.log("missing", wanted.filter((seq) => !seen.includes(seq)).slice(0, 10));
  console.log("doubled", seen.filter((seq, i) => seen.indexOf(seq) !== i).slice(0, 10));
  process.exit(1);
}
