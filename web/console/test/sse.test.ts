import { expect, test } from "vitest";
import { type Frame, FrameReader } from "../src/base/sse";

const STREAM =
  ': hello\r\n\r\nretry: 2000\n\nid: 7\nevent: job.queued\ndata: {"a":\ndata: 1}\n\ndata: x\n\n';

test("frames come out the same wherever the stream is cut", () => {
  const whole = new FrameReader().push(STREAM);
  expect(whole).toEqual([
    { id: "7", event: "job.queued", data: '{"a":\n1}' },
    { id: null, event: "message", data: "x" },
  ]);
  for (let cut = 0; cut <= STREAM.length; cut++) {
    const reader = new FrameReader();
    const frames: Frame[] = [
      ...reader.push(STREAM.slice(0, cut)),
      ...reader.push(STREAM.slice(cut)),
    ];
    expect(frames).toEqual(whole);
  }
});

test("a frame without end is refused", () => {
  const reader = new FrameReader();
  expect(() => reader.push("x".repeat((1 << 20) + 1))).toThrow();
});
