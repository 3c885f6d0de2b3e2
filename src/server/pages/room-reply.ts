/** What `POST /app/room` answers: the part of the engine's room report that the playground shows. No imports: the browser reads it too. */

export type RoomReply = MeasuredRoom | RefusedRoom;

/** Too much to measure: too many questions, a state far over every room, an unknown model. No error, since nothing was asked. */
export interface RefusedRoom {
  readonly type: "refused";
  readonly message: string;
}

export interface MeasuredRoom {
  readonly type: "measured";
  readonly checkpoints: readonly {
    readonly checkpoint: string;
    readonly window: number;
    readonly maxQuestions: number;
    readonly questions: readonly QuestionRoomReply[];
  }[];
  readonly state: {
    readonly checkpoint: string;
    /** Why the state is read by that checkpoint, in words. */
    readonly reason: string;
    readonly stateTokens: number;
    readonly fits: boolean;
    readonly cost: number;
    readonly cap: number;
    /** Calls within the cap that the questions would be split over. */
    readonly calls: number;
  };
}

export interface QuestionRoomReply {
  readonly id: string;
  readonly head: number;
  readonly options: readonly { readonly label: string; readonly tokens: number }[];
  readonly prefix: number;
  /** Tokens left for the state. */
  readonly room: number;
  readonly fit: "fits" | "question_too_long" | "too_many_options";
  readonly collisions: readonly (readonly string[])[];
}
