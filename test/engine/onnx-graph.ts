/** As much of an ONNX file as the tests ask of: its nodes and stored tensors, read from the protobuf wire format (onnx.proto). */

import { readFileSync } from "node:fs";

export interface GraphNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

export interface StoredTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** `TensorProto.DataType`: 1 float, 2 uint8. */
  readonly dataType: number;
}

export function readGraph(path: string): { readonly nodes: GraphNode[]; readonly tensors: StoredTensor[] } {
  const graph = only(fieldsOf(readFileSync(path)), 7)[0] as Buffer;
  const fields = fieldsOf(graph);
  return { nodes: only(fields, 1).map(nodeOf), tensors: only(fields, 5).map(tensorOf) };
}

function nodeOf(message: number | Buffer): GraphNode {
  const fields = fieldsOf(message as Buffer);
  return { op: String(only(fields, 4)[0]), inputs: only(fields, 1).map(String), outputs: only(fields, 2).map(String) };
}

function tensorOf(message: number | Buffer): StoredTensor {
  const fields = fieldsOf(message as Buffer);
  return {
    name: String(only(fields, 8)[0]),
    dims: only(fields, 1).flatMap((value) => (typeof value === "number" ? [value] : varintsOf(value))),
    dataType: Number(only(fields, 2)[0]),
  };
}

type Field = readonly [number: number, value: number | Buffer];

function only(fields: readonly Field[], number: number): (number | Buffer)[] {
  return fields.filter((field) => field[0] === number).map((field) => field[1]);
}

/** The fields of a message in order; numbers of fixed width, which nothing here asks for, are left out. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  for (let at = 0; at < message.length; ) {
    const [tag, from] = varintAt(message, at);
    const [value, next] = varintAt(message, from);
    const wire = tag & 7;
    if (wire === 0) fields.push([tag >> 3, value]);
    if (wire === 2) fields.push([tag >> 3, message.subarray(next, next + value)]);
    at = wire === 0 ? next : wire === 2 ? next + value : from + (wire === 1 ? 8 : 4);
  }
  return fields;
}

function varintsOf(packed: Buffer): number[] {
  const values: number[] = [];
  for (let at = 0; at < packed.length; ) {
    const [value, next] = varintAt(packed, at);
    values.push(value);
    at = next;
  }
  return values;
}

/** -> the number at `at` and the place behind it. */
function varintAt(bytes: Buffer, at: number): [number, number] {
  let value = 0;
  for (let next = at, scale = 1; ; next++, scale *= 128) {
    const byte = bytes[next] ?? 0;
    value += (byte & 127) * scale;
    if (byte < 128) return [value, next + 1];
  }
}
