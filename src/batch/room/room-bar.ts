/** The window of one question as a bar: what its head, its options and a state take, and what is left. */

export const WINDOW_BAR = { head: "█", options: "▒", state: "░", end: "┃", room: "·", over: "▶" } as const;

export interface WindowParts {
  readonly window: number;
  /** Tokens of the head with its special tokens. */
  readonly head: number;
  /** Tokens of head, options and separator. */
  readonly prefix: number;
  readonly room: number;
  /** Tokens of the state that is read; absent where only the room is shown. */
  readonly state?: number | undefined;
}

/**
 * A bar of exactly `width` columns, at least 5. Head, options and room have at least one column each; `┃` is where the
 * state ends, `▶` stands where options or state go on past the window.
 */
export function drawWindow(parts: WindowParts, width: number): string {
  const columnOf = (tokens: number) => Math.round((tokens / parts.window) * width);
  const head = clamp(columnOf(parts.head), 1, width - 2);
  if (parts.room <= 0)
    return WINDOW_BAR.head.repeat(head) + WINDOW_BAR.options.repeat(width - head - 1) + WINDOW_BAR.over;
  const prefix = clamp(columnOf(parts.prefix), head + 1, width - 1);
  const taken = WINDOW_BAR.head.repeat(head) + WINDOW_BAR.options.repeat(prefix - head);
  if (parts.state === undefined) return taken + WINDOW_BAR.room.repeat(width - prefix);
  if (parts.state > parts.room) return taken + WINDOW_BAR.state.repeat(width - prefix - 1) + WINDOW_BAR.over;
  const end = clamp(columnOf(parts.prefix + parts.state), prefix + 1, width);
  return taken + WINDOW_BAR.state.repeat(end - prefix - 1) + WINDOW_BAR.end + WINDOW_BAR.room.repeat(width - end);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
