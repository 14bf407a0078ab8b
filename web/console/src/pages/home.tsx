/* home: is anything wrong, and what is being spent? */
import { deviceTime, money } from "../base/format";
import { JOB_STATES } from "../base/states";
import { type Page, use } from "../base/store";
import type { Job, UsageSum } from "../base/types";
import { AsCommand, Command, Id, Panel, State, When } from "../parts/bits";
import { FaultBox } from "../parts/fault";
import { List } from "../parts/list";
import { type Summary, usageTotals } from "./sums";

export function Home() {
  const summary = use<Summary>("/v1/jobs/summary");
  const recent = use<Page<Job>>("/v1/jobs?limit=8");
  const usage = use<Page<UsageSum>>("/v1/usage/summary?by=day");
  const counts = summary.data?.total ?? {};
  const total = usageTotals(usage.data?.data ?? []);
  return (
    <>
      <div class="head">
        <h1>Home</h1>
        <div class="push">
          <a class="button primary" href="/submit">
            Submit a job
          </a>
        </div>
      </div>
      {summary.problem && !summary.data && <FaultBox problem={summary.problem} />}
      <div class="tiles">
        {JOB_STATES.filter((s) => s !== "placing" && s !== "stopping").map((state) => (
          <a class="tile" key={state} href={`/jobs?state=${state}`}>
            <State word={state} />
            <span class="value">{(counts[state] ?? 0).toString()}</span>
          </a>
        ))}
      </div>
      <div class="columns">
        <Panel title="Spent this month" aside={<a href="/usage">usage and invoice</a>}>
          {usage.problem ? (
            <FaultBox problem={usage.problem} />
          ) : (
            <div class="tiles">
              <div class="tile">
                <span class="value">{money(total.amount)}</span>
                <span class="unit">before the invoice is issued</span>
              </div>
              <div class="tile">
                <span class="value">{deviceTime(total.device)}</span>
                <span class="unit">of devices held</span>
              </div>
            </div>
          )}
        </Panel>
      </div>
      <Panel title="Newest jobs" aside={<a href="/jobs">all jobs</a>} flush>
        <List
          label="Newest jobs"
          url="/v1/jobs?limit=8"
          held={recent.data ? { ...recent, data: { ...recent.data, next_after: null } } : recent}
          rowKey={(job) => job.job}
          columns={[
            { head: "state", cell: (job) => <State word={job.state} mark={job.mark} /> },
            { head: "name", cell: (job) => <a href={`/jobs/${job.job}`}>{job.name}</a> },
            { head: "job", cell: (job) => <Id id={job.job} /> },
            { head: "submitted", cell: (job) => <When at={job.submitted} /> },
          ]}
          empty={
            <>
              <h3>No job has been submitted yet</h3>
              <p class="faint">The first one trains a small network on Fashion-MNIST:</p>
              <Command text="cresset job run ops/samples/fashion.yaml" />
            </>
          }
        />
      </Panel>
      <AsCommand cli="cresset job ls --limit 8" url="/v1/jobs?limit=8" />
    </>
  );
}
