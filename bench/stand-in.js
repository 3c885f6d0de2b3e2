/**
 * What the benches of everything around the model share: an engine whose graphs are stood in for, and an input of tickets.
 * All else is real: a million rows through the model would take hours and use the same buffers over and over.
 */

import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { stringify } from "csv-stringify/sync";
import { Engine } from "../dist/engine/engine.js";

/** An engine whose every logit is 0. */
export function openStandIn() {
  const optionCounts = new WeakMap();
  return Engine.open(
    {},
    {
      slots: 4,
      async compile(_checkpoint, questions) {
        const prefix = { type: "stand-in" };
        optionCounts.set(
          prefix,
          questions.reduce((sum, { options }) => sum + options.length, 0),
        );
        return prefix;
      },
      async decide(_checkpoint, groups) {
        return groups.flatMap(({ prefix, states }) => states.map(() => new Float32Array(optionCounts.get(prefix))));
      },
      async close() {},
    },
  );
}

/** Writes a CSV of numbered rows, their texts taken from `states` in turn. */
export async function writeRows(file, rows, states) {
  const out = createWriteStream(file);
  out.write("id,body\n");
  for (let i = 0; i < rows; i++)
    if (!out.write(stringify([[i, `${i} ${states[i % states.length]}`]])))
      await new Promise((resolve) => out.once("drain", resolve));
  out.end();
  await finished(out);
}
