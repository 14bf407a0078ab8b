/* keys: who calls in this tenant's name? A secret is shown once, here. */
import { useSignal } from "@preact/signals";
import { ask, change, type Problem, Refused } from "../base/api";
import { may, me } from "../base/session";
import { type Page, refresh, use } from "../base/store";
import type { Key } from "../base/types";
import { Question } from "../parts/ask";
import { Ago, AsCommand, Command, Copy, Id, Panel, State, When } from "../parts/bits";
import { FaultBox } from "../parts/fault";
import { List } from "../parts/list";

const URL_KEYS = "/v1/keys";

type Asked = { verb: "revoke" | "rotate"; key: Key };

export function Keys() {
  const held = use<Page<Key>>(URL_KEYS);
  const shown = useSignal<Key | null>(null);
  const asked = useSignal<Asked | null>(null);
  return (
    <>
      <div class="head">
        <h1>Keys</h1>
      </div>
      {may("keys:write") && (
        <Make
          done={(key) => {
            shown.value = key;
            void refresh(URL_KEYS);
          }}
        />
      )}
      {shown.value && (
        <Secret
          made={shown.value}
          close={() => {
            shown.value = null;
          }}
        />
      )}
      <Panel title="Keys of this tenant" flush>
        <List
          label="Keys"
          url={URL_KEYS}
          held={held}
          rowKey={(key) => key.key}
          columns={[
            { head: "name", cell: (k) => k.name },
            { head: "key", cell: (k) => <Id id={k.key} /> },
            { head: "state", cell: (k) => <State word={k.state === "active" ? "ok" : k.state} /> },
            {
              head: "permissions",
              cell: (k) => <span class="small mono">{k.permissions.join(" ")}</span>,
            },
            { head: "last used", cell: (k) => <Ago at={k.last_used} /> },
            { head: "expires", cell: (k) => <When at={k.expires} /> },
            {
              head: "",
              cell: (k) =>
                may("keys:write") &&
                k.state === "active" && (
                  <>
                    <button
                      type="button"
                      class="plain small"
                      onClick={() => {
                        asked.value = { verb: "rotate", key: k };
                      }}
                    >
                      rotate
                    </button>
                    <button
                      type="button"
                      class="plain small"
                      onClick={() => {
                        asked.value = { verb: "revoke", key: k };
                      }}
                    >
                      revoke
                    </button>
                  </>
                ),
            },
          ]}
          empty={
            <>
              <h3>This tenant has no key</h3>
              <Command text="cresset key create --name ci --permission jobs:write" />
            </>
          }
        />
      </Panel>
      <AsCommand cli="cresset key ls" url={URL_KEYS} />
      {asked.value && (
        <Ask
          asked={asked.value}
          close={() => {
            asked.value = null;
          }}
          done={(key) => {
            if (key?.secret) shown.value = key;
            void refresh(URL_KEYS);
          }}
        />
      )}
    </>
  );
}

function Ask({
  asked,
  close,
  done,
}: {
  asked: Asked;
  close: () => void;
  done: (key?: Key) => void;
}) {
  const path = `${URL_KEYS}/${asked.key.key}`;
  const revoke = asked.verb === "revoke";
  return (
    <Question
      title={`${revoke ? "Revoke" : "Rotate"} ${asked.key.name}?`}
      verb={revoke ? "Revoke it" : "Rotate it"}
      {...(revoke ? { name: asked.key.name } : {})}
      close={close}
      act={async () => {
        if (!revoke) {
          done(await change<Key>("POST", `${path}/rotate`, {}));
          return;
        }
        const etag = (await ask("GET", path)).headers.get("ETag");
        await change("DELETE", path, undefined, etag ? { etag } : {});
        done();
      }}
    >
      <p class="faint">
        {revoke
          ? "Programs that use it are refused within a minute. This cannot be undone."
          : "A second secret is made and shown once; the first lives on for the overlap."}
      </p>
    </Question>
  );
}

function Secret({ made, close }: { made: Key; close: () => void }) {
  return (
    <section class="panel" aria-label="The new secret">
      <header>
        <h2>The secret of {made.name}</h2>
        <div class="push">
          <Copy text={made.secret ?? ""} />
          <button type="button" class="plain small" onClick={close}>
            I have kept it
          </button>
        </div>
      </header>
      <div class="body" style={{ display: "grid", gap: "8px" }}>
        <p class="secret" data-secret>
          {made.secret}
        </p>
        <p class="faint small">
          It is shown this once. Nobody can show it again, the operator neither.
        </p>
      </div>
    </section>
  );
}

function Make({ done }: { done: (key: Key) => void }) {
  const name = useSignal("");
  const chosen = useSignal<ReadonlySet<string>>(new Set(["jobs:read", "jobs:write"]));
  const problem = useSignal<Problem | null>(null);
  const permissions = (me.value?.permissions ?? []).filter((p) => p !== "*");
  const make = async (event: Event) => {
    event.preventDefault();
    problem.value = null;
    try {
      const key = await change<Key>("POST", URL_KEYS, {
        name: name.value,
        permissions: [...chosen.value].sort(),
      });
      if (key) done(key);
      name.value = "";
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problem.value = error.problem;
    }
  };
  return (
    <Panel title="Make a key">
      <form style={{ display: "grid", gap: "12px" }} onSubmit={(event) => void make(event)}>
        <div class="field" style={{ maxWidth: "320px" }}>
          <label for="key-name">Name, of the program that will hold it</label>
          <input
            id="key-name"
            required
            maxLength={63}
            value={name.value}
            onInput={(event) => {
              name.value = event.currentTarget.value;
            }}
          />
        </div>
        <fieldset class="chips" style={{ border: 0, padding: 0 }}>
          <legend class="small">What it may do</legend>
          {permissions.map((permission) => (
            <label class="check" key={permission}>
              <input
                type="checkbox"
                style={{ width: "16px", minHeight: "16px" }}
                checked={chosen.value.has(permission)}
                onChange={() => {
                  const next = new Set(chosen.value);
                  if (!next.delete(permission)) next.add(permission);
                  chosen.value = next;
                }}
              />
              <span class="mono small">{permission}</span>
            </label>
          ))}
        </fieldset>
        {problem.value && <FaultBox problem={problem.value} />}
        <div>
          <button
            type="submit"
            class="primary"
            disabled={!name.value.trim() || chosen.value.size === 0}
          >
            Make it
          </button>
        </div>
      </form>
    </Panel>
  );
}
