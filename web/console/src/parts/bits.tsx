/* bits: the smallest things that many pages show. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ago, moment, short } from "../base/format";
import { shape, tone } from "../base/states";

export function State({ word, mark }: { word: string; mark?: string | null | undefined }) {
  return (
    <span class={`state tone-${tone(word)}`}>
      <span class="shape" aria-hidden="true">
        {shape(word)}
      </span>
      {word}
      {mark === "preempted" && (
        <span class="state tone-preempted">
          <span class="shape" aria-hidden="true">
            ↺
          </span>
          preempted
        </span>
      )}
    </span>
  );
}

export function Id({ id, href, whole }: { id: string; href?: string; whole?: boolean }) {
  const text = whole ? id : short(id);
  return href ? (
    <a class="mono" href={href} title={id}>
      {text}
    </a>
  ) : (
    <span class="mono" title={id}>
      {text}
    </span>
  );
}

export function When({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="faint">–</span>;
  return (
    <time dateTime={at} title={at}>
      {moment(at)}
    </time>
  );
}

export function Ago({ at }: { at: string | null | undefined }) {
  const now = useNow(1000);
  if (!at) return <span class="faint">–</span>;
  return (
    <time dateTime={at} title={at}>
      {ago(at, now)}
    </time>
  );
}

/* The time of this browser, renewed while the component stands. */
export function useNow(everyMs: number): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now.value;
}

export function Copy({ text, word = "copy" }: { text: string; word?: string }) {
  const done = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    done.value = true;
    setTimeout(() => {
      done.value = false;
    }, 1500);
  };
  return (
    <button
      type="button"
      class="plain small"
      onClick={() => void copy()}
      aria-label={`${word}: ${text}`}
    >
      {done.value ? "copied" : word}
    </button>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <div class="command">
      <code tabIndex={0}>{text}</code>
      <Copy text={text} />
    </div>
  );
}

export function Panel(props: {
  title: string;
  children: ComponentChildren;
  aside?: ComponentChildren;
  flush?: boolean;
}) {
  return (
    <section class="panel" aria-label={props.title}>
      <header>
        <h2>{props.title}</h2>
        {props.aside && <div class="push">{props.aside}</div>}
      </header>
      {props.flush ? props.children : <div class="body">{props.children}</div>}
    </section>
  );
}

export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

/* What this page shows, as the command line and as curl give it. */
export function AsCommand({ cli, url, post }: { cli: string; url: string; post?: string }) {
  const what = post ? `-H "Idempotency-Key: $(uuidgen)" --json @${post} ` : "";
  const curl = `curl -H "Authorization: Bearer $CRESSET_KEY" ${what}'${location.origin}${url}'`;
  return (
    <section class="as" aria-label="The same from a terminal">
      <div class="row">
        <span>as CLI</span>
        <Command text={cli} />
      </div>
      <div class="row">
        <span>as curl</span>
        <Command text={curl} />
      </div>
    </section>
  );
}

export function Labels({ labels }: { labels: Record<string, string> | null | undefined }) {
  const pairs = Object.entries(labels ?? {});
  if (pairs.length === 0) return <span class="faint">none</span>;
  return (
    <span class="chips">
      {pairs.map(([name, value]) => (
        <span class="chip mono" key={name}>
          {name}={value}
        </span>
      ))}
    </span>
  );
}
