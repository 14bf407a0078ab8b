/* nodes: for operators, what is broken, and what runs where? */
import { useSignal } from "@preact/signals";
import { change } from "../base/api";
import { count } from "../base/format";
import { may } from "../base/session";
import { tone } from "../base/states";
import { type Page, refresh, use } from "../base/store";
import type { Device, Node } from "../base/types";
import { Question } from "../parts/ask";
import { Ago, AsCommand, Command, Facts, Id, Panel, State, When } from "../parts/bits";
import { FaultBox } from "../parts/fault";
import { List } from "../parts/list";

const URL_NODES = "/v1/ops/nodes";

export function Nodes() {
  const held = use<Page<Node>>(URL_NODES);
  return (
    <>
      <div class="head">
        <h1>Nodes</h1>
      </div>
      <Panel title="Of this region" flush>
        <List
          label="Nodes"
          url={URL_NODES}
          held={held}
          rowKey={(node) => node.node}
          columns={[
            { head: "node", cell: (n) => <a href={`/ops/nodes/${n.node}`}>{n.name}</a> },
            { head: "state", cell: (n) => <State word={n.state} /> },
            { head: "model", cell: (n) => n.model },
            { head: "devices", cell: (n) => <Devices devices={n.devices ?? []} /> },
            { head: "memory", numeric: true, cell: (n) => `${count(n.memory_mib)} MiB` },
            { head: "heard of", cell: (n) => <Ago at={n.seen} /> },
          ]}
          empty={
            <>
              <h3>No node has joined</h3>
              <Command text="cresset ops node enroll --reason 'first node'" />
            </>
          }
        />
      </Panel>
      <AsCommand cli="cresset ops node ls" url={URL_NODES} />
    </>
  );
}

function Devices({ devices }: { devices: Device[] }) {
  return (
    <span class="grid-devices">
      {devices.map((device) => {
        const word = device.lease ? "running" : device.state;
        return (
          <span
            key={device.device}
            class={`cell tone-${tone(word)} ${device.lease ? "leased" : ""}`}
            title={`${device.device}: ${device.lease ? `leased, ${device.lease}` : device.state}`}
          >
            {device.state === "ok" ? "" : "✕"}
          </span>
        );
      })}
    </span>
  );
}

type Verb = "cordon" | "uncordon" | "drain";
const SAYS: Record<Verb, string> = {
  cordon: "No new job is placed there; what runs goes on.",
  uncordon: "Jobs may be placed there again.",
  drain:
    "What runs there is asked to stop, with its grace, and runs elsewhere from its last checkpoint.",
};

export function NodePage({ id }: { id: string }) {
  const url = `${URL_NODES}/${id}`;
  const held = use<Node>(url);
  const asking = useSignal<Verb | null>(null);
  const node = held.data;
  if (!node)
    return held.problem ? (
      <FaultBox problem={held.problem} retry={() => void refresh(url)} />
    ) : (
      <p class="faint">{id}</p>
    );
  const verbs: Verb[] = node.state === "ready" ? ["cordon", "drain"] : ["uncordon"];
  return (
    <>
      <div class="head">
        <h1>{node.name}</h1>
        <State word={node.state} />
        <div class="push">
          {may("ops:write") &&
            verbs.map((verb) => (
              <button
                type="button"
                key={verb}
                onClick={() => {
                  asking.value = verb;
                }}
              >
                {verb}
              </button>
            ))}
        </div>
      </div>
      <div class="columns">
        <Panel title="What it is">
          <Facts
            rows={[
              ["node", <Id id={node.node} whole />],
              ["model", node.model],
              ["processors", `${count(node.cpu_milli)} milli`],
              ["memory", `${count(node.memory_mib)} MiB`],
              [
                "jail",
                node.jail?.length ? node.jail.join(", ") : <span class="faint">not told</span>,
              ],
              ["joined", <When at={node.joined} />],
              ["heard of", <Ago at={node.seen} />],
            ]}
          />
        </Panel>
        <Panel title="Devices" flush>
          <div class="table-box">
            <table aria-label="Devices">
              <thead>
                <tr>
                  <th scope="col">device</th>
                  <th scope="col">state</th>
                  <th scope="col">lease</th>
                </tr>
              </thead>
              <tbody>
                {(node.devices ?? []).map((device) => (
                  <tr key={device.device}>
                    <td class="mono">{device.device.split("/")[1] ?? device.device}</td>
                    <td>
                      <State word={device.state} />
                    </td>
                    <td>
                      {device.lease ? <Id id={device.lease} /> : <span class="faint">free</span>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Panel>
      </div>
      <AsCommand cli={`cresset ops node get ${node.node}`} url={url} />
      {asking.value && (
        <Question
          title={`${asking.value} ${node.name}?`}
          verb={`${asking.value} it`}
          reason
          {...(asking.value === "drain" ? { name: node.name } : {})}
          close={() => {
            asking.value = null;
          }}
          act={async (reason) => {
            await change("POST", `${url}/${asking.value}`, undefined, { reason });
            await refresh(url);
          }}
        >
          <p class="faint">{SAYS[asking.value]}</p>
        </Question>
      )}
    </>
  );
}
