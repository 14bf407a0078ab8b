/* fault: what a problem looks like, and what can be done about it. */
import type { Problem } from "../base/api";
import { useNow } from "./bits";

export function FaultBox({ problem, retry }: { problem: Problem; retry?: () => void }) {
  if (problem.status === 403)
    return (
      <div class="say bad" role="alert">
        <h3>This needs the permission {problem.permission ?? "that your key lacks"}</h3>
        <p class="faint">{problem.detail} Who may manage keys in your organisation can grant it.</p>
        {problem.request_id && <p class="small mono faint">{problem.request_id}</p>}
      </div>
    );
  return (
    <div class="say bad" role="alert">
      <h3>{problem.title || "It did not work"}</h3>
      <p>
        {problem.detail || "The region gave no reason."} <code>{problem.code}</code>
      </p>
      {problem.errors?.map((fault) => (
        <p key={fault.pointer ?? fault.parameter ?? fault.header} class="small">
          <code>{fault.pointer ?? fault.parameter ?? fault.header}</code> {fault.detail}
        </p>
      ))}
      {problem.request_id && <p class="small mono faint">{problem.request_id}</p>}
      <div class="chips">
        {retry && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
        {problem.status !== 0 && (
          <a class="small" href={`/docs/errors/${problem.code}`}>
            what {problem.code} means
          </a>
        )}
      </div>
    </div>
  );
}

/* Data older than a minute is said to be so. */
export function Age({ at }: { at: number }) {
  const now = useNow(5000);
  if (!at || now - at < 60_000) return null;
  const minutes = Math.floor((now - at) / 60_000);
  return <span class="small faint">as of {minutes} min ago</span>;
}
