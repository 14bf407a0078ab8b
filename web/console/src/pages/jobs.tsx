/* jobs: where are my jobs? */
import { useSignal } from "@preact/signals";
import { change } from "../base/api";
import { money } from "../base/format";
import { navigate, query, withQuery } from "../base/router";
import { may } from "../base/session";
import { ended, JOB_STATES } from "../base/states";
import { type Page, use } from "../base/store";
import type { Job } from "../base/types";
import { Question } from "../parts/ask";
import { AsCommand, Command, Id, Panel, State, When } from "../parts/bits";
import { type Filter, List } from "../parts/list";
import { ProgressText } from "./progress";

const FILTERS = ["state", "kind", "name", "label"] as const;

function url(): string {
  const ask = new URLSearchParams();
  for (const name of [...FILTERS, "after"]) {
    const value = query.value.get(name);
    if (value) ask.set(name, value);
  }
  const text = ask.toString();
  return `/v1/jobs${text ? `?${text}` : ""}`;
}

export function Jobs() {
  const asked = url();
  const held = use<Page<Job>>(asked);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const asking = useSignal(false);
  const filters: Filter[] = FILTERS.flatMap((name) => {
    const value = query.value.get(name);
    return value ? [{ name, value }] : [];
  });
  const flags = filters.map((f) => ` --${f.name} ${f.value}`).join("");
  const toggle = (job: string) => {
    const next = new Set(chosen.value);
    if (!next.delete(job)) next.add(job);
    chosen.value = next;
  };
  return (
    <>
      <div class="head">
        <h1>Jobs</h1>
        <div class="push">
          {chosen.value.size > 0 && (
            <button
              type="button"
              onClick={() => {
                asking.value = true;
              }}
            >
              Cancel {chosen.value.size}
            </button>
          )}
          <a class="button primary" href="/submit">
            Submit a job
          </a>
        </div>
      </div>
      <FilterBar />
      <Panel title="Newest first" flush>
        <List
          label="Jobs"
          url={asked}
          held={held}
          rowKey={(job) => job.job}
          filters={filters}
          columns={[
            ...(may("jobs:write")
              ? [
                  {
                    head: "",
                    cell: (job: Job) =>
                      !ended(job.state) && (
                        <input
                          type="checkbox"
                          style={{ width: "16px" }}
                          aria-label={`choose ${job.name}`}
                          checked={chosen.value.has(job.job)}
                          onChange={() => toggle(job.job)}
                        />
                      ),
                  },
                ]
              : []),
            { head: "state", cell: (job) => <State word={job.state} mark={job.mark} /> },
            { head: "name", cell: (job) => <a href={`/jobs/${job.job}`}>{job.name || job.job}</a> },
            { head: "kind", cell: (job) => job.kind },
            { head: "progress", cell: (job) => <ProgressText job={job} /> },
            { head: "submitted", cell: (job) => <When at={job.submitted} /> },
            {
              head: "cost",
              numeric: true,
              cell: (job) => (job.cost_microusd === null ? "–" : money(job.cost_microusd)),
            },
            { head: "job", cell: (job) => <Id id={job.job} href={`/jobs/${job.job}`} /> },
          ]}
          empty={
            <>
              <h3>No job has been submitted yet</h3>
              <Command text="cresset job run ops/samples/fashion.yaml" />
            </>
          }
        />
      </Panel>
      <AsCommand cli={`cresset job ls${flags}`} url={asked} />
      {asking.value && (
        <Question
          title={`Cancel ${chosen.value.size} jobs?`}
          verb="Cancel them"
          close={() => {
            asking.value = false;
          }}
          act={async () => {
            for (const job of chosen.value) await change("POST", `/v1/jobs/${job}/cancel`);
            chosen.value = new Set();
          }}
        >
          <p class="faint">What has run until now stays billed; what is queued costs nothing.</p>
        </Question>
      )}
    </>
  );
}

function FilterBar() {
  const name = useSignal(query.value.get("name") ?? "");
  const set = (member: string, value: string) =>
    navigate(withQuery({ [member]: value || null, after: null }));
  return (
    <form
      class="chips"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        set("name", name.value);
      }}
    >
      <select
        aria-label="state"
        style={{ width: "auto" }}
        value={query.value.get("state") ?? ""}
        onChange={(event) => set("state", event.currentTarget.value)}
      >
        <option value="">any state</option>
        {JOB_STATES.map((state) => (
          <option key={state}>{state}</option>
        ))}
      </select>
      <select
        aria-label="kind"
        style={{ width: "auto" }}
        value={query.value.get("kind") ?? ""}
        onChange={(event) => set("kind", event.currentTarget.value)}
      >
        <option value="">any kind</option>
        <option>train</option>
        <option>batch</option>
      </select>
      <input
        aria-label="name begins with"
        placeholder="name begins with"
        style={{ width: "220px" }}
        value={name.value}
        onInput={(event) => {
          name.value = event.currentTarget.value;
        }}
        onBlur={() => set("name", name.value)}
      />
    </form>
  );
}
