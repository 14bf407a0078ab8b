/* logs: what the job wrote. Only the lines in sight are in the page; a search marks and counts. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ask, type Problem, Refused } from "../base/api";
import { count } from "../base/format";
import { ended } from "../base/states";
import type { Job } from "../base/types";
import { Panel } from "../parts/bits";
import { FaultBox } from "../parts/fault";

const LINE_PX = 18;
const BOX_PX = 324;
const SPARE_LINES = 20; // above and below what is in sight: at most 58 in the page
const PIECE = 1 << 20; // bytes asked for at once

/* Appends what the server has beyond `from` bytes; the number of bytes that came. */
async function more(job: string, from: number): Promise<string> {
  try {
    const response = await ask("GET", `/v1/jobs/${job}/logs`, {
      headers: { Range: `bytes=${from}-${from + PIECE - 1}` },
    });
    if (response.status === 200 && from > 0) return "";
    return await response.text();
  } catch (error) {
    if (error instanceof Refused && error.problem.status === 416) return "";
    throw error;
  }
}

export function LogsPanel({ job }: { job: Job }) {
  const text = useSignal("");
  const problem = useSignal<Problem | null>(null);
  const search = useSignal("");
  const follow = useSignal(true);
  const top = useSignal(0);
  const box = useRef<HTMLDivElement>(null);
  const size = useRef(0);
  const busy = useRef(false);

  const load = async () => {
    if (busy.current) return;
    busy.current = true;
    try {
      for (;;) {
        const piece = await more(job.job, size.current);
        if (!piece) break;
        size.current += new TextEncoder().encode(piece).length;
        text.value += piece;
        problem.value = null;
      }
    } catch (error) {
      if (error instanceof Refused) problem.value = error.problem;
    } finally {
      busy.current = false;
    }
  };
  const step = job.progress?.step.toString() ?? "";
  useEffect(() => {
    void load();
  }, [job.state, step]);
  useEffect(() => {
    if (ended(job.state)) return;
    const timer = setInterval(() => void load(), 2000);
    return () => clearInterval(timer);
  }, [ended(job.state)]);

  const lines = text.value ? text.value.replace(/\n$/, "").split("\n") : [];
  useEffect(() => {
    if (follow.value && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines.length, follow.value]);

  const first = Math.max(0, Math.floor(top.value / LINE_PX) - SPARE_LINES);
  const last = Math.min(lines.length, Math.ceil((top.value + BOX_PX) / LINE_PX) + SPARE_LINES);
  const wanted = search.value.toLowerCase();
  const hits = wanted ? lines.filter((line) => line.toLowerCase().includes(wanted)).length : 0;
  const find = () => {
    const from = Math.floor(top.value / LINE_PX) + 1;
    const order = lines.map((_, i) => (i + from) % lines.length);
    const next = order.find((i) => lines[i]?.toLowerCase().includes(wanted));
    if (next === undefined || !box.current) return;
    follow.value = false;
    box.current.scrollTop = next * LINE_PX;
  };
  return (
    <Panel
      title="Logs"
      flush
      aside={
        <>
          <span class="small faint">{count(lines.length)} lines</span>
          <input
            type="search"
            aria-label="Search the logs"
            placeholder="search"
            style={{ width: "160px" }}
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value;
            }}
            onKeyDown={(event) => event.key === "Enter" && find()}
          />
          {wanted && <span class="small faint">{count(hits)} lines fit</span>}
          <label class="check small">
            <input
              type="checkbox"
              style={{ width: "16px", minHeight: "16px" }}
              checked={follow.value}
              onChange={(event) => {
                follow.value = event.currentTarget.checked;
              }}
            />
            follow
          </label>
          <a class="small" href={`/v1/jobs/${job.job}/logs`} download={`${job.job}.log`}>
            download
          </a>
        </>
      }
    >
      {problem.value && <FaultBox problem={problem.value} retry={() => void load()} />}
      {lines.length === 0 && !problem.value ? (
        <div class="say faint">It has written nothing {ended(job.state) ? "" : "yet"}</div>
      ) : (
        <div
          class="logs"
          ref={box}
          tabIndex={0}
          role="log"
          aria-label="Log lines"
          onScroll={(event) => {
            const at = event.currentTarget;
            top.value = at.scrollTop;
            follow.value = at.scrollTop + at.clientHeight >= at.scrollHeight - LINE_PX;
          }}
        >
          <div style={{ height: `${lines.length * LINE_PX}px` }}>
            {lines.slice(first, last).map((line, i) => (
              <div
                class={`line ${wanted && line.toLowerCase().includes(wanted) ? "hit" : ""}`}
                key={first + i}
                style={{ top: `${(first + i) * LINE_PX}px` }}
              >
                {line}
              </div>
            ))}
          </div>
        </div>
      )}
    </Panel>
  );
}
