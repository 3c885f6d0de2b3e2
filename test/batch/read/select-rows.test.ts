import { describe, expect, it } from "vitest";
import type { Row } from "../../../src/batch/read/row.js";
import { firstRows, sampleRows } from "../../../src/batch/read/select-rows.js";

async function* rowsOf(count: number, pulled: number[] = []): AsyncGenerator<Row> {
  for (let index = 0; index < count; index++) {
    pulled.push(index);
    yield { place: { file: "x", line: index + 1, index }, format: "text", content: { type: "text", text: `${index}` } };
  }
}

async function indexesOf(rows: AsyncIterable<Row>): Promise<number[]> {
  const indexes: number[] = [];
  for await (const { place } of rows) indexes.push(place.index);
  return indexes;
}

describe("selecting rows", () => {
  it("takes the first rows and reads no further", async () => {
    const pulled: number[] = [];
    expect(await indexesOf(firstRows(rowsOf(10, pulled), 3))).toEqual([0, 1, 2]);
    expect(pulled).toEqual([0, 1, 2]);
  });

  it("draws a sample of the size asked for, in the order of the input, the same for the same seed", async () => {
    const draw = (seed: number) => indexesOf(sampleRows(rowsOf(1000), { size: 20, seed }));
    const sample = await draw(1);
    expect(sample).toHaveLength(20);
    expect(sample).toEqual([...new Set(sample)].sort((a, b) => a - b));
    expect(await draw(1)).toEqual(sample);
    expect(await draw(2)).not.toEqual(sample);
  });

  it("draws every row where there are no more than asked for", async () => {
    expect(await indexesOf(sampleRows(rowsOf(3), { size: 5, seed: 1 }))).toEqual([0, 1, 2]);
  });

  it("draws every row about as often as any other", async () => {
    const drawn = new Array<number>(20).fill(0);
    for (let seed = 0; seed < 2000; seed++)
      for (const index of await indexesOf(sampleRows(rowsOf(20), { size: 5, seed })))
        drawn[index] = (drawn[index] ?? 0) + 1;
    // 500 expected each; 5 standard deviations of a binomial are some 97
    for (const count of drawn) expect(Math.abs(count - 500)).toBeLessThan(97);
  });
});
