import { expect, it } from "vitest";
import { BIN, runCommand } from "../cli/packed.js";

/** A loader in whose world the optional packages were not installed. */
const WITHOUT = `data:text/javascript,${encodeURIComponent(`
  import { register } from "node:module";
  register("data:text/javascript," + encodeURIComponent(\`
    export async function resolve(name, context, next) {
      if (name === "bullmq" || name === "ioredis") throw Object.assign(new Error(name), { code: "ERR_MODULE_NOT_FOUND" });
      return next(name, context);
    }
  \`));
`)}`;

it("a queue without its optional packages says which to install, and all else works", async () => {
  const run = (args: readonly string[]) => runCommand(process.execPath, ["--import", WITHOUT, BIN, ...args]);
  const { code, stderr } = await run(["queue", "status", "--out", "parts"]);
  expect(code).toBe(1);
  expect(stderr).toContain("npm install bullmq ioredis");
  expect(await run(["queue", "--help"])).toMatchObject({ code: 0 });
  expect(await run(["room", "--preset", "guard", "--json"])).toMatchObject({ code: 0 });
});
