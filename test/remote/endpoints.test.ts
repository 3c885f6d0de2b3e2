import { describe, expect, it } from "vitest";
import { resolveRemoteConfig } from "../../src/config.js";
import { QaError } from "../../src/errors.js";
import { parseEndpoints } from "../../src/remote/endpoints.js";

describe("--endpoint", () => {
  it.each([
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/systemone", "127.0.0.1:8080"],
    ["https://api.example.com/", "https://api.example.com/v1/systemone", "api.example.com"],
    ["https://api.example.com/v1/systemone", "https://api.example.com/v1/systemone", "api.example.com"],
    ["https://api.example.com/v1/systemone//", "https://api.example.com/v1/systemone", "api.example.com"],
    ["https://example.com/api", "https://example.com/api/v1/systemone", "example.com"],
    ["http://[::1]:8080", "http://[::1]:8080/v1/systemone", "[::1]:8080"],
  ])("takes %s", (text, url, host) => expect(parseEndpoints(text)).toEqual([{ url, host }]));

  it("takes several, each once", () => {
    const hosts = parseEndpoints("http://a:1, http://b:2/ ,http://a:1/v1/systemone,").map(({ host }) => host);
    expect(hosts).toEqual(["a:1", "b:2"]);
  });

  it.each(["", ",", "localhost:8080", "127.0.0.1:8080", "ftp://a", "http://u:hunter2@a", "http://a?key=hunter2"])(
    "refuses %s without showing what may be a secret",
    (text) => {
      const error = catching(() => parseEndpoints(text));
      expect(error).toMatchObject({ code: "invalid_usage" });
      expect(error.message).not.toContain("hunter2");
    },
  );
});

describe("the configuration of a remote run", () => {
  it("takes key and default name from the variables of the official client, and its default", () => {
    const endpoint = "http://a";
    expect(resolveRemoteConfig({ endpoint }, {})).toEqual({
      endpoint,
      inFlightPerHost: 8,
      deadlineMs: 120_000,
      apiKey: undefined,
      defaultModel: "jev-latest",
    });
    const env = { TYPESAFE_API_KEY: " k ", TYPESAFE_DEFAULT_MODEL: "laya" };
    expect(resolveRemoteConfig({ endpoint, inFlight: 2, deadlineSeconds: 5 }, env)).toMatchObject({
      inFlightPerHost: 2,
      deadlineMs: 5000,
      apiKey: "k",
      defaultModel: "laya",
    });
    expect(resolveRemoteConfig({ endpoint }, { TYPESAFE_API_KEY: "  " }).apiKey).toBeUndefined();
  });
});

function catching(fn: () => unknown): QaError {
  try {
    fn();
  } catch (error) {
    if (error instanceof QaError) return error;
  }
  throw new Error("did not fail as it should");
}
