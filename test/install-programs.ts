/**
 * What the tests want of the system and a fresh machine lacks: a Chromium for the pages, a Redis for the queue. Installed once
 * before all tests where that can be done without asking, as root on Debian and its kin; else the tests say what is missing.
 */

import { execFileSync, spawnSync } from "node:child_process";

const PROGRAMS = ["chromium", "redis-server"];

export default function installPrograms(): void {
  const missing = PROGRAMS.filter((program) => !hasProgram(program));
  if (missing.length === 0 || process.getuid?.() !== 0 || !hasProgram("apt-get")) return;
  console.log(`installing ${missing.join(" and ")} for the tests`);
  try {
    execFileSync("apt-get", ["update", "-qq"], { stdio: "ignore" });
    execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing], {
      stdio: "ignore",
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  } catch (error) {
    console.log(`could not install them (${(error as Error).message.split("\n")[0]}); their tests are skipped or fail`);
  }
}

function hasProgram(name: string): boolean {
  return spawnSync("which", [name], { stdio: "ignore" }).status === 0;
}
