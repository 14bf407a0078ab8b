/* invoice: lines, the records behind them, and the sum done again on this page. */
import { big, count, hourly, money } from "../base/format";
import { type Page, refresh, use } from "../base/store";
import type { Invoice, InvoiceLine } from "../base/types";
import { AsCommand, Id, Panel, State } from "../parts/bits";
import { FaultBox } from "../parts/fault";
import { expected } from "./sums";
import { quantity } from "./usage";

export function InvoicePage({ id }: { id: string }) {
  const url = `/v1/invoices/${id}`;
  const held = use<Invoice>(url);
  const lines = use<Page<InvoiceLine>>(`${url}/lines`);
  const invoice = held.data;
  if (!invoice)
    return held.problem ? (
      <FaultBox problem={held.problem} retry={() => void refresh(url)} />
    ) : (
      <p class="faint">{id}</p>
    );
  const rows = lines.data?.data ?? [];
  const sum = rows.reduce((total, line) => total + big(line.amount_microusd), 0n);
  const right =
    rows.every((line) => expected(line) === big(line.amount_microusd)) &&
    sum === big(invoice.total_microusd);
  return (
    <>
      <div class="head">
        <h1>Invoice {invoice.period}</h1>
        <State word={invoice.state} />
      </div>
      <Panel title="Lines" flush>
        {lines.problem && !lines.data && <FaultBox problem={lines.problem} />}
        <div class="table-box">
          <table aria-label="Invoice lines">
            <thead>
              <tr>
                <th scope="col" class="num">
                  line
                </th>
                <th scope="col">flavor</th>
                <th scope="col">meter</th>
                <th scope="col" class="num">
                  quantity
                </th>
                <th scope="col" class="num">
                  price
                </th>
                <th scope="col" class="num">
                  amount
                </th>
                <th scope="col" class="num">
                  records
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((line) => (
                <tr key={line.line.toString()}>
                  <td class="num">{line.line.toString()}</td>
                  <td>{line.flavor}</td>
                  <td>
                    {line.meter} <Id id={line.price} />
                  </td>
                  <td class="num">{quantity(line.meter, line.quantity)}</td>
                  <td class="num">
                    {line.meter === "device" ? hourly(line.rate_pico) : line.rate_pico.toString()}
                  </td>
                  <td class="num">{money(line.amount_microusd)}</td>
                  <td class="num">
                    <a href="/usage">{count(line.record_count)}</a>
                  </td>
                </tr>
              ))}
              {lines.data && rows.length === 0 && (
                <tr>
                  <td colSpan={7} class="faint">
                    No charge stands in this period yet
                  </td>
                </tr>
              )}
            </tbody>
          </table>
        </div>
      </Panel>
      <Panel title="Total">
        <div class="tiles">
          <div class="tile">
            <span class="value">{money(invoice.total_microusd)}</span>
            <span class="unit">{invoice.state === "draft" ? "until now" : "to pay"}</span>
          </div>
          <div class="tile">
            <span class={`state tone-${right ? "succeeded" : "failed"}`}>
              <span class="shape" aria-hidden="true">
                {right ? "✓" : "✕"}
              </span>
              {right ? "the sum is right" : "the sum does not come out"}
            </span>
            <span class="unit">
              quantity × price of each line, and all lines, added again here: {money(sum)}
            </span>
          </div>
        </div>
      </Panel>
      <AsCommand cli={`cresset invoice lines ${id}`} url={`${url}/lines`} />
    </>
  );
}
