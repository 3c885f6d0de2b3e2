/** The public API. */

export type { EngineOptions } from "./config.js";
export { type CombineRules, DEFAULT_COMBINE_RULES } from "./decision/combine.js";
export {
  type AnswerOptions,
  type AnswerTo,
  type ChoiceQuestion,
  type NoulQuestion,
  type Outcome,
  openEngine,
  type QaEngine,
  type Questions,
  type Request,
  type Response,
  type ScoreQuestion,
  type Text,
} from "./engine/api.js";
export type { ChunkOptions } from "./engine/chunked-reading.js";
export type { CheckpointRoom, QuestionTokens, RoomReport, StateRoom } from "./engine/room-report.js";
export { type ErrorCode, QaError } from "./errors.js";
