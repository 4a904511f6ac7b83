/** Contrast as WCAG 2.2 has it: every colour of text on every ground of the style sheet, and what canvases show. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { coloursOf, stateColours } from "../src/panes/Plot";
import { INKS, LANES } from "../src/scene/palette";

const css = readFileSync(new URL("../src/app/style.css", import.meta.url), "utf-8");
const THEMES = ["light", "dark"] as const;

/** What the variables of a theme are. */
function variables(theme: "light" | "dark"): Record<string, string> {
  const blocks = [...css.matchAll(/:root(\[data-theme="dark"\])?\s*\{([^}]*)\}/g)]
    .filter(([, dark]) => !dark || theme === "dark");
  return Object.fromEntries(blocks.flatMap(([, , block]) => (
    [...block!.matchAll(/(--[a-z]+):\s*([^;]+);/g)].map(([, name, value]) => [name!, value!.trim()]))));
}

function luminance(colour: string): number {
  const digits = colour.length === 4 ? [...colour.slice(1)].map((one) => one + one) : colour.slice(1).match(/../g)!;
  const [r, g, b] = digits.map((two) => {
    const part = parseInt(two, 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light! + 0.05) / (dark! + 0.05);
}

/** Variables that rules use for a property. */
const used = (property: string) => new Set(
  [...css.matchAll(new RegExp(`[;{\\s]${property}:\\s*var\\((--[a-z]+)\\)`, "g"))].map(([, name]) => name!));

it("is computed as the recommendation does", () => {
  expect(contrast("#fff", "#000000")).toBeCloseTo(21, 5);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});

describe.each(THEMES)("the %s theme", (theme) => {
  const at = variables(theme);
  const grounds = ["--page", "--ground", "--raised"] as const;

  it("has text of 4.5 to 1 on every ground", () => {
    expect(used("color")).toEqual(new Set(["--ink", "--soft", "--faint", "--accent", "--onaccent", "--ground",
      "--paused", "--bad"]));
    expect(used("background")).toEqual(new Set(
      ["--page", "--ground", "--raised", "--accent", "--tint", "--ink", "--edge", "--soft", "--warn", "--bad"]));
    for (const text of ["--ink", "--soft", "--faint", "--accent", "--paused", "--bad"]) {
      for (const ground of grounds) {
        expect(contrast(at[text]!, at[ground]!), `${text} on ${ground}`).toBeGreaterThan(4.5);
      }
    }
    // what is chosen is tinted, and a flag at the cursor and main buttons have a ground of their own
    for (const [text, ground] of [["--accent", "--tint"], ["--ground", "--ink"], ["--onaccent", "--accent"]] as const) {
      expect(contrast(at[text]!, at[ground]!), `${text} on ${ground}`).toBeGreaterThan(4.5);
    }
    for (const words of [INKS[theme].ink, INKS[theme].soft]) {
      for (const ground of [INKS[theme].ground, INKS[theme].pod]) {
        expect(contrast(words, ground), words).toBeGreaterThan(4.5);
      }
    }
  });

  it("has edges of controls, the focus, marks and curves of 3 to 1", () => {
    const { most, lit, paused, dead } = INKS[theme];
    for (const shape of ["--edge", "--accent", "--warn", "--bad"]) {
      for (const ground of grounds) {
        expect(contrast(at[shape]!, at[ground]!), `${shape} on ${ground}`).toBeGreaterThan(3);
      }
    }
    // curves and fabrics stand on the ground of panes
    for (const shape of [most, lit, paused, dead, ...coloursOf(theme === "dark"), ...stateColours(theme === "dark"),
      ...Object.values(LANES[theme])]) {
      for (const ground of ["--page", "--ground"]) {
        expect(contrast(shape, at[ground]!), `${shape} on ${ground}`).toBeGreaterThan(3);
      }
    }
  });
});
