/* artifacts: what do I keep, and whence? */
import { useSignal } from "@preact/signals";
import { ask, change, type Problem, Refused, sha256 } from "../base/api";
import { bytes } from "../base/format";
import { query } from "../base/router";
import { may } from "../base/session";
import { type Page, refresh, use } from "../base/store";
import type { Artifact } from "../base/types";
import { Question } from "../parts/ask";
import { AsCommand, Command, Copy, Id, Panel, State, When } from "../parts/bits";
import { FaultBox } from "../parts/fault";
import { List } from "../parts/list";

const PART = 16 << 20; // bytes of one PUT

async function upload(file: File, kind: string, tell: (share: number) => void): Promise<void> {
  const digest = await sha256(file);
  const begun = await change<Artifact>("POST", "/v1/artifacts", {
    sha256: digest,
    size: file.size,
    kind,
    name: file.name,
  });
  if (!begun || begun.state === "held") return;
  let offset = Number(begun.offset);
  while (offset < file.size) {
    const end = Math.min(file.size, offset + PART);
    const range = `bytes ${offset}-${end - 1}/${file.size}`;
    await ask("PUT", `/v1/artifacts/${begun.artifact}/content`, {
      raw: file.slice(offset, end),
      headers: { "Content-Range": range, "Content-Type": "application/octet-stream" },
    });
    offset = end;
    tell(offset / file.size);
  }
}

export function Artifacts() {
  const after = query.value.get("after");
  const url = `/v1/artifacts${after ? `?after=${encodeURIComponent(after)}` : ""}`;
  const held = use<Page<Artifact>>(url);
  const removing = useSignal<Artifact | null>(null);
  return (
    <>
      <div class="head">
        <h1>Artifacts</h1>
      </div>
      {may("artifacts:write") && <Push done={() => void refresh(url)} />}
      <Panel title="Kept" flush>
        <List
          label="Artifacts"
          url={url}
          held={held}
          rowKey={(a) => a.artifact}
          columns={[
            { head: "artifact", cell: (a) => <Id id={a.artifact} /> },
            { head: "name", cell: (a) => a.name ?? <span class="faint">–</span> },
            { head: "kind", cell: (a) => a.kind },
            { head: "state", cell: (a) => <State word={a.state} /> },
            { head: "size", numeric: true, cell: (a) => bytes(a.size) },
            {
              head: "made by",
              cell: (a) =>
                a.job ? (
                  <Id id={a.job} href={`/jobs/${a.job}`} />
                ) : (
                  <span class="faint">upload</span>
                ),
            },
            { head: "created", cell: (a) => <When at={a.created} /> },
            {
              head: "sha256",
              cell: (a) => (
                <span class="mono small" title={a.sha256}>
                  {a.sha256.slice(0, 12)}… <Copy text={a.sha256} />
                </span>
              ),
            },
            {
              head: "",
              cell: (a) => (
                <>
                  {a.state === "held" && (
                    <a
                      class="small"
                      href={`/v1/artifacts/${a.artifact}/content`}
                      download={a.name ?? a.artifact}
                    >
                      download
                    </a>
                  )}
                  {may("artifacts:write") && (
                    <button
                      type="button"
                      class="plain small"
                      onClick={() => {
                        removing.value = a;
                      }}
                    >
                      delete
                    </button>
                  )}
                </>
              ),
            },
          ]}
          empty={
            <>
              <h3>Nothing is kept here yet</h3>
              <p class="faint">
                Datasets are pushed; models, checkpoints and predictions are made by jobs.
              </p>
              <Command text="cresset artifact push --kind dataset train-images-idx3-ubyte" />
            </>
          }
        />
      </Panel>
      <AsCommand cli="cresset artifact ls" url={url} />
      {removing.value && (
        <Remove
          artifact={removing.value}
          close={() => {
            removing.value = null;
          }}
          done={() => void refresh(url)}
        />
      )}
    </>
  );
}

function Remove({
  artifact,
  close,
  done,
}: {
  artifact: Artifact;
  close: () => void;
  done: () => void;
}) {
  return (
    <Question
      title={`Delete ${artifact.name ?? artifact.artifact}?`}
      verb="Delete it"
      name={artifact.artifact}
      close={close}
      act={async () => {
        const path = `/v1/artifacts/${artifact.artifact}`;
        const response = await ask("GET", path);
        const etag = response.headers.get("ETag");
        await change("DELETE", path, undefined, etag ? { etag } : {});
        done();
      }}
    >
      <p class="faint">
        Its bytes are gone for good; jobs that name it as an input can not run again.
      </p>
    </Question>
  );
}

function Push({ done }: { done: () => void }) {
  const share = useSignal<number | null>(null);
  const problem = useSignal<Problem | null>(null);
  const kind = useSignal("dataset");
  const push = async (file: File) => {
    share.value = 0;
    problem.value = null;
    try {
      await upload(file, kind.value, (part) => {
        share.value = part;
      });
      done();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problem.value = error.problem;
    } finally {
      share.value = null;
    }
  };
  return (
    <Panel title="Push a file">
      <div class="fields">
        <div class="field">
          <label for="push-kind">Kind</label>
          <select
            id="push-kind"
            value={kind.value}
            onChange={(event) => {
              kind.value = event.currentTarget.value;
            }}
          >
            <option>dataset</option>
            <option>model</option>
            <option>other</option>
          </select>
        </div>
        <div class="field">
          <label for="push-file">File</label>
          <input
            id="push-file"
            type="file"
            disabled={share.value !== null}
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) void push(file);
            }}
          />
        </div>
      </div>
      {share.value !== null && <p class="faint">pushing, {Math.floor(share.value * 100)} %</p>}
      {problem.value && <FaultBox problem={problem.value} />}
    </Panel>
  );
}
