import { expect, it } from "vitest";
import { resolveRedisUrl } from "../../src/config.js";

it.each([
  ["redis://given:1", { QA_REDIS_URL: "redis://qa:1", REDIS_URL: "redis://any:1" }, "redis://given:1"],
  [undefined, { QA_REDIS_URL: "redis://qa:1", REDIS_URL: "redis://any:1" }, "redis://qa:1"],
  [undefined, { REDIS_URL: "rediss://user:secret@any:1/2" }, "rediss://user:secret@any:1/2"],
  [undefined, {}, "redis://127.0.0.1:6379"],
])("Redis is at --redis (%s), else at what the environment says", (given, env, expected) => {
  expect(resolveRedisUrl(given, env)).toBe(expected);
});

it.each(["localhost:6379", "http://localhost", "", "redis"])("%j is no place of a Redis", (given) => {
  expect(() => resolveRedisUrl(given, {})).toThrow("no URL such as redis://host:6379");
});
