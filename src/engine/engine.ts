/**
 * The engine: a request in, a decision out. Routes the state, finds the question set's compiled form, lets the scheduler read
 * the state once for all questions, and turns logits into answers. Owns the models it opened and the inference pool.
 */

import { type EngineConfig, type EngineOptions, resolveEngineConfig } from "../config.js";
import { softmax, temperatureOf } from "../decision/calibration.js";
import { type JsonValue, renderText } from "../decision/json.js";
import type { Question } from "../decision/question.js";
import type { ParsedRequest, State } from "../decision/request.js";
import { inputTokensOf } from "../decision/room.js";
import { type ErrorCode, type QaError, toQaError } from "../errors.js";
import { readFingerprint } from "./checkpoint.js";
import { answersFrom, type ChunkOptions, decideInChunks } from "./chunked-reading.js";
import type { Decision } from "./decision.js";
import { type Deployment, loadDeployment, type Role, resolveModel } from "./deployment.js";
import { assertQuestionsStartFit, assertStateStartFits } from "./early-refusal.js";
import type { Inference } from "./inference.js";
import { loadLanguageDetector } from "./language-detector.js";
import { mapOrdered } from "./map-ordered.js";
import { loadModel, type Model } from "./model.js";
import { type QuestionSet, QuestionSetCache } from "./question-set.js";
import { assertQuestionsFit, assertStateReadable, type Reading } from "./reading.js";
import { type DetectLanguage, type Route, routeState } from "./router.js";
import { Scheduler } from "./scheduler.js";
import { WorkerPool } from "./worker-pool.js";

