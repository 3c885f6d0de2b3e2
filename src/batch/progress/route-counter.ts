/** Answered rows by who answered them and why, without the details that vary from row to row. */

import type { AnsweredBy } from "../answerer.js";

export interface RouteCounts {
  readonly model: string;
  /** Without the details that vary from row to row. */
  readonly reason: string;
  readonly count: number;
}

type RouteSnapshot = readonly (readonly [model: string, reason: string, count: number])[];

const MAX_ROUTES = 200;

/** A counter that goes on from a snapshot. */
export function createRouteCounter(from: RouteSnapshot = []) {
  const counts = new Map(from.map(([model, reason, count]) => [keyOf(model, reason), { model, reason, count }]));
  return {
    counts: counts as ReadonlyMap<string, RouteCounts>,
    add(model: string, { reason }: AnsweredBy): void {
      const text = reasonText(reason);
      const kept = counts.has(keyOf(model, text)) || counts.size < MAX_ROUTES ? text : "other reasons";
      const route = counts.get(keyOf(model, kept)) ?? { model, reason: kept, count: 0 };
      counts.set(keyOf(model, kept), route);
      route.count++;
    },
    snapshot: (): RouteSnapshot => [...counts.values()].map(({ model, reason, count }) => [model, reason, count]),
  };
}

function keyOf(model: string, reason: string): string {
  return `${model}\n${reason}`;
}

function reasonText(reason: AnsweredBy["reason"]): string {
  switch (reason.type) {
    case "named":
      return "asked for by name";
    case "script":
      return "not in Latin script";
    case "language":
      return `language ${reason.language}`;
    case "foreign_paragraph":
      return `a paragraph in ${reason.language}`;
    case "few_letters":
      return "too short to be sure it is English";
    case "undecided":
      return "language undecided";
    case "endpoint":
      return `answered by ${reason.host}`;
    default:
      return reason satisfies never;
  }
}
