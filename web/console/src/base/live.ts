/* live: connects this tab to the browser's one stream, and hands events to the store. */
import { signal } from "@preact/signals";
import { Feed, type FeedMessage, type FeedState } from "./feed";
import { applyEvent, refreshAll } from "./store";

export const feedState = signal<FeedState>("reconnecting");
export const feedSince = signal(Date.now());
export const announcement = signal(""); // read out, at most once in 5 s

let spoken = 0;

function hear(message: FeedMessage): void {
  if (message.kind === "gap") {
    refreshAll();
  } else if (message.kind === "state") {
    const back = message.state === "live" && feedState.value !== "live";
    feedState.value = message.state;
    feedSince.value = message.since;
    if (back) refreshAll();
  } else {
    const event = message.data as { type?: string; subject?: string };
    applyEvent(message.type, event);
    if (
      message.id &&
      /^job\.(succeeded|failed)$/.test(message.type) &&
      Date.now() - spoken > 5000
    ) {
      spoken = Date.now();
      announcement.value = `${event.subject} ${message.type.slice(4)}`;
    }
  }
}

/* A script's address is a sink of Trusted Types: this policy lets our own origin through. */
function scriptUrl(url: URL): string {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  if (!types) return url.href;
  const policy = types.createPolicy("cresset", {
    createScriptURL: (text) => {
      if (new URL(text, location.href).origin !== location.origin) throw new TypeError("foreign");
      return text;
    },
  });
  return policy.createScriptURL(url.href) as unknown as string;
}
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (text: string) => string },
  ): {
    createScriptURL(text: string): unknown;
  };
}

/* Without SharedWorker the tab that holds a lock leads; the others listen to it. */
function lead(): void {
  const channel = new BroadcastChannel("cresset-feed");
  channel.onmessage = (event: MessageEvent<FeedMessage>) => hear(event.data);
  void navigator.locks.request("cresset-feed", async () => {
    const feed = new Feed((message) => {
      hear(message);
      channel.postMessage(message);
    });
    await feed.run();
  });
}

let port: MessagePort | null = null;

export function goLive(): void {
  if (port) {
    port.postMessage("start");
    return;
  }
  if (!("SharedWorker" in globalThis)) {
    lead();
    return;
  }
  const url = new URL(workerUrl, location.href);
  const worker = new SharedWorker(scriptUrl(url), { type: "module", name: "cresset-feed" });
  port = worker.port;
  port.onmessage = (event: MessageEvent<FeedMessage>) => hear(event.data);
  port.postMessage("start");
  addEventListener("pagehide", () => port?.postMessage("close"));
  addEventListener("pageshow", (event) => {
    if (event.persisted) port?.postMessage("start");
  });
}

import workerUrl from "./feed_worker?worker&url";
