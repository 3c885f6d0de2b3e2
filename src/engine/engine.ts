/**
 * The engine: a request in, a decision out. Routes the state, finds the question set's compiled form, lets the scheduler read
 * the state once for all questions, and turns logits into answers. Owns the models it opened and the inference pool.
 */

import { type Answers, answerOf } from "../decision/answer.js";
import { softmax, temperatureOf } from "../decision/calibration.js";
import { type JsonValue, renderText } from "../decision/json.js";
import type { Question } from "../decision/question.js";
import type { ParsedRequest, State } from "../decision/request.js";
import { costOf, inputTokensOf } from "../decision/room.js";
import { type EngineConfig, type EngineOptions, resolveEngineConfig } from "../config.js";
import { QaError } from "../errors.js";
import { type Deployment, loadDeployment, modelNames, type Role, resolveModel } from "./deployment.js";
import type { Inference } from "./inference.js";
import { loadLanguageDetector } from "./language-detector.js";
import { loadModel, type Model } from "./model.js";
import { assertRoom, type QuestionSet, QuestionSetCache } from "./question-set.js";
import { type DetectLanguage, type Route, routeState } from "./router.js";
import { Scheduler } from "./scheduler.js";
import { WorkerPool } from "./worker-pool.js";

/** What the engine decided about one request. */
export interface Decision {
  /** The concrete checkpoint that answered. */
  readonly model: string;
  readonly answers: Answers;
  readonly usage: { readonly inputTokens: number };
  readonly route: Route;
}

/** How strictly a request is held to the limits of one call. */
export interface DecideOptions {
  /**
   * `call`: as the API has it, errors over the cap or the number of questions. `split`: questions over them are as many
   * calls as it takes; the state is still read once.
   */
  readonly limits?: "call" | "split";
  readonly signal?: AbortSignal | undefined;
}

export class Engine {
  readonly config: EngineConfig;
  readonly deployment: Deployment;
  readonly #inference: Inference;
  readonly #scheduler: Scheduler;
  readonly #questionSets: QuestionSetCache;
  readonly #models = new Map<Role, Promise<Model>>();
  #detector: Promise<DetectLanguage> | undefined;

  private constructor(config: EngineConfig, deployment: Deployment, inference: Inference) {
    this.config = config;
    this.deployment = deployment;
    this.#inference = inference;
    this.#scheduler = new Scheduler(inference, config.maxBatchTokens);
    this.#questionSets = new QuestionSetCache(inference, config.maxQuestionSetBytes);
  }

  /**
   * Opens an engine; checkpoints are loaded and verified when the first request needs them.
   * @param inference in place of worker threads, for tests
   * @throws QaError `unknown_deployment`
   */
  static async open(options: EngineOptions = {}, inference?: Inference): Promise<Engine> {
    const config = resolveEngineConfig(options);
    const deployment = await loadDeployment(config.deployment, config.deploymentsDir);
    return new Engine(config, deployment, inference ?? WorkerPool.open(config.workers));
  }

  /** The names a request may use. */
  get modelNames(): readonly string[] {
    return modelNames(this.deployment);
  }

  /** The model of a role, loaded and verified once. */
  model(role: Role): Promise<Model> {
    const model = this.#models.get(role) ?? loadModel(this.deployment, role, this.config.modelsDir);
    this.#models.set(role, model);
    return model;
  }

  /** Which model a state goes to under a name, and why. */
  async route(state: State, name: string | undefined): Promise<Route> {
    const target = resolveModel(this.deployment, name);
    if (target.type === "role") return { role: target.role, reason: { type: "named" } };
    this.#detector ??= loadLanguageDetector();
    return routeState(state, this.deployment.routing, await this.#detector);
  }

  /** The questions as a model reads them, whether they fit or not. */
  questionSet(questions: readonly Question[], model: Model): QuestionSet {
    return this.#questionSets.get(questions, model);
  }

  /**
   * Answers one request.
   * @throws QaError `unknown_model`, `too_many_questions`, `question_too_long`, `too_many_options`, `state_too_long`,
   * `processed_tokens_exceeded`, `checkpoint_missing`, `checkpoint_damaged`, `worker_crashed`, `aborted`
   */
  async decide(request: ParsedRequest, options: DecideOptions = {}): Promise<Decision> {
    const { questions, state } = request;
    const route = await this.route(state, request.model);
    const model = await this.model(route.role);
    if (options.limits !== "split") assertQuestionCount(questions.length, model);
    const set = this.questionSet(questions, model);
    assertRoom(set, questions, model);
    const stateIds = model.tokenizer.tokenize(renderText(state));
    assertStateFits(stateIds.length, questions, set);
    if (options.limits !== "split") assertCost(stateIds.length, set, model);
    const probabilities = await this.#probabilities(stateIds, { model, set, questions, signal: options.signal });
    return {
      model: model.checkpoint.name,
      answers: new Map(questions.map((question, i) => [question.id, answerOf(question, probabilities[i] ?? [])])),
      usage: { inputTokens: inputTokensOf(set.prefixTokens, stateIds.length) },
      route,
    };
  }

  async #probabilities(
    stateIds: readonly number[],
    { model, set, questions, signal }: Reading,
  ): Promise<readonly number[][]> {
    const logits = await this.#scheduler.submit({
      checkpoint: model.familyCheckpoint,
      stateIds,
      prefix: await set.compiled(),
      prefixTokens: set.totalPrefixTokens,
      signal,
    });
    let at = 0;
    return questions.map(({ type, options }) => {
      const own = logits.subarray(at, at + options.length);
      at += options.length;
      return softmax(own, temperatureOf(model.checkpoint.calibration, type, options.length));
    });
  }

  /** Ends the inference workers; what still waits is aborted. */
  close(): Promise<void> {
    return this.#inference.close();
  }
}

interface Reading {
  readonly model: Model;
  readonly set: QuestionSet;
  readonly questions: readonly Question[];
  readonly signal: AbortSignal | undefined;
}

function assertQuestionCount(questions: number, { limits: { maxQuestions: limit } }: Model): void {
  if (questions <= limit) return;
  throw new QaError("too_many_questions", `${questions} questions are over the ${limit} of one call; ask them in several`, {
    details: { questions, limit },
  });
}

function assertStateFits(stateTokens: number, questions: readonly Question[], set: QuestionSet): void {
  if (stateTokens <= set.room) return;
  throw new QaError(
    "state_too_long",
    `the state has ${stateTokens} tokens and the tightest question leaves room for ${set.room}; shorten the state, the question, or answer it in chunks`,
    { details: { state_tokens: stateTokens, questions: roomsOf(stateTokens, questions, set) } },
  );
}

function roomsOf(stateTokens: number, questions: readonly Question[], { rooms }: QuestionSet): JsonValue {
  return new Map(questions.map(({ id }, i) => [id, { room: rooms[i] ?? 0, fits: stateTokens <= (rooms[i] ?? 0) }]));
}

function assertCost(stateTokens: number, { prefixTokens }: QuestionSet, { limits: { cap } }: Model): void {
  const cost = costOf(prefixTokens, stateTokens);
  if (cost <= cap) return;
  const longest = Math.max(...prefixTokens) + stateTokens + 1;
  throw new QaError(
    "processed_tokens_exceeded",
    `${prefixTokens.length} questions x ${longest} tokens cost ${cost}, over the cap of ${cap}; ask fewer questions a call or shorten the longest`,
    { details: { cost, cap, questions: prefixTokens.length, longest_sequence: longest } },
  );
}
