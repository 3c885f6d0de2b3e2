/** The checkpoints that ship, with a small file in place of their graphs: fast to verify, for services over a fake inference. */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const MODELS = fileURLToPath(new URL("../../models/", import.meta.url));
const GRAPH = "no graph";

/** Writes them into a folder and returns it. */
export function writeFakeModels(directory: string): string {
  for (const name of ["core-0.3.20", "core-multilingual-0.3.20"]) {
    const manifest = JSON.parse(readFileSync(`${MODELS}${name}/checkpoint.json`, "utf8"));
    const folder = join(directory, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "graph.onnx"), GRAPH);
    const tokenizer = relative(folder, join(MODELS, name, manifest.tokenizer));
    const sha256 = {
      [tokenizer]: manifest.sha256[manifest.tokenizer],
      "graph.onnx": createHash("sha256").update(GRAPH).digest("hex"),
    };
    const fake = { ...manifest, data: [], tokenizer, graphs: { encode: "graph.onnx" }, sha256 };
    writeFileSync(join(folder, "checkpoint.json"), JSON.stringify(fake));
  }
  return directory;
}
