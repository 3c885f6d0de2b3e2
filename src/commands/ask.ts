import { text } from "node:stream/consumers";
import { Args, Flags } from "@oclif/core";
import { drawAnswers } from "../batch/draw-answers.js";
import { parseInlineQuestions } from "../batch/inline-question.js";
import { chunkOptionsOf, engineFlags, longFlags, questionFlags, questionsOf } from "../cli/flags.js";
import { QaCommand } from "../cli/qa-command.js";
import { stringifyJson } from "../decision/json.js";
import { chunkedToJson, decisionToJson } from "../engine/decision.js";
import { Engine } from "../engine/engine.js";
import { explainRoute } from "../engine/router.js";
import { QaError } from "../errors.js";

export default class Ask extends QaCommand {
  static override summary = "Ask questions of one text and see the answers as bars.";
  static override description = `The text comes from the argument, or from stdin where there is none.

A question on the command line is 'text' (yes or no), 'text :: a | b | c' (choice) or \
'text :: low < middle < high' (score); 'id=' in front names it.`;
  static override examples = [
    "<%= config.bin %> ask 'I was charged twice, please refund one.' --question 'Is a refund requested?'",
    "<%= config.bin %> ask 'The app crashes at login' --question 'team=Which team? :: billing | technical | sales'",
    "<%= config.bin %> ask --preset triage < mail.txt",
  ];
  static override args = { state: Args.string({ description: "the text", ignoreStdin: true }) };
  static override flags = {
    question: Flags.string({
      summary: "a question; may be given several times",
      multiple: true,
      multipleNonGreedy: true,
    }),
    ...questionFlags,
    ...engineFlags,
    ...longFlags,
    json: Flags.boolean({ summary: "the wire's response as one line of JSON" }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Ask);
    const asked = flags.question === undefined ? [] : parseInlineQuestions(flags.question);
    const questions = [...asked, ...((await questionsOf(flags)) ?? [])];
    if (questions.length === 0)
      throw new QaError("invalid_usage", "nothing is asked; pass --question, --questions or --preset");
    if (new Set(questions.map(({ id }) => id)).size < questions.length)
      throw new QaError("invalid_usage", "two questions have the same id; name those of --question: 'id=text'");
    const state = args.state ?? (await readStdin());
    const engine = await Engine.open({ ...flags, modelsDir: flags.models });
    try {
      const request = { model: flags.model, state, questions };
      const decision = await engine.decide(request, { limits: "split", chunk: chunkOptionsOf(flags) });
      const { chunked } = decision;
      if (flags.json) {
        const chunks = chunked === undefined ? [] : [["chunks", chunkedToJson(chunked, flags)] as const];
        this.log(stringifyJson(new Map([...decisionToJson(decision), ...chunks])));
        return;
      }
      this.log(drawAnswers(decision.answers));
      const parts = chunked === undefined ? "" : `, ${chunked.chunks.length} chunks`;
      this.log(`\n${decision.model} (${explainRoute(decision.route)}), ${decision.usage.inputTokens} tokens${parts}`);
    } finally {
      await engine.close();
    }
  }
}

async function readStdin(): Promise<string> {
  if (process.stdin.isTTY)
    throw new QaError(
      "invalid_usage",
      "no text; pass it as an argument or pipe it in, e.g. qa ask --preset triage < mail.txt",
    );
  return (await text(process.stdin)).replace(/\r?\n$/, "");
}
