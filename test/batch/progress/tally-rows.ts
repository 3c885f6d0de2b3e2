/** Rows with outcomes drawn at random, for claims that must hold for any run. */

import type { Row } from "../../../src/batch/read/row.js";
import type { Outcome } from "../../../src/batch/write/output-record.js";
import type { Answer } from "../../../src/decision/answer.js";
import { type ErrorCode, QaError } from "../../../src/errors.js";
import { createSeeded } from "../../seeded.js";
import {
  choice,
  chunkedDecision,
  decision,
  jsonRow,
  malformedRow,
  noul,
  recordRow,
  score,
} from "../write/output-rows.js";

const CODES: readonly ErrorCode[] = ["state_too_long", "state_missing", "worker_busy"];
const LABELS = ["10", "2", "other", "<b>", "怒っている人"];

/** `count` rows, the same for the same seed: about one in seven fails, some have fields that give way. */
export function drawRows(seed: number, count: number): readonly (readonly [Row, Outcome])[] {
  const draw = createSeeded(seed);
  return Array.from({ length: count }, (_, index) => {
    const kind = draw(0, 13);
    if (kind === 0) return [malformedRow("x"), new QaError("malformed_row", "x")] as const;
    const row = kind < 4 ? recordRow([[kind === 2 ? "model" : "error", "T"]], index) : jsonRow("{}", index);
    if (kind % 6 === 1) return [row, new QaError(CODES[draw(0, 2)] ?? "internal", "x")] as const;
    return [row, drawDecision(draw)] as const;
  });
}

function drawDecision(draw: (from: number, to: number) => number) {
  const share = () => draw(0, 10_000) / 10_000;
  const parts = LABELS.map((label) => [label, share()] as const);
  const answers: Record<string, Answer> = {
    urgent: noul(share()),
    team: { ...choice(parts), confidence: share() } as Answer,
    mood: { ...score([share(), share(), share()]), confidence: share() } as Answer,
  };
  if (draw(0, 3) === 0) delete answers.mood;
  if (draw(0, 9) === 0) return chunkedDecision(answers);
  const model = draw(0, 1) === 0 ? "core-1" : "core-m";
  return decision(answers, {
    inputTokens: draw(1, 500),
    model,
    ...(model === "core-m"
      ? { route: { role: "multilingual", reason: { type: "language", language: draw(0, 1) === 0 ? "de" : "fr" } } }
      : {}),
  });
}
