import { describe, expect, it } from "vitest";
import { drawWindow, type WindowParts } from "../../../src/batch/room/room-bar.js";

describe("drawWindow", () => {
  it("draws head, options and room in proportion, one column a token where they are as many", () => {
    expect(drawWindow({ window: 20, head: 3, prefix: 8, room: 11 }, 20)).toBe("███▒▒▒▒▒············");
  });

  it("marks where a state ends inside the window", () => {
    expect(drawWindow({ window: 20, head: 3, prefix: 8, room: 11, state: 6 }, 20)).toBe("███▒▒▒▒▒░░░░░┃······");
  });

  it("ends in the marker for a state that fills the room, in an arrow for one token more", () => {
    expect(drawWindow({ window: 20, head: 3, prefix: 8, room: 11, state: 11 }, 20)).toMatch(/░┃·$/);
    expect(drawWindow({ window: 20, head: 3, prefix: 8, room: 11, state: 12 }, 20)).toMatch(/░▶$/);
  });

  it("shows options that fill the window as going past it", () => {
    expect(drawWindow({ window: 20, head: 3, prefix: 24, room: -5 }, 10)).toBe("██▒▒▒▒▒▒▒▶");
  });

  it("has exactly the promised width, and a column at least of head, options and room, whatever the numbers", () => {
    for (let seed = 1; seed <= 4000; seed++) {
      const parts = randomParts(seed);
      const width = 5 + (seed % 60);
      const bar = drawWindow(parts, width);
      expect([...bar], `seed ${seed}`).toHaveLength(width);
      expect(bar, `seed ${seed}`).toMatch(/^█+▒+(?:▶|░*▶|·+|░*┃·*)$/u);
      expect(bar.endsWith("▶"), `seed ${seed}`).toBe(parts.room <= 0 || (parts.state ?? 0) > parts.room);
    }
  });
});

function randomParts(seed: number): WindowParts {
  const uniform = (n: number) => Math.floor((Math.abs(Math.sin(seed * 91.7 + n * 13.3) * 1e4) % 1) * 1e6) / 1e6;
  const window = 10 + Math.floor(uniform(1) * 4096);
  const head = 2 + Math.floor(uniform(2) * window * 1.1);
  const prefix = head + 3 + Math.floor(uniform(3) ** 3 * window);
  const state = seed % 3 === 0 ? undefined : Math.floor(uniform(4) * window * 1.5);
  return { window, head, prefix, room: window - 1 - prefix, state };
}
