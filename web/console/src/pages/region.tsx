/* region: for operators, the region at a glance. */
import { count } from "../base/format";
import { refresh, use } from "../base/store";
import type { OpsStatus } from "../base/types";
import { AsCommand, Facts, Panel, State } from "../parts/bits";
import { FaultBox } from "../parts/fault";

const URL_STATUS = "/v1/ops/status";

export function Region() {
  const held = use<OpsStatus>(URL_STATUS);
  const status = held.data;
  if (!status)
    return held.problem ? (
      <FaultBox problem={held.problem} retry={() => void refresh(URL_STATUS)} />
    ) : (
      <p class="faint">asking…</p>
    );
  return (
    <>
      <div class="head">
        <h1>Region {status.region}</h1>
      </div>
      <Counts title="Jobs" counts={status.jobs} />
      <Counts title="Nodes" counts={status.nodes} href="/ops/nodes" />
      <Counts title="Devices" counts={status.devices} href="/ops/nodes" />
      <Panel title="Who decides">
        <Facts
          rows={[
            ["engine epoch", <span class="mono">{status.epoch.toString()}</span>],
            [
              "held by",
              status.holder ? (
                <span class="mono">{status.holder}</span>
              ) : (
                <span class="state tone-failed">nobody: no job is placed</span>
              ),
            ],
            [
              "log",
              <span class="mono">
                {status.log_size === undefined ? "–" : `${count(status.log_size)} leaves`}
              </span>,
            ],
          ]}
        />
      </Panel>
      <AsCommand cli="cresset ops status" url={URL_STATUS} />
    </>
  );
}

function Counts({
  title,
  counts,
  href,
}: {
  title: string;
  counts: Record<string, number | string>;
  href?: string;
}) {
  const pairs = Object.entries(counts ?? {});
  return (
    <section aria-label={title} style={{ display: "grid", gap: "8px" }}>
      <h2>{href ? <a href={href}>{title}</a> : title}</h2>
      <div class="tiles">
        {pairs.map(([word, number]) => (
          <div class="tile" key={word}>
            <State word={word} />
            <span class="value">{count(number)}</span>
          </div>
        ))}
        {pairs.length === 0 && <p class="faint">none</p>}
      </div>
    </section>
  );
}
