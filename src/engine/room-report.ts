/** What `qa room` tells before anything runs: each question's tokens and room on each checkpoint, and what a state would cost. */

import type { Question } from "../decision/question.js";
import type { ParsedRequest } from "../decision/request.js";
import { fitOfPrefix, type PrefixFit } from "../decision/room.js";
import type { Role } from "./deployment.js";
import type { Engine } from "./engine.js";
import type { Model } from "./model.js";
import type { QuestionSet } from "./question-set.js";
import { type Measure, measureOf } from "./reading.js";
import { explainRoute } from "./router.js";

export interface RoomReport {
  readonly checkpoints: readonly CheckpointRoom[];
  readonly state?: StateRoom;
}

export interface CheckpointRoom {
  readonly role: Role;
  readonly checkpoint: string;
  /** Tokens of one sequence. */
  readonly window: number;
  /** Processed tokens of one call. */
  readonly cap: number;
  readonly maxQuestions: number;
  readonly questions: readonly QuestionTokens[];
}

export interface QuestionTokens {
  readonly id: string;
  readonly type: Question["type"];
  /** Tokens of the head with its two special tokens. */
  readonly head: number;
  /** Tokens of each option with its marker, in order. */
  readonly options: readonly { readonly label: string; readonly tokens: number }[];
  /** head + options + separator. */
  readonly prefix: number;
  /** Tokens left for the state. */
  readonly room: number;
  readonly fit: PrefixFit;
  /** Groups of options that the checkpoint's own limits make identical. */
  readonly collisions: readonly (readonly string[])[];
}

export interface StateRoom extends Measure {
  readonly role: Role;
  readonly checkpoint: string;
  /** Why it is routed there, in words. */
  readonly reason: string;
  readonly questions: readonly { readonly id: string; readonly room: number; readonly fits: boolean }[];
}

/**
 * Measures questions on both checkpoints, and a state where there is one, on the checkpoint it would go to.
 * @throws QaError `unknown_model`, `checkpoint_missing`, `checkpoint_damaged`
 */
export async function roomReport(
  engine: Engine,
  request: Omit<ParsedRequest, "state"> & { readonly state: ParsedRequest["state"] | undefined },
): Promise<RoomReport> {
  const { questions, state } = request;
  const roles: readonly Role[] = ["english", "multilingual"];
  const checkpoints = await Promise.all(
    roles.map(async (role) => {
      const model = await engine.model(role);
      return checkpointRoom(role, model, { questions, set: engine.questionSet(questions, model) });
    }),
  );
  if (state === undefined) return { checkpoints };
  const reading = await engine.prepare({ ...request, state });
  const measure = measureOf(reading);
  const { route, model, set } = reading;
  return {
    checkpoints,
    state: {
      ...measure,
      role: route.role,
      checkpoint: model.checkpoint.name,
      reason: explainRoute(route),
      questions: questions.map(({ id }, i) => {
        const room = set.rooms[i] ?? 0;
        return { id, room, fits: measure.stateTokens <= room };
      }),
    },
  };
}

function checkpointRoom(
  role: Role,
  { checkpoint, limits }: Model,
  { questions, set }: { questions: readonly Question[]; set: QuestionSet },
): CheckpointRoom {
  return {
    role,
    checkpoint: checkpoint.name,
    ...limits,
    questions: questions.map(({ id, type, options }, i) => {
      const segments = set.segments[i] ?? { head: [], options: [], prefixTokens: 0, collisions: [] };
      return {
        id,
        type,
        head: segments.head.length,
        options: options.map(({ label }, o) => ({ label, tokens: segments.options[o]?.length ?? 0 })),
        prefix: segments.prefixTokens,
        room: set.rooms[i] ?? 0,
        fit: fitOfPrefix(segments, limits.window),
        collisions: segments.collisions,
      };
    }),
  };
}
