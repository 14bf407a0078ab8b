/* attempts: where a job ran, from when to when, and how each attempt ended; and its events. */
import { clock, duration, ms } from "../base/format";
import { ended } from "../base/states";
import { type Page, use } from "../base/store";
import type { Attempt, Job, JobEvent } from "../base/types";
import { Id, Panel, State, useNow, When } from "../parts/bits";
import { FaultBox } from "../parts/fault";

const LIVE = ["granted", "running", "revoking"];

function toneOf(attempt: Attempt): string {
  if (attempt.word === "finished") return "succeeded";
  if (LIVE.includes(attempt.state)) return attempt.state === "granted" ? "placing" : "running";
  if (attempt.word === "stopped") return "cancelled";
  return "failed";
}

export function AttemptsPanel({ job }: { job: Job }) {
  const held = use<Page<Attempt>>(`/v1/jobs/${job.job}/attempts`);
  const now = useNow(1000);
  const attempts = held.data?.data ?? [];
  const begin = ms(job.submitted);
  const end = ended(job.state) && job.ended ? ms(job.ended) : now;
  const span = Math.max(1, end - begin);
  const place = (from: string, to: string | null) => {
    const left = ((ms(from) - begin) / span) * 100;
    const width = (((to ? ms(to) : end) - ms(from)) / span) * 100;
    return {
      left: `${Math.max(0, left)}%`,
      width: `${Math.max(0.5, Math.min(100 - left, width))}%`,
    };
  };
  return (
    <Panel title="Attempts">
      {held.problem && !held.data && <FaultBox problem={held.problem} />}
      {attempts.length === 0 && (
        <p class="faint">It has not been placed yet: an attempt begins when a node is chosen.</p>
      )}
      {attempts.length > 0 && (
        <>
          <div class="gantt" aria-hidden="true">
            {attempts.map((attempt) => (
              <div class="lane" key={attempt.lease}>
                <span class="small mono">attempt {attempt.lease_epoch.toString()}</span>
                <div class="track">
                  <div
                    class="bar tone-queued"
                    style={place(attempt.granted, attempt.started ?? attempt.ended)}
                  />
                  {attempt.started && (
                    <div
                      class={`bar tone-${toneOf(attempt)}`}
                      style={place(attempt.started, attempt.ended)}
                    />
                  )}
                </div>
              </div>
            ))}
            <div class="scale">
              <span>{clock(job.submitted)}</span>
              <span>{duration(span)}</span>
            </div>
          </div>
          <div class="table-box">
            <table aria-label="Attempts">
              <thead>
                <tr>
                  {[
                    "attempt",
                    "state",
                    "node",
                    "devices",
                    "granted",
                    "started",
                    "ended",
                    "how it ended",
                  ].map((head) => (
                    <th key={head} scope="col">
                      {head}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {attempts.map((attempt) => (
                  <tr key={attempt.lease}>
                    <td class="num">{attempt.lease_epoch.toString()}</td>
                    <td>
                      <State word={attempt.state} />
                    </td>
                    <td class="mono">{attempt.node}</td>
                    <td class="mono">
                      {(attempt.devices ?? []).map((d) => d.split("/")[1] ?? d).join(" ")}
                    </td>
                    <td>
                      <When at={attempt.granted} />
                    </td>
                    <td>
                      <When at={attempt.started} />
                    </td>
                    <td>
                      <When at={attempt.ended} />
                    </td>
                    <td>
                      {attempt.word ?? <span class="faint">–</span>}{" "}
                      {attempt.detail && <span class="faint">{attempt.detail}</span>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Panel>
  );
}

export function EventsPanel({ job }: { job: Job }) {
  const held = use<Page<JobEvent>>(`/v1/jobs/${job.job}/events`);
  return (
    <Panel title="What happened">
      {held.problem && !held.data && <FaultBox problem={held.problem} />}
      <ul class="timeline">
        {(held.data?.data ?? []).map((event) => (
          <li key={event.id}>
            <span class="small">
              <When at={event.timestamp} />
            </span>
            <span>
              {event.type} <Id id={event.id} />
            </span>
          </li>
        ))}
        {held.data?.data.length === 0 && <li class="faint">Events appear here within a second.</li>}
      </ul>
    </Panel>
  );
}
