import { expect, it } from "vitest";
import { openAnswerer, openEngine } from "../../src/cli/open-answerer.js";

it("ends a run before its first row where the model of all rows is unknown", async () => {
  const unknown = expect.objectContaining({ code: "unknown_model" });
  await expect(openAnswerer({ model: "gpt", long: "reject" })).rejects.toEqual(unknown);
  await expect(openEngine({ model: "gpt" })).rejects.toEqual(unknown);
});

it("knows the aliases and the checkpoints of its deployment", async () => {
  for (const model of ["core-latest", "core-multilingual-0.3.20", undefined]) {
    const engine = await openEngine({ model });
    await engine.close();
  }
});
