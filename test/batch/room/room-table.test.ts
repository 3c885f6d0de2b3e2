import { describe, expect, it } from "vitest";
import { textWidth } from "../../../src/batch/progress/text-width.js";
import { drawQuestionTable } from "../../../src/batch/room/draw-question-table.js";
import type { CheckpointRoom } from "../../../src/engine/room-report.js";

const labels = ["refund of the whole order", "refund of the shipping"];
const checkpoint: CheckpointRoom = {
  role: "english",
  checkpoint: "core",
  window: 512,
  cap: 3500,
  maxQuestions: 32,
  questions: [
    {
      id: "team_that_handles_it",
      type: "choice",
      head: 101,
      options: labels.map((label) => ({ label, tokens: 77 })),
      prefix: 256,
      room: 255,
      fit: "fits",
      collisions: [labels],
    },
  ],
};

describe("drawQuestionTable", () => {
  it("gives a window half taken half a bar", () => {
    const [header, line = ""] = drawQuestionTable({ ...checkpoint }, { width: 100 }).split("\n");
    expect(header).toMatch(/^ {2}tokens +head +options +room$/);
    expect(line).toMatch(/^ {2}team_that_handles_it +101 +155 +255 +█+▒+·+$/u);
    expect(line.match(/[█▒]/gu)).toHaveLength(24);
    expect(line.match(/·/gu)).toHaveLength(24);
  });

  it("leaves the tokens of head and options out where the bars would be short", () => {
    const [header, line = ""] = drawQuestionTable(checkpoint, { width: 60, verdict: () => "fits 12 of 34" }).split(
      "\n",
    );
    expect(header).toMatch(/^ {2}tokens +room$/);
    expect(line.match(/[█▒·]/gu)?.length).toBeGreaterThanOrEqual(14);
    expect(textWidth(line)).toBeLessThanOrEqual(60);
  });

  it("warns of options that the checkpoint cannot tell apart", () => {
    const drawn = drawQuestionTable(checkpoint, { width: 60 });
    expect(drawn.replace(/\n +/g, " ")).toContain(
      'the beginning of "refund of the whole order", "refund of the shipping"',
    );
    for (const line of drawn.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(60);
  });
});
