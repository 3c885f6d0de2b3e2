import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "test/install-programs.ts",
    include: ["test/**/*.test.{ts,tsx}"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: 2,
    env: { CI: "false" }, // ink draws nothing where it believes to be in CI, and its screen is under test
  },
});
