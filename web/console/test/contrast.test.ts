/* The contrasts that the design promises, computed again from the tokens in the style sheet. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const CSS = readFileSync(new URL("../src/style/tokens.css", import.meta.url), "utf8");
type Oklch = [number, number, number];

function greys(block: string): Oklch[] {
  const found = [...block.matchAll(/--g\d+: oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)/g)];
  return found.map((m) => [Number(m[1]), Number(m[2]), Number(m[3])]);
}

/* Relative luminance (WCAG 2.2) of a colour in OKLCH, by B. Ottosson's matrices. */
function luminance([l, c, h]: Oklch): number {
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const [L, M, S] = [
    (l + 0.3963377774 * a + 0.2158037573 * b) ** 3,
    (l - 0.1055613458 * a - 0.0638541728 * b) ** 3,
    (l - 0.0894841775 * a - 1.291485548 * b) ** 3,
  ];
  const rgb = [
    4.0767416621 * L - 3.3077115913 * M + 0.2309699292 * S,
    -1.2684380046 * L + 2.6097574011 * M - 0.3413193965 * S,
    -0.0041960863 * L - 0.7034186147 * M + 1.707614701 * S,
  ].map((v) => Math.min(1, Math.max(0, v)));
  return 0.2126 * (rgb[0] as number) + 0.7152 * (rgb[1] as number) + 0.0722 * (rgb[2] as number);
}

function contrast(a: Oklch, b: Oklch): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

const [lightBlock, darkBlock] = CSS.split(':root[data-theme="dark"]') as [string, string];
const THEMES: [string, Oklch[], number, number, number][] = [
  ["light", greys(lightBlock), 0.5, 0.6, 0.16],
  ["dark", greys(darkBlock), 0.76, 0.7, 0.13],
];
const HUES: [string, number, number][] = [
  ["queued", 0.006, 60],
  ["placing", 0.09, 230],
  ["running", 0.115, 245],
  ["succeeded", 0.105, 165],
  ["preempted", 0.12, 340],
  ["warning", 0.095, 80],
  ["ember", 0.135, 48],
];

for (const [name, grey, text, mark, failed] of THEMES) {
  const g = (step: number) => grey[step - 1] as Oklch;
  test(`${name}: what may stand on what`, () => {
    expect(grey.length).toBe(12);
    expect(contrast(g(12), g(1))).toBeGreaterThanOrEqual(16);
    expect(contrast(g(11), g(4))).toBeGreaterThanOrEqual(6.2);
    expect(contrast(g(10), g(2))).toBeGreaterThanOrEqual(4.7);
    expect(contrast(g(8), g(1))).toBeGreaterThanOrEqual(3.1);
  });
  test(`${name}: states are read as text and seen as marks`, () => {
    for (const [, c, h] of [...HUES, ["failed", failed, 35] as [string, number, number]]) {
      expect(contrast([text, c, h], g(1))).toBeGreaterThanOrEqual(name === "light" ? 5.5 : 8);
      expect(contrast([mark, c, h], g(1))).toBeGreaterThanOrEqual(3.6);
    }
  });
}
