import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { PACKAGE_DIR } from "../../src/config.js";
import { type JsonValue, parseJson } from "../../src/decision/json.js";
import { type CallToWrite, callCode } from "../../src/server/pages/browser/call-code.js";
import { prettyJson } from "../../src/server/pages/browser/pretty-json.js";
import { openApp } from "./open-app.js";

const run = promisify(execFile);
const app = await openApp();

/** Text that breaks out of quotes wherever they are written carelessly. */
const STATE = `It's "late" \\ again: $HOME \`id\`\nJSON\n<b>${"é ∑ 🎻 "}</b>`;
const QUESTIONS = parseJson(
  `{"it's": {"type": "choice", "instructions": "Which \\"team\\"?", "criteria": {"$PATH": null, "b\\\\": "back\\nslash"}},
    "how": {"type": "score", "criteria": ["low", ["mid", true], "high"]}, "yes": {"type": "noul", "instructions": {"a": [1.5, null]}}}`,
);
const call: CallToWrite = { origin: app.url, model: undefined, state: STATE, questions: QUESTIONS, keyRequired: true };
const env = { ...process.env, TYPESAFE_API_KEY: app.key };

async function answered(): Promise<unknown> {
  const { json } = await app.call("/v1/systemone", { json: { state: STATE, questions: QUESTIONS } });
  return json.answers;
}

describe("the code of a call", () => {
  it("asks the same as curl in a shell", async () => {
    const { stdout } = await run("bash", ["-c", callCode("curl", call)], { env });
    expect(JSON.parse(stdout).answers).toEqual(await answered());
  });

  it("asks the same as JavaScript through the official client", async () => {
    const code = callCode("javascript", call).replace("console.log(answers)", "console.log(JSON.stringify(answers))");
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code], { env, cwd: PACKAGE_DIR });
    expect(JSON.parse(stdout)).toEqual(await answered());
  });

  it("writes Python whose literals are those of the call", () => {
    const code = callCode("python", { ...call, model: "core-latest", state: { paid: true, note: null } });
    expect(code).toContain('model="core-latest",');
    expect(code).toContain('state={"paid": True, "note": None},');
    expect(code).toContain('"instructions": {"a": [1.5, None]}');
    expect(code).not.toContain(app.key);
  });

  it("never holds a key, and says where it is read from", () => {
    expect(callCode("curl", call)).toContain('"Authorization: Bearer $TYPESAFE_API_KEY"');
    expect(callCode("curl", { ...call, keyRequired: false })).not.toContain("Authorization");
    expect(callCode("javascript", { ...call, keyRequired: false })).toContain('apiKey: "none"');
  });

  it("warns in JavaScript where an object would move its labels", () => {
    const criteria = (text: string) => parseJson(`{"q": {"type": "choice", "criteria": ${text}}}`);
    const codeOf = (text: string) => callCode("javascript", { ...call, questions: criteria(text) });
    expect(codeOf('{"10": null, "2": null}')).toContain("// JavaScript objects move keys");
    expect(codeOf('{"1": null, "2": null, "x": null}')).not.toContain("//  JavaScript objects");
    expect(codeOf('{"1": null, "2": null, "x": null}')).not.toContain("objects move keys");
  });

  it("writes __proto__ as a label and not as a prototype", () => {
    const questions: JsonValue = new Map([["__proto__", new Map([["type", "noul"]])]]);
    expect(callCode("javascript", { ...call, questions })).toContain(
      '["__proto__"]: { type: "noul" }'.replace(/\{ (.*) \}/, "{$1}"),
    );
  });
});

describe("pretty JSON", () => {
  it.each([
    ["{}", "{}"],
    ["[]", "[]"],
    ['{"10": {"b": [1, null]}, "2": []}', '{\n  "10": {"b": [1, null]},\n  "2": []\n}'],
    [`["${"x".repeat(60)}", "${"y".repeat(60)}"]`, `[\n  "${"x".repeat(60)}",\n  "${"y".repeat(60)}"\n]`],
  ])("prints %s over as few lines as are readable", (text, printed) => {
    expect(prettyJson(parseJson(text))).toBe(printed);
    expect(parseJson(prettyJson(parseJson(text)))).toEqual(parseJson(text));
  });
});
