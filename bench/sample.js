/** What the benchmarks share: states and questions to measure with, medians, tables. */

import { readRows } from "../dist/batch/read/read-rows.js";
import { parseQuestions } from "../dist/decision/question.js";

const FIXTURES = new URL("../fixtures/", import.meta.url).pathname;

/** `count` states of real length: the sample tickets, over and over, but for the one that is too long. */
export async function ticketStates(count) {
  const texts = [];
  for await (const { content } of readRows([`${FIXTURES}tickets.csv`])) {
    if (content.type !== "record") continue;
    const [subject, body] = content.cells.slice(-2);
    if (body.length < 2500) texts.push(`${subject}\n${body}`);
  }
  return Array.from({ length: count }, (_, i) => texts[i % texts.length]);
}

/** An English state of about `words` words. */
export function stateOfWords(words) {
  const sentence =
    "The delivery was late again and nobody in the office could tell me where the parcel had gone .".split(" ");
  return Array.from({ length: words }, (_, i) => sentence[i % sentence.length]).join(" ");
}

/** `count` different yes/no, choice and score questions of everyday length. */
export function everydayQuestions(count) {
  const kinds = [
    (i) => ({ type: "noul", instructions: `Does the customer mention reason number ${i} for a complaint?` }),
    (i) => ({
      type: "choice",
      instructions: `Which team should take step ${i}?`,
      criteria: { billing: "invoices and refunds", technical: "something does not work", sales: null, other: null },
    }),
    (i) => ({ type: "score", instructions: `How urgent is point ${i}?`, criteria: ["can wait", "this week", "today"] }),
  ];
  const wire = Object.fromEntries(Array.from({ length: count }, (_, i) => [`q${i}`, kinds[i % kinds.length](i)]));
  return parseQuestions(wire).questions;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Prints rows of cells, numbers right-aligned. */
export function printTable(header, rows) {
  const all = [header, ...rows.map((row) => row.map(String))];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column].length)));
  for (const row of all) console.log(row.map((cell, column) => cell.padStart(widths[column])).join("  "));
}
