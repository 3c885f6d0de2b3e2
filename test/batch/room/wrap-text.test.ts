import { expect, it } from "vitest";
import { wrapText } from "../../../src/batch/room/wrap-text.js";

it("breaks between words and indents what follows as wide as the lead", () => {
  expect(wrapText("one two three four", { width: 11, lead: "-  " })).toBe("-  one two\n   three\n   four");
});

it("leaves a word that is too long whole", () => {
  expect(wrapText("a incomprehensibilities b", { width: 6 })).toBe("a\nincomprehensibilities\nb");
});

it("counts wide characters as two columns", () => {
  expect(wrapText("漢字 漢字", { width: 8 })).toBe("漢字\n漢字");
});
