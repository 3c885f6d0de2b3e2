import { describe, expect, it } from "vitest";
import { drawHistogram } from "../../../src/batch/report/draw-histogram.js";
import { drawParts } from "../../../src/batch/report/draw-parts.js";

const countsOf = (filled: Readonly<Record<number, number>>) => Array.from({ length: 20 }, (_, bin) => filled[bin] ?? 0);
const attributes = (svg: string, name: string) =>
  [...svg.matchAll(new RegExp(`class="bin"[^>]* ${name}="([^"]+)"`, "g"))].map(([, value]) => Number(value));

describe("drawHistogram", () => {
  it("draws a bar for each bin that is not empty, as high as it is frequent, and none so low that it is not seen", () => {
    const { html } = drawHistogram({ counts: countsOf({ 0: 100, 10: 50, 19: 1 }), of: "P(yes)" });
    expect(attributes(html, "x")).toEqual([0.75, 180.75, 342.75]);
    expect(attributes(html, "height")).toEqual([102, 51, 2]);
  });

  it("says every number in its text", () => {
    const { html } = drawHistogram({ counts: countsOf({ 2: 1234, 11: 1 }), of: "Confidence" });
    expect(html).toContain(
      'aria-label="Confidence, answers by bin. 0.1 to 0.15: 1,234 answers; 0.55 to 0.6: 1 answer"',
    );
    expect(drawHistogram({ counts: countsOf({}), of: "Confidence" }).html).toContain(
      'aria-label="Confidence: no answers"',
    );
  });

  it("shades the band where there is one", () => {
    const band = { low: 0.25, high: 0.5 };
    expect(drawHistogram({ counts: countsOf({}), of: "x", band }).html).toContain(
      'class="band" x="90" y="18" width="90"',
    );
    expect(drawHistogram({ counts: countsOf({}), of: "x" }).html).not.toContain("band");
  });
});

describe("drawParts", () => {
  it("puts parts beside each other, shows any that is there, and is a picture only with a label", () => {
    const { html } = drawParts([
      { name: "a", share: 0.5 },
      { name: "b", share: 0.0001 },
      { name: "c", share: 0 },
    ]);
    expect(html).toContain('<rect class="a" x="0.00" width="50.00" height="8"/><rect class="b" x="50.00" width="0.60"');
    expect(html).toContain('<rect class="c" x="50.60" width="0.00"');
    expect(html).toContain('aria-hidden="true"');
    expect(drawParts([], "nothing").html).toContain('role="img" aria-label="nothing"');
  });
});
