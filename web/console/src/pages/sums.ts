/* sums: small additions over what the server has already summed by day. */
import { big, type Wide } from "../base/format";
import type { InvoiceLine, UsageSum } from "../base/types";

export interface Summary {
  data: { day: string; state: string; jobs: Wide }[];
  total: Record<string, Wide>;
}

export function usageTotals(rows: UsageSum[]): { amount: bigint; device: bigint } {
  let amount = 0n;
  let device = 0n;
  for (const row of rows) {
    amount += big(row.amount_microusd);
    if (row.meter === "device") device += big(row.quantity);
  }
  return { amount, device };
}

const ZEPTO_A_MICRO = 10n ** 15n;

/* What a device line must come to: ns × pico-USD a second, exact, then down to microdollars. */
export function expected(line: InvoiceLine): bigint {
  const unit = line.meter === "device" ? 1n : 1_000_000_000n;
  const zepto = big(line.quantity) * big(line.rate_pico) * unit;
  const floor = zepto / ZEPTO_A_MICRO;
  return zepto < 0n && floor * ZEPTO_A_MICRO !== zepto ? floor - 1n : floor;
}
