/** All that `qa room` tells, measured: questions on their checkpoints, a state or the rows of a file, and what to change. */

import type { Question } from "../../decision/question.js";
import type { ParsedRequest, State } from "../../decision/request.js";
import { type Role, resolveModel } from "../../engine/deployment.js";
import type { Engine } from "../../engine/engine.js";
import { type CheckpointRoom, type RoomReport, roomReport } from "../../engine/room-report.js";
import { type Advice, adviseRoom, type Demand } from "./room-advice.js";
import { type MeasuredRequest, type RoomSurvey, surveyRoom } from "./room-survey.js";

export interface RoomStudy {
  /** On the checkpoints that the model named, or a row's own, reads with. */
  readonly report: RoomReport;
  /** Of the rows of a file. */
  readonly survey: RoomSurvey | undefined;
  readonly advice: readonly Advice[];
}

export interface RoomSubject {
  /** None where every row carries its own. */
  readonly questions: readonly Question[];
  readonly model: string | undefined;
  readonly state?: State | undefined;
  readonly rows?: AsyncIterable<MeasuredRequest> | undefined;
  /** Called after each row with the number so far. */
  readonly onRow?: ((rows: number) => void) | undefined;
}

/**
 * Measures questions, with a state or with rows; nothing is answered.
 * @throws QaError `unknown_model`, `checkpoint_missing`, `checkpoint_damaged`, those of `rows`
 */
export async function studyRoom(engine: Engine, subject: RoomSubject): Promise<RoomStudy> {
  const { questions, model, state, rows, onRow } = subject;
  const target = resolveModel(engine.deployment, model);
  const report = await roomReport(engine, { questions, model, state });
  const bare = await roomReport(engine, { questions: questions.map(bareQuestion), model, state: undefined });
  const requests = rows ?? (state === undefined ? undefined : oneRow({ questions, model, state }));
  const survey = requests === undefined ? undefined : await surveyRoom(engine, requests, { onRow });
  // a row may name another model than the one that all are asked of
  const read = ({ role }: { role: Role }) =>
    target.type === "routed" || target.role === role || survey?.checkpoints.has(role) === true;
  const demands = demandsOf(report, { bare: bare.checkpoints, survey }).filter(({ checkpoint }) => read(checkpoint));
  const multilingual = report.checkpoints.find(({ role }) => role === "multilingual")?.checkpoint ?? "";
  return {
    report: { ...report, checkpoints: report.checkpoints.filter(read) },
    survey: rows === undefined ? undefined : survey,
    advice: adviseRoom({
      demands,
      measured: survey?.rows ?? 0,
      unfit: survey?.unfit.count ?? 0,
      elsewhere: { states: survey?.unfitButMultilingual ?? 0, checkpoint: multilingual },
      chunked: survey?.chunked ?? { rows: 0, chunks: 0 },
    }),
  };
}

/** A question without its instructions and descriptions: nobody can shorten it further. */
function bareQuestion(question: Question): Question {
  const options = question.options.map(({ label }) => ({ label, description: undefined }));
  return { ...question, instructions: undefined, options };
}

async function* oneRow(request: ParsedRequest): AsyncGenerator<MeasuredRequest, void, undefined> {
  yield { row: { place: { file: "", line: 1, index: 0 } }, request, own: false };
}

function demandsOf(
  { checkpoints }: RoomReport,
  { bare, survey }: { bare: readonly CheckpointRoom[]; survey: RoomSurvey | undefined },
): Demand[] {
  return checkpoints.flatMap((checkpoint): Demand[] => {
    const asked = survey?.checkpoints.get(checkpoint.role);
    const own = bare.find(({ role }) => role === checkpoint.role);
    const states = asked?.sharedStates.count ?? 0;
    if (own === undefined || (survey !== undefined && states === 0)) return [];
    return [
      {
        checkpoint,
        bare: own,
        states,
        longestFit: asked?.longestFit ?? 0,
        tokensAt: (share) => asked?.sharedStates.atShare(share) ?? 0,
      },
    ];
  });
}
