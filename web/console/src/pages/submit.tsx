/* submit: what will it cost, when could it start? The form and the text are one and the same spec. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask, change, type Fault, freshKey, type Problem, Refused } from "../base/api";
import { money } from "../base/format";
import { navigate } from "../base/router";
import { type Page, use } from "../base/store";
import type { Artifact, Job } from "../base/types";
import { AsCommand, Panel } from "../parts/bits";
import { FaultBox } from "../parts/fault";
import { blank, type Spec, SpecForm } from "./spec";

interface Plan {
  decision: string;
  blockers: { code: string; sentence: string }[] | null;
  cost_microusd: { low: number | string; high: number | string } | null;
}

const QUIET_MS = 400; // after the last key before the plan is asked for

export function Submit() {
  const spec = useSignal<Spec>(blank());
  const text = useSignal(JSON.stringify(spec.value, null, 2));
  const asText = useSignal(false);
  const broken = useSignal("");
  const problem = useSignal<Problem | null>(null);
  const plan = useSignal<Plan | null>(null);
  const busy = useSignal(false);
  const key = useSignal(freshKey());
  const artifacts = use<Page<Artifact>>("/v1/artifacts?limit=200");

  const set = (next: Spec) => {
    spec.value = next;
    text.value = JSON.stringify(next, null, 2);
    key.value = freshKey();
  };
  useEffect(() => {
    const timer = setTimeout(() => void ask_plan(), QUIET_MS);
    return () => clearTimeout(timer);
  }, [text.value]);
  const ask_plan = async () => {
    try {
      const response = await ask("POST", "/v1/jobs/plan", { body: spec.value });
      plan.value = (await response.json()) as Plan;
      problem.value = null;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      plan.value = null;
      problem.value = error.problem;
    }
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    try {
      const job = await change<Job>("POST", "/v1/jobs", spec.value, { key: key.value });
      if (job) navigate(`/jobs/${job.job}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problem.value = error.problem;
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <div class="head">
        <h1>Submit a job</h1>
      </div>
      <form class="columns" onSubmit={(event) => void submit(event)}>
        <section class="panel" aria-label="The job">
          <header>
            <div class="tabs" role="tablist">
              {[false, true].map((mode) => (
                <button
                  type="button"
                  role="tab"
                  key={String(mode)}
                  aria-selected={asText.value === mode}
                  onClick={() => {
                    asText.value = mode;
                  }}
                >
                  {mode ? "JSON" : "Form"}
                </button>
              ))}
            </div>
          </header>
          <div class="body">
            {asText.value ? (
              <div class="field">
                <label for="spec-text">The body of POST /v1/jobs</label>
                <textarea
                  id="spec-text"
                  rows={26}
                  spellcheck={false}
                  value={text.value}
                  aria-invalid={broken.value !== ""}
                  onInput={(event) => {
                    text.value = event.currentTarget.value;
                    try {
                      spec.value = JSON.parse(text.value) as Spec;
                      broken.value = "";
                      key.value = freshKey();
                    } catch (error) {
                      broken.value = (error as Error).message;
                    }
                  }}
                />
                {broken.value && <span class="fault">{broken.value}</span>}
              </div>
            ) : (
              <SpecForm
                spec={spec.value}
                set={set}
                artifacts={artifacts.data?.data ?? []}
                faults={(problem.value?.errors ?? []) as Fault[]}
              />
            )}
          </div>
        </section>
        <Panel title="Before it is sent">
          <div style={{ display: "grid", gap: "16px" }} aria-live="polite">
            {plan.value && <Price plan={plan.value} />}
            {problem.value && <FaultBox problem={problem.value} />}
            <div>
              <button
                type="submit"
                class="primary"
                disabled={busy.value || broken.value !== "" || plan.value === null}
              >
                Submit
              </button>
            </div>
          </div>
        </Panel>
      </form>
      <AsCommand cli="cresset job run job.yaml" url="/v1/jobs" post="job.json" />
    </>
  );
}

function Price({ plan }: { plan: Plan }) {
  const cost = plan.cost_microusd;
  return (
    <>
      <p>
        {plan.decision === "start" && "It could start now."}
        {plan.decision === "wait" && "It would wait:"}
        {plan.decision === "never" && "It could never start here:"}
      </p>
      {plan.blockers?.map((blocker) => (
        <p key={blocker.code}>
          {blocker.sentence} <code class="small faint">{blocker.code}</code>
        </p>
      ))}
      {cost && (
        <p>
          It costs at most <span class="mono">{money(cost.high)}</span>: its longest run at today's
          price. What it really holds is billed, to the nanosecond.
        </p>
      )}
    </>
  );
}