export interface DecideOptions {
  /**
   * `call` (default): over the cap or the number of questions is an error, as the API has it. `split`: such questions are
   * as many calls as it takes; the state is still read once.
   */
  readonly limits?: "call" | "split" | undefined;
  /** Have states over the room answered in chunks; an error without. */
  readonly chunk?: ChunkOptions | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PrepareOptions {
  /** For those who cannot wait for the exact length of a text that is far too long. */
  readonly refuseEarly?: boolean;
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
   * Opens an engine; a checkpoint is loaded and verified when the first request needs it.
   * @param inference in place of worker threads, for tests
   * @throws QaError `unknown_deployment`
   */
  static async open(options: EngineOptions = {}, inference?: Inference): Promise<Engine> {
    const config = resolveEngineConfig(options);
    const deployment = await loadDeployment(config.deployment, config.deploymentsDir);
    return new Engine(config, deployment, inference ?? WorkerPool.open(config.workers));
  }

  /** States waiting and batches running. */
  get load(): { waiting: number; running: number } {
    return this.#scheduler.load;
  }

  /** Inference workers that ended unasked and were replaced. */
  get workerCrashes(): number {
    return this.#inference.crashes ?? 0;
  }

  /**
   * The model of a role, loaded and verified once.
   * @throws QaError `checkpoint_missing`, `checkpoint_damaged`
   */
  model(role: Role): Promise<Model> {
    const known = this.#models.get(role);
    if (known !== undefined) return known;
    const model = loadModel(this.deployment, role, this.config.modelsDir);
    this.#models.set(role, model);
    model.catch(() => this.#models.delete(role)); // once restored, the next request reads it
    return model;
  }

  /**
   * Loads checkpoints, both by default, and opens them in every worker, so that no request waits for that.
   * @throws QaError `checkpoint_missing`, `checkpoint_damaged`, `worker_crashed`
   */
  async warm(roles: readonly Role[] = ["english", "multilingual"]): Promise<void> {
    for (const role of roles) {
      const { familyCheckpoint, tokenizer } = await this.model(role);
      const { cls, sep, mask } = tokenizer.special;
      const smallest = [{ type: "noul" as const, head: [cls, sep], options: [[mask], [mask]] }];
      // as many tasks as workers: the pool gives each to an idle or a new one
      await Promise.all(
        Array.from({ length: this.config.workers }, () => this.#inference.compile(familyCheckpoint, smallest)),
      );
    }
  }

  /**
   * What decides the answers of this engine, as plain JSON: its deployment and the fingerprints of both checkpoints.
   * @throws QaError `checkpoint_missing`, `checkpoint_damaged`
   */
  async identity(): Promise<{ readonly [key: string]: JsonValue }> {
    const { checkpoints, limits, routing, aliases, defaultModel, name } = this.deployment;
    const [english, multilingual] = await Promise.all(
      [checkpoints.english, checkpoints.multilingual].map(async (checkpoint) => {
        const fingerprint = await readFingerprint(checkpoint, this.config.modelsDir);
        return `${checkpoint} ${fingerprint.slice(0, 16)}`;
      }),
    );
    return JSON.parse(
      JSON.stringify({
        deployment: name,
        english,
        multilingual,
        limits,
        routing,
        aliases,
        default_model: defaultModel,
      }),
    );
  }

  /** The questions as a model reads them, whether they fit or not; nothing is encoded yet. */
  questionSet(questions: readonly Question[], model: Model): QuestionSet {
    return this.#questionSets.get(questions, model);
  }

  /**
   * A request routed and tokenised, not yet held to any limit; with `refuseEarly`, a text whose first part alone is too long is
   * not read to its end.
   * @throws QaError `unknown_model`, `checkpoint_missing`, `checkpoint_damaged`; early `state_too_long`,
   * `question_too_long`, `processed_tokens_exceeded`
   */
  async prepare(request: ParsedRequest, { refuseEarly = false }: PrepareOptions = {}): Promise<Reading> {
    const route = await this.#route(request.state, request.model);
    const model = await this.model(route.role);
    if (refuseEarly) assertQuestionsStartFit(request.questions, model);
    const set = this.questionSet(request.questions, model);
    const text = renderText(request.state);
    if (refuseEarly) assertStateStartFits(text, { request, route, model, set });
    return { request, route, model, set, stateIds: model.tokenizer.tokenize(text) };
  }

  /**
   * Answers one request.
   * @throws QaError those of `prepare`, `too_many_questions`, `question_too_long`, `too_many_options`, `state_too_long`,
   * `processed_tokens_exceeded`, `worker_crashed`, `aborted`
   */
  async decide(request: ParsedRequest, options: DecideOptions = {}): Promise<Decision> {
    return this.answer(await this.prepare(request), options);
  }

  /**
   * Answers a prepared request: for those who weigh its cost in between.
   * @throws QaError those of `decide` that `prepare` has not thrown
   */
  async answer(reading: Reading, { limits = "call", chunk, signal }: DecideOptions = {}): Promise<Decision> {
    const { request, route, model, set, stateIds } = reading;
    const named = { model: model.checkpoint.name, route };
    assertQuestionsFit(reading, limits);
    if (chunk !== undefined && stateIds.length > set.room)
      return { ...named, ...(await decideInChunks(reading, chunk, (ids) => this.#read(reading, ids, signal))) };
    assertStateReadable(reading, limits);
    return {
      ...named,
      answers: answersFrom(request.questions, await this.#read(reading, stateIds, signal)),
      usage: { inputTokens: inputTokensOf(set.prefixTokens, stateIds.length) },
    };
  }

  /**
   * Answers many requests, outcomes in order, with a bounded number in hand. A request's error is its outcome; only a
   * missing or damaged checkpoint ends the whole.
   */
  decideAll<T extends { readonly request: ParsedRequest | QaError }>(
    items: AsyncIterable<T> | Iterable<T>,
    options: DecideOptions = {},
  ): AsyncGenerator<{ readonly item: T; readonly outcome: Decision | QaError }, void, undefined> {
    return mapOrdered(items, this.config.windowRows, async (item) => {
      if (item.request instanceof Error) return { item, outcome: item.request };
      const outcome = await this.decide(item.request, options).catch(outcomeOfError);
      return { item, outcome };
    });
  }

  /** Ends the inference workers; what still waits is aborted. */
  close(): Promise<void> {
    return this.#inference.close();
  }

  async #route(state: State, name: string | undefined): Promise<Route> {
    const target = resolveModel(this.deployment, name);
    if (target.type === "role") return { role: target.role, reason: { type: "named" } };
    this.#detector ??= loadLanguageDetector();
    return routeState(state, this.deployment.routing, await this.#detector);
  }

  /** Probabilities of each question's options for one state, in order. */
  async #read(
    { request, model, set }: Reading,
    stateIds: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<number[][]> {
    const logits = await this.#scheduler.submit({
      checkpoint: model.familyCheckpoint,
      stateIds,
      prefix: await set.compiled(),
      prefixTokens: set.totalPrefixTokens,
      signal,
    });
    let at = 0;
    return request.questions.map(({ type, options }) => {
      const own = logits.subarray(at, at + options.length);
      at += options.length;
      return softmax(own, temperatureOf(model.checkpoint.calibration, type, options.length));
    });
  }
}

/** What no request can do without. */
const ENDS_ALL: ReadonlySet<ErrorCode> = new Set(["checkpoint_missing", "checkpoint_damaged", "endpoint_unusable"]);

/** What one request of many ends with. @throws QaError `checkpoint_missing`, `checkpoint_damaged`, `endpoint_unusable` */
export function outcomeOfError(error: unknown): QaError {
  const failure = toQaError(error);
  if (ENDS_ALL.has(failure.code)) throw failure;
  return failure;
}
