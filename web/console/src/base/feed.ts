/*
 * feed: one reader of /v1/events/stream, wherever it runs (a SharedWorker, or the leading tab). It
 * resumes where it was by Last-Event-ID, waits 0.5 to 30 s with full jitter between tries, and
 * says what state it is in. fetch, not EventSource: a status must be seen to be told.
 */
import { FrameReader } from "./sse";

export type FeedState = "live" | "reconnecting" | "signed-out";

export type FeedMessage =
  | { kind: "event"; type: string; id: string | null; data: unknown }
  | { kind: "state"; state: FeedState; since: number }
  | { kind: "gap" };

const WAIT_MIN_MS = 500;
const WAIT_MAX_MS = 30_000;

export class Feed {
  private last: string | null = null;
  private tries = 0;
  private stopped = false;
  private abort = new AbortController();
  state: FeedState = "reconnecting";
  since = Date.now();

  constructor(private readonly tell: (message: FeedMessage) => void) {}

  stop(): void {
    this.stopped = true;
    this.abort.abort();
  }

  private enter(state: FeedState): void {
    if (this.state !== state) this.since = Date.now();
    this.state = state;
    this.tell({ kind: "state", state, since: this.since });
  }

  async run(): Promise<void> {
    while (!this.stopped) {
      const status = await this.once();
      if (this.stopped) return;
      if (status === 401 || status === 403) {
        this.enter("signed-out");
        return;
      }
      if (status === 410) {
        this.last = null; // older than the history: everything is asked for again
        this.tell({ kind: "gap" });
        continue;
      }
      this.enter("reconnecting");
      const wait = Math.min(WAIT_MAX_MS, WAIT_MIN_MS * 2 ** this.tries++);
      await new Promise((wake) => setTimeout(wake, Math.random() * wait));
    }
  }

  private async once(): Promise<number> {
    try {
      this.abort = new AbortController();
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (this.last) headers["Last-Event-ID"] = this.last;
      const response = await fetch("/v1/events/stream?progress=all", {
        headers,
        credentials: "same-origin",
        cache: "no-store",
        signal: this.abort.signal,
      });
      if (!response.ok || !response.body) return response.status;
      this.tries = 0;
      this.enter("live");
      await this.read(response.body);
      return 200;
    } catch {
      return 0;
    }
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const frames = new FrameReader();
    const text = body.pipeThrough(new TextDecoderStream() as never) as ReadableStream<string>;
    const reader = text.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const frame of frames.push(value)) {
        if (frame.event === "gap") {
          this.tell({ kind: "gap" });
          continue;
        }
        if (frame.id) this.last = frame.id;
        this.tell({
          kind: "event",
          type: frame.event,
          id: frame.id,
          data: JSON.parse(frame.data),
        });
      }
    }
  }
}
