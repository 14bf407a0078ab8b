/* job: why does it wait, what is it doing, what did it cost? */
import { useSignal } from "@preact/signals";
import { change } from "../base/api";
import { deviceTime, duration, metric, money, ms } from "../base/format";
import { may } from "../base/session";
import { ended } from "../base/states";
import { refresh, use } from "../base/store";
import type { Job, UsageRecord } from "../base/types";
import { Question } from "../parts/ask";
import { AsCommand, Facts, Id, Labels, Panel, State, useNow, When } from "../parts/bits";
import { FaultBox } from "../parts/fault";
import { AttemptsPanel, EventsPanel } from "./attempts";
import { LogsPanel } from "./logs";
import { MetricsPanel } from "./metrics";
import { ProgressBar } from "./progress";
import { ReceiptPanel } from "./receipt";
import { WhyPanel } from "./why";

export function JobPage({ id }: { id: string }) {
  const url = `/v1/jobs/${id}`;
  const held = use<Job>(url);
  const asking = useSignal(false);
  const job = held.data;
  if (!job)
    return held.problem ? (
      <FaultBox problem={held.problem} retry={() => void refresh(url)} />
    ) : (
      <p aria-busy="true" class="faint">
        {id}
      </p>
    );
  return (
    <>
      <div class="head">
        <h1>{job.name || job.job}</h1>
        <State word={job.state} mark={job.mark} />
        <div class="push">
          {!ended(job.state) && may("jobs:write") && (
            <button
              type="button"
              onClick={() => {
                asking.value = true;
              }}
            >
              Cancel
            </button>
          )}
        </div>
      </div>
      {held.problem && <FaultBox problem={held.problem} retry={() => void refresh(url)} />}
      {(job.state === "queued" || job.state === "placing") && <WhyPanel job={job} />}
      {job.state === "failed" && <Failed job={job} />}
      <ProgressBar job={job} />
      <div class="columns">
        <About job={job} />
        <Cost job={job} />
      </div>
      <MetricsPanel job={job} />
      <AttemptsPanel job={job} />
      <LogsPanel job={job} />
      <div class="columns">
        {job.record && <ReceiptPanel job={job} />}
        <EventsPanel job={job} />
      </div>
      <AsCommand cli={`cresset job get ${job.job}`} url={url} />
      {asking.value && (
        <Question
          title={`Cancel ${job.name || job.job}?`}
          verb="Cancel it"
          close={() => {
            asking.value = false;
          }}
          act={async () => {
            await change("POST", `${url}/cancel`);
            await refresh(url);
          }}
        >
          <p class="faint">
            What has run until now stays billed. A cancelled job does not start again.
          </p>
        </Question>
      )}
    </>
  );
}

function Failed({ job }: { job: Job }) {
  return (
    <div class="say bad" role="alert">
      <h3>
        It failed: <code>{job.code}</code>
      </h3>
      {job.reason && <p>{job.reason}</p>}
    </div>
  );
}

function About({ job }: { job: Job }) {
  const program = job.program.recipe ? (
    <span class="mono">{job.program.recipe}</span>
  ) : (
    <Id id={job.program.artifact ?? ""} />
  );
  return (
    <Panel title="What it is">
      <Facts
        rows={[
          ["job", <Id id={job.job} whole />],
          ["kind", job.kind],
          [
            "program",
            <>
              {program}{" "}
              <span class="mono small faint">{JSON.stringify(job.program.parameters ?? {})}</span>
            </>,
          ],
          ["inputs", <Artifacts map={job.inputs} />],
          ["outputs", <Artifacts map={job.outputs} />],
          [
            "settings",
            <span class="mono small">
              {Object.entries(job.hyperparameters ?? {})
                .map(([k, v]) => `${k}=${JSON.stringify(v)}`)
                .join(" ") || "as given by the defaults"}
            </span>,
          ],
          ["labels", <Labels labels={job.labels} />],
          ["submitted", <When at={job.submitted} />],
          [
            "ran on",
            job.node ? (
              <span class="mono">
                {job.node} {job.device ?? ""}
              </span>
            ) : (
              <span class="faint">nowhere yet</span>
            ),
          ],
          ["region", job.region],
          ...Object.entries(job.metrics ?? {}).map(
            ([name, value]) =>
              [name, <span class="mono">{metric(Number(value))}</span>] as [
                string,
                preact.JSX.Element,
              ],
          ),
        ]}
      />
    </Panel>
  );
}

function Artifacts({ map }: { map: Record<string, string> | null }) {
  const pairs = Object.entries(map ?? {});
  if (pairs.length === 0) return <span class="faint">none</span>;
  return (
    <>
      {pairs.map(([name, id]) => (
        <div key={name}>
          {name} <Id id={id} />
        </div>
      ))}
    </>
  );
}

function Cost({ job }: { job: Job }) {
  const now = useNow(1000);
  const ran = job.started ? (job.ended ? ms(job.ended) : now) - ms(job.started) : null;
  const record = use<UsageRecord>(job.record ? `/v1/usage/records/${job.record}` : null);
  return (
    <Panel title="What it cost">
      <div class="tiles">
        <div class="tile">
          <span class="value" data-cost>
            {job.cost_microusd === null ? "–" : money(job.cost_microusd)}
          </span>
          <span class="unit">{job.record ? "billed" : "so far"}</span>
        </div>
        <div class="tile">
          <span class="value">{ran === null ? "–" : duration(ran)}</span>
          <span class="unit">since it started</span>
        </div>
      </div>
      <Facts
        rows={[
          [
            "device time",
            job.device_ns === null ? (
              <span class="faint">none yet</span>
            ) : (
              deviceTime(job.device_ns)
            ),
          ],
          [
            "usage record",
            job.record ? (
              <Id id={job.record} whole />
            ) : (
              <span class="faint">written when it ends</span>
            ),
          ],
          ["outcome", record.data?.outcome ?? <span class="faint">–</span>],
          ["started", <When at={job.started} />],
          ["ended", <When at={job.ended} />],
        ]}
      />
    </Panel>
  );
}
