/* metrics: the series that a job writes, live; one reading cursor for all. */
import { type Held, use } from "../base/store";
import type { Job } from "../base/types";
import { Panel } from "../parts/bits";
import { FaultBox } from "../parts/fault";
import { Plot, type Series } from "../parts/plot";

export interface Metrics {
  series: { name: string; points: { step: number | string; value: number | null }[] }[];
}

const ORDER = ["loss", "test_accuracy", "test_loss", "gradient_norm", "rate", "examples"];
const UNITS: Record<string, string> = { test_accuracy: "of 1", loss: "nats", test_loss: "nats" };

function place(name: string): number {
  const at = ORDER.indexOf(name);
  return at < 0 ? ORDER.length : at;
}

export function seriesOf(metrics: Metrics | undefined): Series[] {
  return (metrics?.series ?? [])
    .map((series) => ({
      name: series.name,
      unit: UNITS[series.name] ?? "",
      x: series.points.map((point) => Number(point.step)),
      y: series.points.map((point) => point.value),
    }))
    .sort((a, b) => place(a.name) - place(b.name));
}

export function MetricsPanel({ job }: { job: Job }) {
  const held: Held<Metrics> = use<Metrics>(`/v1/jobs/${job.job}/metrics`);
  const all = seriesOf(held.data);
  return (
    <Panel title="Metrics">
      {held.problem && !held.data && <FaultBox problem={held.problem} />}
      {held.data && all.length === 0 && (
        <p class="faint">No points yet: a job writes them from its first step on.</p>
      )}
      <div class="columns">
        {all.map((series) => (
          <div key={series.name} data-series={series.name}>
            <h3>{series.name}</h3>
            <Plot
              series={series}
              xName={job.kind === "batch" ? "examples" : "step"}
              zero={series.name !== "rate"}
              syncKey={job.job}
            />
          </div>
        ))}
      </div>
    </Panel>
  );
}
