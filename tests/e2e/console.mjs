/*
 * console: a person's way through the console, in headless Chromium against a running region.
 *
 *     node tests/e2e/console.mjs LOGIN_URL [FOLDER]
 *
 * LOGIN_URL is what `cresset dev login` prints: it works once. The region must hold the four files
 * of Fashion-MNIST as datasets (ops/quickstart pushes them) and a free device. Signs in, submits a
 * small training job by the form, watches its loss plot grow, reads the receipt, looks for the
 * record in the invoice, makes and revokes a key by the keyboard alone; holds each page to
 * WCAG 2.2 AA by axe in both themes. Pictures go to FOLDER. Ends with "N passed, N failed".
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/console/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [loginUrl, folder] = process.argv.slice(2);
if (!loginUrl) {
  console.error("usage: node tests/e2e/console.mjs LOGIN_URL [FOLDER]");
  process.exit(2);
}
const origin = new URL(loginUrl).origin;
if (folder) mkdirSync(folder, { recursive: true });

const JOB_ENDS_MS = 180_000;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: false });
const page = await context.newPage();
const complaints = [];
page.on("pageerror", (error) => complaints.push(`pageerror: ${error.message}`));
page.on("console", (message) => {
  if (message.type() === "error" && /Content Security Policy|TrustedScript|TypeError/.test(message.text()))
    complaints.push(`console: ${message.text()}`);
});

let passed = 0;
let failed = 0;
async function step(sentence, work) {
  const began = Date.now();
  try {
    await work();
    passed++;
    console.log(`ok    ${sentence} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${sentence}\n      ${error.message.split("\n").slice(0, 6).join("\n      ")}`);
    await picture(`failed-${failed}`);
  }
}

async function picture(name) {
  if (folder && !page.isClosed()) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/* The page as it stands, in both themes, by axe; a step of its own. */
async function accessible(name) {
  await step(`${name} meets WCAG 2.2 AA, light and dark`, async () => {
    await page.evaluate(AXE);
    for (const theme of ["light", "dark"]) {
      await page.getByLabel("Theme").selectOption(theme);
      const result = await page.evaluate(() =>
        globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }),
      );
      const said = result.violations.map((v) => `${v.id}: ${v.nodes[0]?.html} (${v.nodes.length})`);
      await picture(`${name}-${theme}`);
      assert.deepEqual(said, [], theme);
    }
  });
}

let job = "";

await step("the code of the address signs in, and leaves the address bar", async () => {
  await page.goto(loginUrl);
  await page.getByRole("heading", { name: "Home" }).waitFor();
  assert.equal(new URL(page.url()).hash, "");
});

await step("a code works once", async () => {
  const other = await browser.newContext();
  const stranger = await other.newPage();
  await stranger.goto(loginUrl);
  await stranger.getByRole("alert").waitFor();
  await other.close();
});

await step("the stream of the region is live", async () => {
  await page.locator('[data-live="live"]').waitFor({ timeout: 15_000 });
});

await step("the form submits a job, and its price is told before", async () => {
  await page.getByRole("link", { name: "Submit", exact: true }).click();
  await page.getByLabel("Name", { exact: true }).fill("console-cnn");
  const pick = async (label, name) => {
    const field = page.getByLabel(label, { exact: true });
    const option = field.locator("option", { hasText: name }).first();
    await option.waitFor({ state: "attached" });
    await field.selectOption({ value: await option.getAttribute("value") });
  };
  await pick("images", "train-images");
  await pick("labels", "train-labels");
  await pick("test_images", "t10k-images");
  await pick("test_labels", "t10k-labels");
  await page.getByLabel("Epochs").fill("2");
  await page.getByLabel("Epochs").blur();
  await page.getByText("It costs at most").waitFor();
});

await accessible("submit");

await step("what was submitted is the page that opens", async () => {
  await page.getByRole("button", { name: "Submit" }).click();
  await page.waitForURL(/\/jobs\/job_[0-9A-Z]{26}$/);
  job = new URL(page.url()).pathname.split("/").pop();
});

