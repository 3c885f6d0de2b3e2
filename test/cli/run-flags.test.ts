import { expect, it } from "vitest";
import { pushFlags } from "../../src/cli/push-flags.js";
import { runFlags } from "../../src/cli/run-flags.js";

it("has every flag of qa run under a heading of the help", () => {
  expect(Object.entries(runFlags).filter(([, { helpGroup }]) => helpGroup === undefined)).toEqual([]);
});

it("has what qa run and qa queue push share under the same heading in both", () => {
  const headings = new Map<string, string | undefined>(
    Object.entries(runFlags).map(([name, { helpGroup }]) => [name, helpGroup]),
  );
  const shared = Object.entries(pushFlags).filter(([name]) => headings.has(name) && name !== "out" && name !== "quiet");
  expect(shared.length).toBeGreaterThan(15);
  for (const [name, { helpGroup }] of shared) expect(helpGroup, name).toBe(headings.get(name));
});
