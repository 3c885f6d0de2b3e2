/** What `qa serve` prints at its start: where it listens, who answers, and the lines that point the official clients here. */

import type { Serving } from "./serve.js";

export function announce({ url, checkpoints, newKey }: Serving, requireKey: boolean): string {
  const key = newKey ?? (requireKey ? "<your key>" : "none");
  return [
    `qa serves ${url}, and a page to try it at ${url}/app`,
    `checkpoints: ${checkpoints.join(", ")}`,
    "",
    ...(newKey === undefined ? [] : ["A key was made for the account default. It is shown this once; keep it.", ""]),
    ...(requireKey && newKey === undefined
      ? ["Keys are shown once, when made; `qa keys create` makes another.", ""]
      : []),
    "The official clients call here with",
    `export TYPESAFE_BASE_URL=${url}`,
    `export TYPESAFE_API_KEY=${key.includes(" ") ? `'${key}'` : key}`,
    "export TYPESAFE_DEFAULT_MODEL=compat-latest",
  ].join("\n");
}
