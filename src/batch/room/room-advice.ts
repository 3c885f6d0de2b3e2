/** What to change where something does not fit: only what is sure to help, with the numbers that make it sure. Pure. */

import type { CheckpointRoom, QuestionTokens } from "../../engine/room-report.js";

/** What the states of a checkpoint ask of its questions. */
export interface Demand {
  readonly checkpoint: CheckpointRoom;
  /** The same questions without instructions and descriptions: what shortening cannot go below. */
  readonly bare: CheckpointRoom;
  /** States that are asked these questions; 0 where only the questions are looked at. */
  readonly states: number;
  /** Tokens of the longest state that fits; 0 where none does. */
  readonly longestFit: number;
  /** Tokens that a share of the states has at most. */
  readonly tokensAt: (share: number) => number;
}

export interface AdviceFacts {
  readonly demands: readonly Demand[];
  /** All states, also those with questions of their own. */
  readonly measured: number;
  /** States that do not fit, also those with questions of their own. */
  readonly unfit: number;
  /** Of these, those that another checkpoint would hold. */
  readonly elsewhere: { readonly states: number; readonly checkpoint: string } | undefined;
  /** What `--long chunk` would make of those that leave any room. */
  readonly chunked: { readonly rows: number; readonly chunks: number };
}

/** A part of a question that can be shortened. */
interface LongPart {
  /** The option's label; of the instructions none. */
  readonly part: string | undefined;
  readonly tokens: number;
}

export interface Shortening {
  readonly question: string;
  /** Tokens of head and options. */
  readonly tokens: number;
  /** Tokens that must go for a share of the states to fit, the largest share first; only what can go. */
  readonly removals: readonly { readonly share: number; readonly remove: number }[];
  /** The longest first. */
  readonly longest: readonly LongPart[];
}

export type Advice =
  | {
      readonly type: "shorten";
      readonly checkpoint: string;
      readonly states: number;
      readonly questions: readonly Shortening[];
    }
  | {
      readonly type: "other_checkpoint";
      readonly checkpoint: string;
      readonly states: number;
      readonly unfit: number;
      readonly measured: number;
    }
  | { readonly type: "chunk"; readonly states: number; readonly unfit: number; readonly chunks: number }
  | {
      readonly type: "set_apart";
      readonly checkpoint: string;
      readonly questions: readonly string[];
      readonly fitting: number;
    }
  | {
      readonly type: "split_calls";
      readonly checkpoint: string;
      readonly questions: number;
      readonly cost: number;
      readonly cap: number;
      readonly perCall: number;
    };

/** Shares of the states that shortening may make fit. */
const SHARES = [1, 0.99, 0.95];
const LONGEST_PARTS = 3;
/** More than this share of its texts cannot go from a question that shall still say what it asks. */
const MOST_CUT = 0.5;

/** What to change, the least trouble first; nothing where all fits. */
export function adviseRoom({ demands, measured, unfit, elsewhere, chunked }: AdviceFacts): Advice[] {
  return [
    ...demands.flatMap(adviseShortening),
    ...(elsewhere === undefined || elsewhere.states === 0
      ? []
      : [{ type: "other_checkpoint" as const, ...elsewhere, unfit, measured }]),
    ...(chunked.rows === 0 ? [] : [{ type: "chunk" as const, states: chunked.rows, unfit, chunks: chunked.chunks }]),
    ...demands.flatMap(adviseSettingApart),
    ...demands.flatMap(adviseSplitting),
  ];
}

function adviseShortening(demand: Demand): Advice[] {
  const goals = SHARES.map((share) => goalOf(demand, share)).filter(
    ({ reachable, tight }) => reachable && tight.length > 0,
  );
  const [highest] = goals;
  if (highest === undefined) return [];
  const questions = [...highest.tight]
    .sort((a, b) => a.question.room - b.question.room)
    .map(({ question, spares }) => ({
      question: question.id,
      tokens: question.prefix,
      removals: removalsOf(question, goals),
      longest: longestParts(question, spares),
    }));
  return [{ type: "shorten", checkpoint: demand.checkpoint.checkpoint, states: demand.states, questions }];
}

/** A lower share that asks for as much as a higher one says nothing. */
function removalsOf({ room }: QuestionTokens, goals: readonly Goal[]): Shortening["removals"] {
  return goals
    .filter(({ tokens }, i) => tokens > room && tokens < (goals[i - 1]?.tokens ?? Number.POSITIVE_INFINITY))
    .map(({ share, tokens }) => ({ share, remove: tokens - room }));
}

interface Goal {
  readonly share: number;
  /** Tokens that this share of the states has at most. */
  readonly tokens: number;
  /** The questions that leave fewer. */
  readonly tight: readonly Tight[];
  /** Whether these can be shortened enough. */
  readonly reachable: boolean;
}

interface Tight {
  readonly question: QuestionTokens;
  readonly spares: Spares;
}

function goalOf(demand: Demand, share: number): Goal {
  const tokens = Math.max(1, demand.states === 0 ? 1 : demand.tokensAt(share));
  const tight = demand.checkpoint.questions.flatMap((question, i): Tight[] => {
    const bare = demand.bare.questions[i];
    return question.room >= tokens || bare === undefined ? [] : [{ question, spares: sparesOf(question, bare) }];
  });
  const reachable = tight.every(
    ({ question, spares }) => tokens - question.room <= MOST_CUT * (spares.head + sum(spares.options)),
  );
  return { share, tokens, tight, reachable };
}

/** Tokens that can go from the parts of a question. */
interface Spares {
  readonly head: number;
  readonly options: readonly number[];
}

function sparesOf(question: QuestionTokens, bare: QuestionTokens): Spares {
  return {
    head: Math.max(0, question.head - bare.head),
    options: question.options.map(({ tokens }, i) => Math.max(0, tokens - (bare.options[i]?.tokens ?? tokens))),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function longestParts(question: QuestionTokens, spares: Spares): LongPart[] {
  const parts = [
    { part: undefined, tokens: question.head, spare: spares.head },
    ...question.options.map(({ label, tokens }, i) => ({ part: label, tokens, spare: spares.options[i] ?? 0 })),
  ];
  return parts
    .filter(({ spare }) => spare > 0)
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, LONGEST_PARTS)
    .map(({ part, tokens }) => ({ part, tokens }));
}

function adviseSettingApart(demand: Demand): Advice[] {
  const { checkpoint, questions } = demand.checkpoint;
  const { tight } = goalOf(demand, 1);
  const fitting = questions.length - tight.length;
  if (tight.length === 0 || fitting === 0) return [];
  return [{ type: "set_apart", checkpoint, questions: tight.map(({ question }) => question.id), fitting }];
}

function adviseSplitting({ checkpoint, states, longestFit }: Demand): Advice[] {
  const { questions, cap, maxQuestions } = checkpoint;
  if (states === 0 || longestFit === 0 || questions.length === 0) return [];
  const longest = Math.max(...questions.map(({ prefix }) => prefix)) + longestFit + 1;
  const perCall = Math.max(1, Math.min(maxQuestions, Math.floor(cap / longest)));
  if (perCall >= questions.length) return [];
  const cost = questions.length * longest;
  return [{ type: "split_calls", checkpoint: checkpoint.checkpoint, questions: questions.length, cost, cap, perCall }];
}
