import { expect, test, vi } from "vitest";

vi.stubGlobal("location", { pathname: "/", search: "" });
const { match } = await import("../src/base/router");

test("a path fits one pattern, and gives its parameters", () => {
  expect(match("/jobs/:id", "/jobs/job_1")).toEqual({ id: "job_1" });
  expect(match("/jobs/:id", "/jobs")).toBeNull();
  expect(match("/jobs", "/jobs/")).toEqual({});
  expect(match("/", "/jobs")).toBeNull();
  expect(match("/", "/")).toEqual({});
});
