import { expect, test } from "vitest";
import { bytes, deviceTime, duration, hourly, metric, money } from "../src/base/format";
import { expected } from "../src/pages/sums";

test("money keeps every microdollar, above 2^53 too", () => {
  expect(money(8168)).toBe("0.008168 USD");
  expect(money("9007199254740993")).toBe("9,007,199,254.740993 USD");
  expect(money(1_500_000)).toBe("1.50 USD");
  expect(money(-1)).toBe("-0.000001 USD");
});

test("a price of a second is shown an hour, without a float", () => {
  expect(hourly(100_000_000)).toBe("0.36 USD/h");
});

test("device time is cut, never rounded up", () => {
  expect(deviceTime("81684999999")).toBe("81.684 device-s");
});

test("small things are said plainly", () => {
  expect(bytes(54_950_048)).toBe("52.4 MiB");
  expect(duration(59_940)).toBe("59.9 s");
  expect(duration(59_960)).toBe("1:00");
  expect(duration(3_661_000)).toBe("1:01:01");
  expect(metric(0.00001234)).toBe("1.234e-5");
  expect(metric(Number.NaN)).toBe("no data");
});

test("a line is quantity times price, rounded down, credits too", () => {
  const line = {
    line: 1,
    flavor: "cpu",
    meter: "device",
    price: "",
    record_count: 1,
    amount_microusd: 0,
  };
  expect(expected({ ...line, quantity: "81684000000", rate_pico: 100_000_000 })).toBe(8168n);
  expect(expected({ ...line, quantity: "-1", rate_pico: 1 })).toBe(-1n);
});
