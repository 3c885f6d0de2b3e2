/** What the server hands to the playground as JSON. No imports: the browser reads it too. */

export interface PageData {
  readonly keyRequired: boolean;
  readonly choiceNeedsInstructions: boolean;
  readonly presets: readonly PagePreset[];
}

export interface PagePreset {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** JSON text of the wire's `questions`: as a JavaScript object it would lose the order of labels like "10". */
  readonly questions: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly title: string;
  readonly text: string;
  /** Whether the text is a JSON state. */
  readonly isJson: boolean;
}
