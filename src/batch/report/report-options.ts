/** Which of a command's flags a report names: those that say what was asked and how. An allowlist, so that no secret of a later flag gets into a report. Pure. */

const REPORTED = [
  "questions",
  "preset",
  "from",
  "to",
  "state-column",
  "template",
  "state-json",
  "delimiter",
  "limit",
  "sample",
  "seed",
  "shard",
  "rejects",
  "max-errors",
  "retry-failed",
  "only-answers",
  "id-column",
  "probabilities",
  "long",
  "overlap",
  "combine",
  "explain",
  "uncertain",
  "model",
  "deployment",
  "workers",
  "batch-tokens",
  "cache",
] as const;

/** The flags that were given, in a fixed order; `isDefault` tells those that were not. */
export function reportedOptions(
  flags: Readonly<Record<string, unknown>>,
  isDefault: (name: string) => boolean,
): Readonly<Record<string, string | number | boolean>> {
  const given = REPORTED.flatMap((name) => {
    const value = flags[name];
    const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return isPlain && !isDefault(name) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}
