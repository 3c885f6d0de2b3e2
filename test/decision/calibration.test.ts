import { describe, expect, it } from "vitest";
import { type Calibration, softmax, temperatureOf } from "../../src/decision/calibration.js";
import type { QuestionType } from "../../src/decision/question.js";

describe("temperatureOf", () => {
  const buckets: Calibration = {
    temperatureByOptions: {
      "choice:2": 1.1,
      "choice:3-5": 1.2,
      "choice:6-10": 1.3,
      "choice:11+": 1.4,
      "score:3-5": 1.5,
    },
    temperature: { choice: 2, score: 3 },
  };

  it.each<[QuestionType, number, number]>([
    ["choice", 1, 1.1],
    ["choice", 2, 1.1],
    ["choice", 3, 1.2],
    ["choice", 5, 1.2],
    ["choice", 6, 1.3],
    ["choice", 10, 1.3],
    ["choice", 11, 1.4],
    ["choice", 255, 1.4],
    ["score", 4, 1.5],
    ["score", 2, 3],
    ["score", 10, 3],
    ["noul", 2, 1],
  ])("of a %s with %i options is %d: by bucket, else by type, else 1", (type, options, temperature) => {
    expect(temperatureOf(buckets, type, options)).toBe(temperature);
  });

  it.each([
    [0.5, 0.5],
    [0.49, 0.5],
    [0, 0.5],
    [-3, 0.5],
    [5, 5],
    [5.01, 5],
    [1000, 5],
  ])("%d is clamped to %d, by bucket and by type", (given, temperature) => {
    expect(temperatureOf({ temperatureByOptions: { "noul:2": given } }, "noul", 2)).toBe(temperature);
    expect(temperatureOf({ temperature: { noul: given } }, "noul", 2)).toBe(temperature);
  });

  it("is 1 without any calibration", () => {
    expect(temperatureOf({}, "choice", 3)).toBe(1);
  });
});

describe("softmax", () => {
  it.each<[string, number[], number, number[]]>([
    ["equal logits are equally likely", [3, 3, 3, 3], 1, [0.25, 0.25, 0.25, 0.25]],
    ["a difference of ln 3 is 3 to 1", [Math.log(3), 0], 1, [0.75, 0.25]],
    ["a temperature of 2 halves differences", [2 * Math.log(3), 0], 2, [0.75, 0.25]],
    ["a temperature of 0.5 doubles them", [Math.log(3) / 2, 0], 0.5, [0.75, 0.25]],
    ["one option is certain", [-7], 1, [1]],
    ["logits far apart do not overflow", [2000, 0, -2000], 1, [1, 0, 0]],
    ["a masked option has nothing", [0, -1e4], 1, [1, 0]],
  ])("%s", (_, logits, temperature, probabilities) => {
    softmax(Float32Array.from(logits), temperature).forEach((p, i) => {
      expect(p).toBeCloseTo(probabilities[i] ?? Number.NaN, 6);
    });
    expect(softmax(logits, temperature)).toHaveLength(logits.length);
  });

  it("sums to 1 in double precision, over 255 options", () => {
    const logits = Array.from({ length: 255 }, (_, i) => Math.sin(i) * 20);
    expect(softmax(logits, 1.3).reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
  });
});