await step("the loss plot grows while the job runs, without a reload", async () => {
  const plot = page.locator('[data-series="loss"] [data-points]');
  await plot.waitFor({ timeout: JOB_ENDS_MS });
  const first = Number(await plot.getAttribute("data-points"));
  await page.waitForFunction(
    (before) => {
      const found = document.querySelector('[data-series="loss"] [data-points]');
      return Number(found?.getAttribute("data-points")) > before;
    },
    first,
    { timeout: JOB_ENDS_MS },
  );
});

await step("it ends with the word, the accuracy, and a cost", async () => {
  await page.locator("main .head .tone-succeeded").waitFor({ timeout: JOB_ENDS_MS });
  await page.getByText("test_accuracy").first().waitFor();
  assert.match(await page.locator("[data-cost]").innerText(), /^\d+\.\d+ USD$/);
});

await step("the receipt is there, and is the file that the verifier takes", async () => {
  await page.locator('[data-receipt="cresset.receipt/v1"]').waitFor({ timeout: 30_000 });
  const receipt = await page.evaluate(async (id) => (await fetch(`/v1/jobs/${id}/receipt`)).text(), job);
  assert.equal(JSON.parse(receipt).receipt, "cresset.receipt/v1");
});

await accessible("job");

await step("the job stands in the list, and a filter finds it", async () => {
  await page.goto(`${origin}/jobs?name=console-cnn&state=succeeded`);
  await page.getByRole("link", { name: "console-cnn" }).first().waitFor();
  assert.ok((await page.locator("tbody tr").count()) <= 80);
  await page.goto(`${origin}/jobs?name=no-such-name`);
  await page.getByText("Nothing fits these filters").waitFor();
  await page.getByRole("link", { name: "clear all" }).click();
  await page.getByRole("table", { name: "Jobs" }).waitFor();
});

await accessible("jobs");

await step("usage and invoice come to the same sum", async () => {
  await page.getByRole("link", { name: "Usage and invoice" }).click();
  await page.getByRole("table", { name: "Usage records" }).waitFor();
  await page.getByRole("table", { name: "Invoices" }).getByRole("link").first().click();
  await page.getByText("the sum is right").waitFor();
});

await accessible("invoice");

await step("a key is made and revoked by the keyboard alone", async () => {
  await page.goto(`${origin}/keys`);
  await page.getByLabel("Name, of the program that will hold it").focus();
  await page.keyboard.type("e2e");
  await page.keyboard.press("Enter");
  const secret = await page.locator("[data-secret]").innerText();
  assert.match(secret, /^crs_(live|test|dev)_[0-9A-Za-z]{12}_[0-9A-Za-z]{36}$/);
  const row = page.getByRole("row").filter({ hasText: "e2e" }).filter({ hasText: "revoke" }).first();
  await row.getByRole("button", { name: "revoke" }).focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Type e2e").fill("e2e");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const answer = await fetch(`${origin}/v1/me`, { headers: { Authorization: `Bearer ${secret}` } });
  assert.equal(answer.status, 401);
});

await accessible("keys");

for (const [link, table] of [
  ["Usage and invoice", "Usage records"],
  ["Artifacts", "Artifacts"],
  ["Home", "Newest jobs"],
]) {
  await step(`${link} has its table`, async () => {
    await page.getByRole("link", { name: link }).click();
    await page.getByRole("table", { name: table }).waitFor();
  });
  await accessible(link.split(" ")[0].toLowerCase());
}

await step("at 320 pixels the page does not scroll sideways", async () => {
  await page.setViewportSize({ width: 320, height: 700 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 320, `${wide} pixels wide`);
  await picture("narrow");
});

await step("signing out closes the door", async () => {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("Login code").waitFor();
  await page.goto(`${origin}/jobs`);
  await page.getByLabel("Login code").waitFor();
});

await step("the browser had nothing to complain of", async () => {
  assert.deepEqual(complaints, []);
});

await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
