import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Accounts } from "../../../src/server/accounts/accounts.js";
import { bearerOf, createKey, hashOfKey, idOfKey, isSameHash } from "../../../src/server/accounts/key.js";
import { temporaryDirectory } from "../open-app.js";

describe("a key", () => {
  it("is qa_<id>_<secret> with at least 128 random bits, and never the same twice", () => {
    const keys = Array.from({ length: 50 }, () => createKey());
    for (const { id, key } of keys) {
      expect(key).toMatch(new RegExp(`^qa_${id}_[0-9a-f]{48}$`));
      expect(idOfKey(key)).toBe(id);
    }
    expect(new Set(keys.map(({ key }) => key)).size).toBe(50);
  });

  it.each([
    ["Bearer qa_1_2", "qa_1_2"],
    ["bearer  qa_1_2 ", "qa_1_2"],
    ["Basic qa_1_2", undefined],
    ["Bearer", undefined],
    ["Bearer a b", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("is read from %j as %j", (header, token) => {
    expect(bearerOf(header)).toBe(token);
  });

  it("is compared by hash, also with none stored", () => {
    const { key, hash } = createKey();
    expect(isSameHash(hashOfKey(key), hash)).toBe(true);
    expect(isSameHash(hashOfKey(`${key}0`), hash)).toBe(false);
    expect(isSameHash(Buffer.alloc(32), undefined)).toBe(false);
  });
});

describe("the store of keys", () => {
  const directory = temporaryDirectory();
  const clock = { ms: Date.parse("2026-11-21T12:00:00Z") };
  let accounts: Accounts;
  beforeAll(() => {
    accounts = Accounts.open(directory, { now: () => clock.ms });
    accounts.keys.saveAccount("default");
  });
  afterAll(() => accounts.close());

  it("finds the account of a key, and none for a wrong secret, id or form", () => {
    const { id, key } = accounts.keys.createKey("default");
    expect(accounts.keys.find(key)).toMatchObject({ keyId: id, account: { name: "default" } });
    const last = key.at(-1) === "0" ? "1" : "0";
    for (const wrong of [key.slice(0, -1) + last, `qa_${"0".repeat(12)}_${"0".repeat(48)}`, "qa_", "", `${key} `, "x"])
      expect(accounts.keys.find(wrong)).toBeUndefined();
  });

  it("refuses a revoked key, and keeps the time of its first revocation", () => {
    const { id, key } = accounts.keys.createKey("default");
    accounts.keys.revokeKey(id);
    const first = clock.ms;
    clock.ms += 1000;
    accounts.keys.revokeKey(id);
    expect(accounts.keys.find(key)).toBeUndefined();
    expect(accounts.keys.keys().find((each) => each.id === id)?.revokedAtMs).toBe(first);
    expect(() => accounts.keys.revokeKey("nope")).toThrow(/no key with the id/);
  });

  it("changes only the limits that are given", () => {
    accounts.keys.saveAccount("batch", { requestsPerMinute: 60, monthlyAllowance: 0 });
    expect(accounts.keys.saveAccount("batch", { requestsInFlight: 2 })).toEqual({
      name: "batch",
      requestsPerMinute: 60,
      requestsInFlight: 2,
      monthlyAllowance: 0,
    });
  });

  it("sees what another process writes at once", () => {
    const other = Accounts.open(directory);
    const { key, id } = other.keys.createKey("default");
    expect(accounts.keys.find(key)).toMatchObject({ keyId: id });
    other.keys.revokeKey(id);
    expect(accounts.keys.find(key)).toBeUndefined();
    other.close();
  });

  it("keeps the file to its owner, and no key in it", () => {
    expect(statSync(join(directory, "accounts.db")).mode & 0o077).toBe(0);
    expect(JSON.stringify(accounts.keys.keys())).not.toMatch(/qa_/);
  });

  it("says which file it cannot open", () => {
    expect(() => Accounts.open("/dev/null/nowhere")).toThrow(/\/dev\/null\/nowhere\/accounts\.db cannot be opened/);
  });
});
