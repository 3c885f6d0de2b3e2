/** A deployment: which checkpoints answer, under which names, limits and routing rules. One JSON file each (CONTRACT 4). */

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Limits } from "../decision/room.js";
import { QaError } from "../errors.js";
import type { RoutingRules } from "./router.js";

/** Which of a deployment's two checkpoints. */
export type Role = "english" | "multilingual";

const ROLES: readonly Role[] = ["english", "multilingual"];

export interface Deployment {
  readonly name: string;
  readonly checkpoints: Readonly<Record<Role, string>>;
  readonly limits: Readonly<Record<Role, Limits>>;
  readonly choiceNeedsInstructions: boolean;
  readonly defaultModel: string;
  /** alias -> the role that answers, or `routed`: the state's language decides. */
  readonly aliases: Readonly<Record<string, Role | "routed">>;
  readonly routing: RoutingRules;
}

/** The file's own form: snake_case, one value a role. */
interface DeploymentFile {
  name: string;
  checkpoints: Record<Role, string>;
  windows: Record<Role, number>;
  caps: Record<Role, number>;
  max_questions: number;
  choice_needs_instructions: boolean;
  default_model: string;
  aliases: Record<string, Role | "routed">;
  routing: { undecided: Role; english_min_letters: number };
}

/**
 * Reads a deployment by name (`a`, `b`: a file of `directory`) or by path (ends in `.json`).
 * @throws QaError `unknown_deployment`
 */
export async function loadDeployment(nameOrPath: string, directory: string): Promise<Deployment> {
  const path = nameOrPath.endsWith(".json") ? resolve(nameOrPath) : join(directory, `${nameOrPath}.json`);
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new QaError(
      "unknown_deployment",
      `there is no deployment "${nameOrPath}" (looked for ${path}); use "a", "b" or the path of a deployment file`,
      { cause },
    );
  });
  return parseDeployment(text, path);
}

function parseDeployment(text: string, path: string): Deployment {
  try {
    const file = JSON.parse(text) as Partial<DeploymentFile>;
    const limitsOf = (role: Role): Limits => ({
      window: positive(file.windows?.[role], `windows.${role}`),
      cap: positive(file.caps?.[role], `caps.${role}`),
      maxQuestions: positive(file.max_questions, "max_questions"),
    });
    const checkpointOf = (role: Role): string => filled(file.checkpoints?.[role], `checkpoints.${role}`);
    const letters = file.routing?.english_min_letters;
    const deployment: Deployment = {
      name: filled(file.name, "name"),
      checkpoints: { english: checkpointOf("english"), multilingual: checkpointOf("multilingual") },
      limits: { english: limitsOf("english"), multilingual: limitsOf("multilingual") },
      choiceNeedsInstructions: file.choice_needs_instructions === true,
      defaultModel: filled(file.default_model, "default_model"),
      aliases: aliasesOf(file.aliases),
      routing: {
        undecided: oneOf(ROLES, file.routing?.undecided, "routing.undecided"),
        englishMinLetters: letters === 0 ? 0 : positive(letters, "routing.english_min_letters"),
      },
    };
    oneOf(modelNames(deployment), deployment.defaultModel, "default_model");
    return deployment;
  } catch (cause) {
    throw new QaError("unknown_deployment", `${path} is not a deployment file: ${(cause as Error).message}`, { cause });
  }
}

function aliasesOf(value: unknown): Deployment["aliases"] {
  if (typeof value !== "object" || value === null) throw new Error("aliases must be an object of name -> role");
  const entries = Object.entries(value).map(([alias, target]) => {
    return [alias, oneOf([...ROLES, "routed"] as const, target, `aliases.${alias}`)] as const;
  });
  return Object.fromEntries(entries);
}

function positive(value: unknown, field: string): number {
  if (typeof value !== "number" || !(value > 0)) throw new Error(`${field} must be a positive number`);
  return value;
}

function filled(value: unknown, field: string): string {
  if (typeof value !== "string" || value === "") throw new Error(`${field} must be a name`);
  return value;
}

function oneOf<T extends string>(known: readonly T[], value: unknown, field: string): T {
  const found = known.find((name) => name === value);
  if (found === undefined) throw new Error(`${field} must be one of ${known.join(", ")}`);
  return found;
}

export type Target = { readonly type: "routed" } | { readonly type: "role"; readonly role: Role };

/** The names a request may use: aliases first, then the checkpoints. */
export function modelNames(deployment: Deployment): string[] {
  return [...Object.keys(deployment.aliases), deployment.checkpoints.english, deployment.checkpoints.multilingual];
}

/**
 * What answers under a name; without one, the deployment's default.
 * @throws QaError `unknown_model` with the known names
 */
export function resolveModel(deployment: Deployment, name: string = deployment.defaultModel): Target {
  const alias = Object.hasOwn(deployment.aliases, name) ? deployment.aliases[name] : undefined;
  if (alias === "routed") return { type: "routed" };
  if (alias !== undefined) return { type: "role", role: alias };
  for (const role of ROLES) if (deployment.checkpoints[role] === name) return { type: "role", role };
  const known = modelNames(deployment);
  throw new QaError("unknown_model", `there is no such model; use one of ${known.join(", ")}`, {
    details: { model: name, models: known },
  });
}
