/* progress: how far a job is, in its own words. */
import type { Job } from "../base/types";

export function share(job: Job): number | null {
  const steps = Number(job.progress?.steps ?? 0);
  return steps > 0 ? Math.min(1, Number(job.progress?.step ?? 0) / steps) : null;
}

export function ProgressText({ job }: { job: Job }) {
  const part = share(job);
  if (part === null || !job.progress) return <span class="faint">–</span>;
  return (
    <span class="mono">
      {job.progress.step.toString()}/{job.progress.steps.toString()}
    </span>
  );
}

export function ProgressBar({ job }: { job: Job }) {
  const part = share(job);
  if (part === null || !job.progress) return null;
  const percent = Math.floor(part * 100);
  return (
    <div class="meter">
      <div
        class="track"
        role="progressbar"
        aria-valuenow={percent}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-label={`${job.progress.phase}: step ${job.progress.step} of ${job.progress.steps}`}
      >
        <div class="fill" style={{ width: `${percent}%` }} />
      </div>
      <span class="small faint">
        {job.progress.phase} · step {job.progress.step.toString()} of{" "}
        {job.progress.steps.toString()}
      </span>
    </div>
  );
}
