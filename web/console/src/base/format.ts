/* format: numbers as people read them. Money, times and durations arrive as integers or as decimal
 * texts (above 2^53), and are never made into floats on the way to a sum. */

export type Wide = number | string;

export function big(value: Wide | bigint): bigint {
  return typeof value === "bigint" ? value : BigInt(value);
}

/* Digits before and after the point, thousands apart, for an integer of 10^-places units. */
function fixed(value: bigint, places: number, least: number): string {
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString().padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places).replace(/\B(?=(\d{3})+$)/g, ",");
  let part = places ? digits.slice(-places) : "";
  while (part.length > least && part.endsWith("0")) part = part.slice(0, -1);
  return `${negative ? "-" : ""}${whole}${part ? `.${part}` : ""}`;
}

/* Microdollars: at least cents, never less than what was billed. */
export function money(microusd: Wide | bigint): string {
  return `${fixed(big(microusd), 6, 2)} USD`;
}

/* A price: pico-USD a second, shown an hour. */
export function hourly(ratePico: Wide): string {
  return `${fixed(big(ratePico) * 3600n, 12, 2)} USD/h`;
}

/* Nanoseconds of device time, exact to the millisecond: what is cut is never rounded up. */
export function deviceTime(ns: Wide | bigint): string {
  return `${fixed(big(ns) / 1_000_000n, 3, 3)} device-s`;
}

export function count(value: Wide): string {
  return fixed(big(value), 0, 0);
}

/* A float of a metric: four significant digits, or an exponent where that would mislead. */
export function metric(value: number): string {
  if (!Number.isFinite(value)) return "no data";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return count(value);
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e9) ? value.toExponential(3) : value.toPrecision(4);
}

export function bytes(size: Wide): string {
  let value = Number(size);
  if (value < 1024) return `${value} B`;
  for (const unit of ["KiB", "MiB", "GiB", "TiB"]) {
    value /= 1024;
    if (value < 1024 || unit === "TiB") return `${value.toFixed(value < 10 ? 2 : 1)} ${unit}`;
  }
  return "";
}

/* Seconds as h:mm:ss or m:ss; below a minute with tenths. */
export function duration(ms: number): string {
  if (ms < 0) return "0.0 s";
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  const two = (n: number) => n.toString().padStart(2, "0");
  const h = Math.floor(s / 3600);
  const m = Math.floor((s % 3600) / 60);
  return h ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}

export function ms(time: string): number {
  return Date.parse(time);
}

export function clock(time: string): string {
  const at = new Date(time);
  const two = (n: number) => n.toString().padStart(2, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/* Date and time of the reader's zone; the UTC text is in the title of <time>. */
export function moment(time: string): string {
  const at = new Date(time);
  const two = (n: number) => n.toString().padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(time)}`;
}

export function ago(time: string, now: number): string {
  const s = Math.max(0, Math.round((now - ms(time)) / 1000));
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ago`;
  return `${Math.floor(s / 86_400)} d ago`;
}

/* An id as it is read aloud: its kind and its last letters. */
export function short(id: string): string {
  const cut = id.indexOf("_");
  return id.length > 16 && cut > 0 ? `${id.slice(0, cut + 1)}…${id.slice(-6)}` : id;
}
