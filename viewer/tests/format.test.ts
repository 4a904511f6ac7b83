/** Figures read as the table says that all reports share. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { short } from "../src/data/format";

const LINES = readFileSync(new URL("../../tests/numbers.txt", import.meta.url), "utf8").split("\n");
const CASES = LINES.filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));

describe("figures", () => {
  it.each(CASES)("%s %s with %s figures reads %s", (value, unit, figures, text) => {
    expect(short(Number(value), unit!, Number(figures)).replaceAll("\u00a0", " ")).toBe(text);
  });

  it("reads a missing value as a dash", () => {
    expect(short(NaN, "s")).toBe("–");
  });
});
