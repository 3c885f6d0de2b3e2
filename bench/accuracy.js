/**
 * How often a checkpoint answers as labelled: the English sample tickets and reviews, one annotator, fixtures/labels.json
 * (questions file or preset -> row id -> question id -> label; null where the text does not tell). Small and made for
 * comparing checkpoints with each other; no measure of what they do on your texts.
 * Usage: node bench/accuracy.js [checkpoint=core-0.3.20] [models folder]
 */

import { readdir, readFile } from "node:fs/promises";
import { loadQuestions } from "../dist/batch/questions-file.js";
import { openRequests } from "../dist/batch/read/read-requests.js";
import { Engine } from "../dist/engine/engine.js";
import { printTable } from "./sample.js";

const [model = "core-0.3.20", modelsDir] = process.argv.slice(2);
const ROOT = new URL("../", import.meta.url).pathname;
const INPUTS = {
  "fixtures/triage.yaml": { file: "fixtures/tickets.csv", state: { template: "{{subject}}\n{{body}}" } },
  "presets/triage.yaml": { file: "fixtures/tickets.csv", state: { template: "{{subject}}\n{{body}}" } },
  "presets/review.yaml": { file: "fixtures/reviews.ndjson", state: {} },
};

/** The file of the deployment that has this checkpoint. */
async function deploymentOf(name) {
  for (const file of await readdir(`${ROOT}deployments`)) {
    const { checkpoints } = JSON.parse(await readFile(`${ROOT}deployments/${file}`, "utf8"));
    if (Object.values(checkpoints).includes(name)) return `${ROOT}deployments/${file}`;
  }
  throw new Error(`no deployment has the checkpoint ${name}`);
}

const labels = JSON.parse(await readFile(`${ROOT}fixtures/labels.json`, "utf8"));
const engine = await Engine.open({ modelsDir, deployment: await deploymentOf(model) });
/** Of each type of answer: whether it was right, and the label. */
const seen = { choice: [], noul: [], score: [] };
for (const [asked, { file, state }] of Object.entries(INPUTS)) {
  const questions = await loadQuestions(ROOT + asked);
  const source = { inputs: [ROOT + file], read: {}, state, questions, model, choiceNeedsInstructions: false };
  for await (const { item, outcome } of engine.decideAll((await openRequests(source)).all, { limits: "split" }))
    if (!(outcome instanceof Error)) compare(outcome.answers, labels[asked][idOf(item.row)] ?? {}, asked);
}
await engine.close();

const share = (answers) => (answers.filter(({ right }) => right).length / answers.length).toFixed(3);
const frequent = (answers) => {
  const counts = new Map();
  for (const { question, said } of answers) {
    const ofQuestion = counts.get(question) ?? new Map();
    counts.set(question, ofQuestion.set(said, (ofQuestion.get(said) ?? 0) + 1));
  }
  const most = [...counts.values()].reduce((sum, ofQuestion) => sum + Math.max(...ofQuestion.values()), 0);
  return (most / answers.length).toFixed(3);
};
console.log(
  `${model}: answers that agree with the labels, and what the most frequent answer to each question would give`,
);
printTable(
  ["answers", "n", "agree", "most frequent"],
  [
    ["choice", seen.choice.length, share(seen.choice), frequent(seen.choice)],
    ["yes/no", seen.noul.length, share(seen.noul), frequent(seen.noul)],
    ["score, within half a level", seen.score.length, share(seen.score), frequent(seen.score)],
  ],
);

function idOf({ content }) {
  return content.type === "record" ? content.cells[content.columns.indexOf("id")] : String(content.value?.id);
}

function compare(answers, gold, asked) {
  for (const [id, said] of Object.entries(gold)) {
    const answer = answers.get(id);
    if (said === null || answer === undefined) continue;
    seen[answer.type].push({ right: isRight(answer, said), question: `${asked} ${id}`, said });
  }
}

function isRight(answer, said) {
  if (answer.type === "noul") return answer.noul >= 0.5 === (said === 1);
  return answer.type === "choice" ? answer.choice === said : Math.abs(answer.score - said) <= 0.5;
}
