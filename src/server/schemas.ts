/**
 * JSON Schemas of the wire, for `/openapi.json`. Their limits are the parser's own constants, and tests hold the request's
 * schema and the parser to the same verdict and every response to its schema.
 */

import { MAX_LABELS, MAX_LEVELS } from "../decision/question.js";
import type { Deployment } from "../engine/deployment.js";
import { modelNames } from "../engine/deployment.js";
import { WIRE_CODES } from "./errors.js";

export type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { description: "A string, or JSON that is read as one line", type: ["string", "object", "array"] };
const optionalText: Schema = { ...text, type: ["string", "object", "array", "null"] };
const probability: Schema = { type: "number", minimum: 0, maximum: 1 };
const probabilities: Schema = {
  type: "object",
  description: "In the order of the criteria",
  additionalProperties: probability,
};
const tokens: Schema = { type: "integer", minimum: 0 };

function object(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

function closed(properties: Record<string, Schema>): Schema {
  return { ...object(properties), additionalProperties: false };
}

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

function requestSchemas(deployment: Deployment): Record<string, Schema> {
  const given = ["string", "object", "array"];
  return {
    SystemOneRequest: object(
      {
        model: {
          type: ["string", "null"],
          description: `Who answers; default ${deployment.defaultModel}`,
          examples: modelNames(deployment),
        },
        state: { ...text, description: "The text, or JSON that is read as one line, that all questions are asked of" },
        questions: {
          type: "object",
          description: `Question id -> question; at most ${deployment.limits.english.maxQuestions} a call`,
          minProperties: 1,
          additionalProperties: ref("Question"),
        },
      },
      ["model"],
    ),
    Question: { oneOf: [ref("ChoiceQuestion"), ref("NoulQuestion"), ref("ScoreQuestion")] },
    ChoiceQuestion: object(
      {
        type: { const: "choice" },
        instructions: deployment.choiceNeedsInstructions ? text : optionalText,
        criteria: {
          type: "object",
          description: "Label -> description, or null where the label says it all",
          minProperties: 1,
          maxProperties: MAX_LABELS,
          additionalProperties: optionalText,
        },
      },
      deployment.choiceNeedsInstructions ? [] : ["instructions"],
    ),
    NoulQuestion: {
      description: "Yes or no, with instructions or criteria or both",
      ...object(
        {
          type: { const: "noul" },
          instructions: optionalText,
          criteria: {
            type: ["object", "null"],
            properties: { true: optionalText, false: optionalText },
            additionalProperties: false,
          },
        },
        ["instructions", "criteria"],
      ),
      anyOf: [
        { required: ["instructions"], properties: { instructions: { type: given } } },
        ...["true", "false"].map((side) => ({
          required: ["criteria"],
          properties: { criteria: { type: "object", required: [side], properties: { [side]: { type: given } } } },
        })),
      ],
    },
    ScoreQuestion: object(
      {
        type: { const: "score" },
        instructions: optionalText,
        criteria: {
          type: "array",
          description: "Descriptions of the levels, lowest first; null is the level's number alone",
          minItems: 1,
          maxItems: MAX_LEVELS,
          items: optionalText,
        },
      },
      ["instructions"],
    ),
  };
}

const RESPONSE_SCHEMAS: Record<string, Schema> = {
  SystemOneResponse: closed({
    model: { type: "string", description: "The checkpoint that answered, never an alias" },
    answers: { type: "object", description: "In the order of the questions", additionalProperties: ref("Answer") },
    usage: closed({ input_tokens: tokens, output_tokens: { const: 0 } }),
  }),
  Answer: { oneOf: [ref("NoulAnswer"), ref("ChoiceAnswer"), ref("ScoreAnswer")] },
  NoulAnswer: closed({ type: { const: "noul" }, noul: { ...probability, description: "P(yes)" } }),
  ChoiceAnswer: closed({
    type: { const: "choice" },
    choice: { type: "string" },
    confidence: probability,
    probabilities,
  }),
  ScoreAnswer: closed({
    type: { const: "score" },
    score: { type: "number", minimum: 0, maximum: MAX_LEVELS - 1 },
    confidence: probability,
    legend: { type: "object", additionalProperties: optionalText },
    probabilities,
  }),
  ModelList: closed({
    models: {
      type: "array",
      items: closed({
        name: { type: "string" },
        description: { type: "string" },
        release_date: { type: "string", format: "date" },
      }),
    },
  }),
  Usage: closed({
    account: { type: "string" },
    month: { type: "string", pattern: "^\\d{4}-\\d{2}$" },
    used: tokens,
    allowance: { ...tokens, type: ["integer", "null"], description: "Processed tokens a month; null is unlimited" },
    remaining: { ...tokens, type: ["integer", "null"] },
    resets_at: { type: "string", format: "date-time" },
    by_day: { type: "array", items: closed({ day: { type: "string", format: "date" }, used: tokens, calls: tokens }) },
    refusals: { type: "object", description: "Error code -> refused calls", additionalProperties: tokens },
  }),
  Health: closed({ status: { const: "ok" } }),
  Readiness: closed({
    status: { enum: ["starting", "ready", "recovering", "draining"] },
    in_flight: tokens,
    limit: tokens,
    queue: tokens,
    batches: tokens,
    worker_crashes: tokens,
  }),
  Error: closed({
    error: {
      ...object({ code: { enum: WIRE_CODES }, message: { type: "string" } }),
      description: "Further members by code: issues, questions, limit, used, resets_at, ...",
    },
  }),
};

/** name -> schema, for `#/components/schemas/` of the API's document. */
export function wireSchemas(deployment: Deployment): Record<string, Schema> {
  return { ...requestSchemas(deployment), ...RESPONSE_SCHEMAS };
}
