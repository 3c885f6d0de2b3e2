import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readGraph } from "./onnx-graph.js";

const MODELS = new URL("../../models/", import.meta.url).pathname;
const SESSION = new URL("../../dist/engine/session.js", import.meta.url).href;
/** Types of packed weights, as ONNX numbers them. */
const UINT8 = 2;
const UINT4 = 21;

describe("the graphs that ship", () => {
  it.each(
    ["core-0.3.5", "core-0.3.20", "core-multilingual-0.3.20"].flatMap((name) => [
      `${name}/encode.onnx`,
      `${name}/decide.onnx`,
    ]),
  )("%s unpacks each packed matrix in one step, for products of floats", (file) => {
    const { nodes, tensors } = readGraph(MODELS + file);
    const unpacking = nodes.filter(({ op }) => op === "DequantizeLinear");
    const zeroPoints = new Set(unpacking.map(({ inputs }) => inputs[2]));
    const packed = tensors.filter(
      ({ name, dataType }) => (dataType === UINT8 || dataType === UINT4) && !zeroPoints.has(name),
    );
    expect(packed.length).toBeGreaterThan(20);
    expect(unpacking.map(({ inputs }) => inputs[0]).sort()).toEqual(packed.map(({ name }) => name).sort());
    const floats = new Set(unpacking.flatMap(({ outputs }) => outputs));
    const taken = nodes.filter(({ inputs }) => inputs.some((name) => floats.has(name)));
    expect(new Set(taken.map(({ op }) => op))).toEqual(new Set(["FusedMatMul"]));
    expect(new Set(taken.map(({ inputs }) => inputs[1]))).toEqual(floats);
    expect(nodes.filter(({ op }) => /NBits|Integer|QLinear|QGemm/.test(op))).toEqual([]);
  });

  it("core-0.3.20 has two feed-forward matrices of each of twelve layers in 4 bits", () => {
    const { nodes, tensors } = readGraph(`${MODELS}core-0.3.20/encode.onnx`);
    const unpacking = nodes.filter(({ op }) => op === "DequantizeLinear");
    const fourBits = new Set(tensors.filter(({ dataType }) => dataType === UINT4).map(({ name }) => name));
    expect(unpacking.filter(({ inputs }) => fourBits.has(inputs[0] as string))).toHaveLength(24);
  });
});

describe("openOnnxSession", () => {
  it("keeps one copy of the weights of core-0.3.5, as floats", async () => {
    const graphs = ["encode", "decide"].map((graph) => `${MODELS}core-0.3.5/${graph}.onnx`);
    const script = `
      const { openOnnxSession } = await import(${JSON.stringify(SESSION)});
      const before = process.memoryUsage.rss();
      const sessions = [];
      for (const graph of ${JSON.stringify(graphs)}) sessions.push(await openOnnxSession(graph));
      console.log((process.memoryUsage.rss() - before) / 2 ** 20);
      process.exit();`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    // 145 to 155 MiB; 74 where they stay packed, 300 where every step of unpacking leaves a copy
    expect(Number(stdout)).toBeGreaterThan(105);
    expect(Number(stdout)).toBeLessThan(220);
  });
});
