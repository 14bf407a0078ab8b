/* sse: the frames of an event stream, out of pieces cut anywhere (WHATWG HTML, section 9.2.6). */

export interface Frame {
  id: string | null;
  event: string;
  data: string;
}

const LINE_MAX = 1 << 20; // characters of one frame; more is not ours

export class FrameReader {
  private rest = "";
  private id: string | null = null;
  private event = "";
  private data: string[] = [];

  /* The frames that this piece completes. */
  push(piece: string): Frame[] {
    const frames: Frame[] = [];
    this.rest += piece;
    if (this.rest.length > LINE_MAX) throw new Error("a frame without end");
    for (;;) {
      const end = this.rest.search(/\r\n|\n|\r(?=[\s\S])/);
      if (end < 0) return frames;
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + (this.rest.startsWith("\r\n", end) ? 2 : 1));
      const frame = this.line(line);
      if (frame) frames.push(frame);
    }
  }

  private line(line: string): Frame | null {
    if (line === "") {
      const frame = { id: this.id, event: this.event || "message", data: this.data.join("\n") };
      const empty = this.data.length === 0;
      this.id = null;
      this.event = "";
      this.data = [];
      return empty ? null : frame;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return null; // a comment: the server is alive
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.id = value;
    else if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    return null;
  }
}
