import { describe, expect, it } from "vitest";
import type { Drawn } from "../src/lab/curves";
import { cut, escaped, pictureOf, wrapped, type Pictured } from "../src/lab/picture";

const HOSTILE = '<script>alert("1")</script>&\u0000\ud800';
const cell = (text: string, isBest = false) => ({ text, exact: 1, isBound: false, finished: "", isBest });
const drawn: Drawn = { key: "queue", title: "Largest queue", unit: "B", curves: [
  { label: "dctcp", time_s: [0, 1, 2, 3, 9], values: [0, 50_000, NaN, 100_000, 900], stepped: true, colour: 0 },
  { label: HOSTILE, time_s: Float64Array.from({ length: 50_000 }, (_, i) => i / 10_000),
    values: Float64Array.from({ length: 50_000 }, (_, i) => (i % 1000 === 500 ? 80_000 : 1000)), stepped: true,
    colour: 1 }] };
const WHOLE: Pictured = {
  title: `incast: dctcp, ${HOSTILE}`, setting: "41 hosts; 5 seeds", seeds: 5,
  answers: [{ kind: "choice", lead: "dctcp leads", rest: ` ${HOSTILE} in 1 of 4 figures.` } as never],
  table: { columns: [{ key: "a", title: "Mean flow completion time", unit: "ms", better: "lower" as never }],
    rows: [{ controller: "dctcp", name: "dctcp", mark: "◆", cells: [cell("12.5 ± 0.3", true)] },
      { controller: "x", name: HOSTILE, mark: "", cells: [cell("≥ 3")] }], zero: [] },
  named: (controller) => ({ name: controller === "x" ? HOSTILE : controller, at: controller === "x" ? 1 : 0 }),
  plots: [{ drawn, seen: { from_s: 0, to_s: 4 } }], command: `incast compare incast --cc '${HOSTILE}'`,
};

describe("a picture", () => {
  const svg = pictureOf(WHOLE).replaceAll("\u00a0", " ");

  it("holds answer, figures, curves and the command", () => {
    for (const words of ["dctcp leads", "▸ 12.5 ± 0.3", "dctcp ◆", "Largest queue", "100 kB", "4 s", "--cc"]) {
      expect(svg.includes(words), words).toBe(true);
    }
    expect(/NaN|Infinity|undefined/.exec(svg)).toBeNull();
  });

  it("has lines and text alone, whatever names say", () => {
    expect(new Set(svg.match(/<\/?\w+/g))).toEqual(new Set(["<svg", "<rect", "<text", "</text", "<path", "</svg"]));
    expect(escaped(HOSTILE)).toBe("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;");
    expect(escaped("a\u{1f600}")).toBe("a\u{1f600}");
  });

  it("keeps peaks of long curves in few points, and ends at the axis", () => {
    const curves = [...svg.matchAll(/d="(M[^"]*V[^"]*)" fill="none" stroke-width/g)];
    const [first = "", second = ""] = curves.map(([, own]) => own!);
    expect(second.length).toBeLessThan(50_000);
    const heights = second.match(/V[\d.]+/g)!.map((own) => Number(own.slice(1)));
    // 80 kB of 106 kB, so often as the curve has them before the end of the axis
    expect(heights.filter((own) => own === Math.min(...heights))).toHaveLength(40);
    // what holds as the axis ends holds to its end: 100 kB, no fall to what comes later
    expect(first.split("H").slice(-2).map((own) => own.split("V")[1])).toEqual(["331.4", "331.4"]);
  });

  it("cuts names that have no room in legend and table, and speaks of no interval of one seed", () => {
    expect([cut("abc", 3), cut("abcd", 3), cut("\u{1f600}\u{1f600}", 1)]).toEqual(["abc", "ab…", "…"]);
    const long = "a name of seventy letters and more that no legend beside a title has room for";
    const curves = ["one", "two", "three", "four"].map((own) => ({ ...drawn.curves[0]!, label: `${own}: ${long}` }));
    const seen = { from_s: 0, to_s: 4 };
    const row = { controller: long.repeat(3), name: long.repeat(3), mark: "◆", cells: [cell("3")] };
    const svg = pictureOf({ ...WHOLE, seeds: 1, plots: [1, 2].map(() => ({ drawn: { ...drawn, curves }, seen })),
      table: { ...WHOLE.table, rows: [row] }, named: (name) => ({ name, at: 0 }) });
    const texts = [...svg.matchAll(/<text x="([\d.]+)"[^>]*text-anchor="end"[^>]*>([^<]*)</g)];
    const begins = texts.map(([, x, words]) => Number(x) - 12 * 0.56 * words!.length);
    expect(Math.min(...begins)).toBeGreaterThan(40);
    expect(svg).toContain("one: ");
    expect(/95 % interval|▸ best/.exec(svg)).toBeNull();
  });

  it("breaks lines between words, and words that are longer", () => {
    expect(wrapped("aa bb cccccc d", 5)).toEqual(["aa bb", "ccccc", "c d"]);
    expect(wrapped("", 5)).toEqual([]);
  });
});
