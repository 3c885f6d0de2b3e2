/** Facts of a run that never was; what the tests of the report share. */

import type { Tally } from "../../../src/batch/progress/tally.js";
import { createTally } from "../../../src/batch/progress/tally.js";
import type { RunFacts } from "../../../src/batch/report/report.js";
import { drawRows } from "../progress/tally-rows.js";
import { question } from "../write/output-rows.js";

export const band = { low: 0.4, high: 0.6 };

export function factsOf(facts: Partial<RunFacts> = {}): RunFacts {
  return {
    version: "1.2.3",
    end: "finished",
    inputs: ["in/tickets.csv"],
    output: "out.csv",
    questions: [
      { ...question("urgent", "noul", ["false", "true"]), instructions: "Is it urgent?" },
      question("team", "choice", ["10", "2", "other", "<b>", "怒っている人"]),
      question("never", "score", ["0", "1"]),
    ],
    options: { preset: "triage", explain: true },
    startedAt: new Date(Date.UTC(2026, 10, 21, 8, 30)),
    writtenAt: new Date(Date.UTC(2026, 10, 21, 9, 30)),
    sittings: 1,
    elapsedMs: 10_000,
    thisSitting: { rows: 500, elapsedMs: 10_000 },
    ...facts,
  };
}

/** A tally of rows drawn at random. */
export function tallyOf(seed: number, rows = 500): Tally {
  const tally = createTally(undefined, { band });
  for (const [row, outcome] of drawRows(seed, rows)) {
    tally.read();
    tally.add(row, outcome);
  }
  return tally;
}
