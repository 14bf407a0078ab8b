/* feed_worker: the SharedWorker that holds the one stream of a browser, for all of its tabs. */
import { Feed, type FeedMessage } from "./feed";

const scope = self as unknown as { onconnect: ((event: MessageEvent) => void) | null };
const tabs = new Set<MessagePort>();
let feed: Feed | null = null;

function tell(message: FeedMessage): void {
  for (const tab of tabs) tab.postMessage(message);
}

function start(): void {
  feed?.stop();
  feed = new Feed(tell);
  void feed.run();
}

scope.onconnect = (event) => {
  const tab = event.ports[0];
  if (!tab) return;
  tabs.add(tab);
  tab.onmessage = (message: MessageEvent<"close" | "start">) => {
    if (message.data === "close") tabs.delete(tab);
    else if (!feed || feed.state === "signed-out") start();
    else tab.postMessage({ kind: "state", state: feed.state, since: feed.since });
    if (tabs.size === 0) {
      feed?.stop();
      feed = null;
    }
  };
  tab.start();
};
