/* why: what stands between a job and its start, in the order in which it is asked. */
import { count, deviceTime, duration, ms } from "../base/format";
import { refresh, use } from "../base/store";
import type { Job, Why } from "../base/types";
import { Ago, Panel } from "../parts/bits";
import { FaultBox } from "../parts/fault";

export function WhyPanel({ job }: { job: Job }) {
  const url = `/v1/jobs/${job.job}/why`;
  const held = use<Why>(url);
  const why = held.data;
  return (
    <Panel
      title="Why it waits"
      aside={
        why && (
          <span class="small faint">
            as of <Ago at={why.as_of} />
          </span>
        )
      }
    >
      {held.problem && !why && <FaultBox problem={held.problem} retry={() => void refresh(url)} />}
      {why && (
        <div class="why">
          <ol>
            {why.blockers.map((blocker) => (
              <li key={blocker.code}>
                {blocker.sentence} <span class="code">{blocker.code}</span>
                <Numbers numbers={blocker.numbers} />
              </li>
            ))}
            {why.blockers.length === 0 && <li>Nothing stands in its way: it is being placed.</li>}
          </ol>
          {why.would_start_if?.map((change) => (
            <p key={change.change}>
              It would start if {change.detail} <span class="code">{change.change}</span>
            </p>
          ))}
          {why.position && (
            <p class="faint">
              {count(why.position.jobs)} jobs ahead
              {why.position.device_ns != null && <> with {deviceTime(why.position.device_ns)}</>}
            </p>
          )}
          <p class="faint">
            {why.eta
              ? `Expected to start in ${duration(ms(why.eta.low) - Date.now())} to ${duration(ms(why.eta.high) - Date.now())}, by ${why.eta.basis}`
              : "When it will start is not known, and so not said."}
          </p>
        </div>
      )}
    </Panel>
  );
}

function Numbers({ numbers }: { numbers: Why["blockers"][number]["numbers"] }) {
  const pairs = Object.entries(numbers ?? {});
  if (pairs.length === 0) return null;
  return (
    <div class="mono small faint">
      {pairs.map(([name, value]) => `${name} ${value}`).join(" · ")}
    </div>
  );
}
