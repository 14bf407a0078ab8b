/* usage: where did the money go, is it right? */
import { bytes, count, deviceTime, money } from "../base/format";
import { query } from "../base/router";
import { type Page, use } from "../base/store";
import type { Invoice, UsageRecord, UsageSum } from "../base/types";
import { AsCommand, Command, Id, Panel, State, When } from "../parts/bits";
import { FaultBox } from "../parts/fault";
import { List } from "../parts/list";
import { usageTotals } from "./sums";

export function Usage() {
  const after = query.value.get("after");
  const recordsUrl = `/v1/usage/records${after ? `?after=${encodeURIComponent(after)}` : ""}`;
  const records = use<Page<UsageRecord>>(recordsUrl);
  const summary = use<Page<UsageSum>>("/v1/usage/summary?by=day");
  const invoices = use<Page<Invoice>>("/v1/invoices");
  const rows = summary.data?.data ?? [];
  const total = usageTotals(rows);
  return (
    <>
      <div class="head">
        <h1>Usage and invoice</h1>
      </div>
      <div class="columns">
        <Panel title="By day">
          {summary.problem && !summary.data && <FaultBox problem={summary.problem} />}
          <ByDay rows={rows} />
          <p>
            {money(total.amount)} <span class="faint">for {deviceTime(total.device)}</span>
          </p>
        </Panel>
        <Panel title="Invoices" flush>
          <List
            label="Invoices"
            url="/v1/invoices"
            held={invoices}
            rowKey={(invoice) => invoice.invoice}
            columns={[
              { head: "period", cell: (i) => <a href={`/invoices/${i.invoice}`}>{i.period}</a> },
              { head: "state", cell: (i) => <State word={i.state} /> },
              { head: "total", numeric: true, cell: (i) => money(i.total_microusd) },
            ]}
            empty={<p class="faint">A draft begins with the first usage record of a month.</p>}
          />
        </Panel>
      </div>
      <Panel title="Usage records" flush>
        <List
          label="Usage records"
          url={recordsUrl}
          held={records}
          rowKey={(record) => record.record}
          columns={[
            { head: "record", cell: (r) => <Id id={r.record} /> },
            { head: "job", cell: (r) => <Id id={r.job} href={`/jobs/${r.job}`} /> },
            { head: "outcome", cell: (r) => r.outcome },
            { head: "flavor", cell: (r) => r.flavor },
            { head: "device time", numeric: true, cell: (r) => deviceTime(r.device_ns) },
            {
              head: "cost",
              numeric: true,
              cell: (r) => (r.amount_microusd == null ? "–" : money(r.amount_microusd)),
            },
            { head: "at", cell: (r) => <When at={r.at} /> },
          ]}
          empty={
            <>
              <h3>Nothing has been used yet</h3>
              <p class="faint">Each job that ends leaves one signed record here.</p>
              <Command text="cresset job run ops/samples/fashion.yaml" />
            </>
          }
        />
      </Panel>
      <AsCommand cli="cresset usage records" url={recordsUrl} />
    </>
  );
}

/* Bars from zero, a day each; the numbers stand beside them, so it is its own table. */
function ByDay({ rows }: { rows: UsageSum[] }) {
  const days = new Map<string, { amount: bigint; device: bigint }>();
  for (const row of rows) {
    const day = row.day ?? "all";
    const held = days.get(day) ?? { amount: 0n, device: 0n };
    const { amount, device } = usageTotals([row]);
    days.set(day, { amount: held.amount + amount, device: held.device + device });
  }
  const most = [...days.values()].reduce((m, d) => (d.device > m ? d.device : m), 1n);
  if (days.size === 0) return <p class="faint">No device time in this period.</p>;
  return (
    <table aria-label="Usage by day">
      <thead>
        <tr>
          <th scope="col">day</th>
          <th scope="col" style={{ width: "40%" }}>
            device time
          </th>
          <th scope="col" class="num">
            device-s
          </th>
          <th scope="col" class="num">
            cost
          </th>
        </tr>
      </thead>
      <tbody>
        {[...days.entries()]
          .sort(([a], [b]) => (a < b ? 1 : -1))
          .map(([day, sum]) => (
            <tr key={day}>
              <td class="mono">{day}</td>
              <td>
                <div class="meter">
                  <div class="track">
                    <div
                      class="fill"
                      style={{ width: `${Number((sum.device * 1000n) / most) / 10}%` }}
                    />
                  </div>
                </div>
              </td>
              <td class="num">{deviceTime(sum.device).replace(" device-s", "")}</td>
              <td class="num">{money(sum.amount)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

/* A quantity of a meter in its unit. */
export function quantity(meter: string, value: number | string): string {
  if (meter === "device") return deviceTime(value);
  return meter === "bytes" ? bytes(value) : count(value);
}
