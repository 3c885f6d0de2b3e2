import { expect, it } from "vitest";
import { Deadline } from "../../src/remote/deadline.js";

it("a deadline runs from the first try on", () => {
  const deadline = new Deadline(100);
  expect(deadline.leftMs(500)).toBe(100);
  deadline.start(500);
  deadline.start(550);
  expect(deadline.leftMs(560)).toBe(40);
});

it("an outage does not count, but may itself not be longer", () => {
  const deadline = new Deadline(100);
  deadline.start(0);
  deadline.noteOutage(30);
  deadline.noteOutage(60);
  deadline.noteContact(20); // before it began
  expect(deadline.isOut).toBe(true);
  expect(deadline.leftMs(90)).toBe(40);
  deadline.noteContact(120);
  expect(deadline.isOut).toBe(false);
  expect(deadline.leftMs(130)).toBe(60);
});

it("several outages count together", () => {
  const deadline = new Deadline(100);
  deadline.start(0);
  for (const atMs of [10, 200, 400]) {
    deadline.noteOutage(atMs);
    deadline.noteContact(atMs + 90);
  }
  expect(deadline.elapsedMs(500)).toBe(500 - 270);
});
