/** Answers and tables read as the file of vectors says, which the tests of the Python side compute too. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { answersOf, answersTo, shownFirst } from "../src/answers/answering";
import type { Answer } from "../src/answers/answer";
import { namesOf, type RunOf } from "../src/answers/compared";
import { Reading } from "../src/answers/completions";
import type { Facts, Timers } from "../src/answers/facts";
import type { Measure } from "../src/answers/measures";
import {
  between, duration, measured, percent, quantity, rounded, spread, tinyNumber, withInterval, type Rounding,
} from "../src/answers/numbers";
import { readToml, resolvedOf } from "../src/answers/resolved";
import { Estimate, exactSum, quantile } from "../src/answers/statistics";
import { tableOf } from "../src/answers/table";
import type { Table, TableColumn } from "../src/engine/wasm";

type Columns = Record<string, (number | string | null)[]>;
interface ReadingIn {
  low: number[];
  high?: (number | null)[];
  of?: [number, number, number];
}
interface Answered {
  answers: [string, string, string][];
  shown: number[];
}
interface FactsIn extends Answered, Pick<Facts, "controllers" | "seeds" | "alike"> {
  measures: string[];
  readings: Record<string, Record<string, ReadingIn>>;
  throughput: Record<string, ReadingIn>;
  began: Record<string, Record<string, [number, number]>>;
  timers: Timers | null;
}
interface RunsIn extends Answered {
  controllers: string[];
  text: string;
  runs: { controller: string; seed: number; summary: Record<string, unknown>; tables: Record<string, Columns> }[];
  table: { columns: string[][]; rows: unknown[][]; zero: string[] };
}
interface Vectors {
  quantiles: number[];
  numbers: [string, (number | string)[], unknown][];
  measures: Measure[];
  facts: FactsIn[];
  runs: RunsIn[];
}

const FILE = new URL("../../tests/answers.json", import.meta.url);
const VECTORS = JSON.parse(readFileSync(FILE, "utf8")) as Vectors;
const LINES = readFileSync(new URL("../../tests/numbers.txt", import.meta.url), "utf8").split("\n");

function written(answers: Answer[]): Answered {
  const [first] = shownFirst(answers);
  return { answers: answers.map(({ kind, lead, rest }) => [kind, lead, rest]),
    shown: answers.flatMap((one, place) => (first.includes(one) ? [place] : [])) };
}

describe("numbers", () => {
  const functions: Record<string, (...values: never[]) => unknown> = {
    rounded: (value: number, figures: number, rounding: Rounding) => rounded(value, figures, rounding),
    quantity, spread, between, percent, duration,
    tiny: (mean: number, half: number, scale: number) => tinyNumber(new Estimate(mean, half, 3), scale),
    measured: (mean: number, half: number, unit: string) => measured(new Estimate(mean, half, 3), unit),
    interval: withInterval,
  };

  it.each(Object.keys(functions))("are written as Python does: %s", (name) => {
    const own = VECTORS.numbers.filter(([one]) => one === name);
    expect(own.length).toBeGreaterThan(5);
    const valueOf = (one: number | string) => ({ inf: Infinity, "-inf": -Infinity })[one] ?? one;
    expect(own.map(([, values]) => [values, functions[name]!(...values.map(valueOf) as never[])])).toEqual(
      own.map(([, values, text]) => [values, text]));
  });

  it("read as the table says that all reports share", () => {
    const cases = LINES.filter((line) => line && !line.startsWith("#")).map((line) => line.split("\t"));
    expect(cases.map(([value, unit, figures]) => (
      quantity(Number(value), unit!, Number(figures)).replaceAll("\u00a0", " ")))).toEqual(cases.map((one) => one[3]));
  });
});

describe("statistics", () => {
  it("have Student's quantile to 1e-9", () => {
    VECTORS.quantiles.forEach((expected, i) => {
      expect(Math.abs(quantile(i + 1) - expected), `${i + 1} degrees`).toBeLessThan(1e-9 * expected);
    });
    expect(VECTORS.quantiles).toHaveLength(200);
  });

  it("add without an error", () => {
    expect(exactSum([1e100, 1, -1e100, 1e-3])).toBe(1.001);
    expect(exactSum(Array.from({ length: 10 }, () => 0.1))).toBe(1);
    expect(exactSum([1, 2 ** -53, 2 ** -106])).toBe(1 + 2 ** -52);
    expect([exactSum([]), exactSum([1, Infinity])]).toEqual([0, Infinity]);
  });
});

function reading({ low, high, of }: ReadingIn): Reading {
  const bySeed = (values: (number | null)[]) => new Map(values.map((one, i) => [i + 1, one ?? Infinity]));
  return new Reading(bySeed(low), bySeed(high ?? low), ...(of ?? []));
}

function facts(data: FactsIn): Facts {
  const readings = (of: Record<string, ReadingIn>) => new Map(Object.entries(of).map(([name, one]) => (
    [name, reading(one)])));
  return {
    ...data,
    measures: data.measures.map((key) => VECTORS.measures.find((one) => one.key === key)!),
    readings: new Map(Object.entries(data.readings).map(([key, of]) => [key, readings(of)])),
    throughput: readings(data.throughput),
    began: new Map(Object.entries(data.began)),
  };
}

function table(columns: Columns): Table {
  const rows = Object.values(columns)[0]!.length;
  const made = Object.entries(columns).map(([name, values]): TableColumn => {
    const head = { name, unit: "", doc: "" };
    const names = [...new Set(values.filter((one) => typeof one === "string"))];
    if (names.length) {
      const places = Uint32Array.from(values, (one) => names.indexOf(one as string));
      return { ...head, kind: "text", values: places, valid: null, names };
    }
    return { ...head, kind: "f64", values: Float64Array.from(values, (one) => Number(one ?? 0)),
      valid: Uint8Array.from(values, (one) => (one === null ? 0 : 1)), names: null };
  });
  return { rows, columns: made, bytes: new ArrayBuffer(0) };
}

function runs({ runs, text }: RunsIn): RunOf[] {
  return runs.map((run) => ({ ...run, text, tables: Object.fromEntries(
    Object.entries(run.tables).map(([name, columns]) => [name, table(columns)])) }));
}

describe("answers", () => {
  it.each(VECTORS.facts.map((data, i) => [i, data] as const))("to facts are those of Python: %i", (_, data) => {
    expect(written(answersTo(facts(data)))).toEqual({ answers: data.answers, shown: data.shown });
  });

  it.each(VECTORS.runs.map((data, i) => [i, data] as const))("to runs are those of Python: %i", (_, data) => {
    expect(written(answersOf(runs(data), data.controllers))).toEqual({ answers: data.answers, shown: data.shown });
  });

  it("are none without a run", () => {
    expect(answersOf([], ["dctcp"])).toEqual([]);
  });
});

describe("a table", () => {
  it.each(VECTORS.runs.map((data, i) => [i, data] as const))("has the cells of Python: %i", (_, data) => {
    const { columns, rows, zero } = tableOf(runs(data), data.controllers);
    expect({
      columns: columns.map(({ title, unit, better }) => [title, unit, better]),
      rows: rows.map(({ name, mark, cells }) => [name, mark,
        ...cells.map(({ text, finished, isBest }) => [text, finished, isBest])]),
      zero,
    }).toEqual(data.table);
  });

  it("has names of controllers that tell them apart", () => {
    expect([...namesOf(["swift:target=min-rtt", "swift", "./own.py:Mine", ".:g=0.5", "swift:target=min-rtt,x=auto",
      "a:Mine", "Mine"]).values()]).toEqual(
      ["swift min-rtt", "swift", "Mine", "own g=0.5", "swift min-rtt x=auto", "a:Mine", "Mine-2"]);
  });
});

describe("a resolved scenario", () => {
  it("has its tables, and no line of a text over several lines", () => {
    const text = `a = "x\\"\\n"\nb = '''\n[run]\nduration = "1s"'''\nc = 1_000\n\n[run]\nduration = "5ms"\n\n`
      + `[[traffic]]\nname = "one"\n\n[traffic.app]\nkind = "udp"\n\n[[traffic]]\nname = 'two'\n\n[traffic.transport]\n`
      + 'rto_min = "0.3s"\nhandshake = true\n';
    expect(readToml(text)).toEqual({ a: 'x"\n', c: 1000, run: { duration: "5ms" }, traffic: [
      { name: "one", app: { kind: "udp" } }, { name: "two", transport: { rto_min: "0.3s", handshake: true } }] });
    expect(resolvedOf(text)).toEqual({ waits: { run_s: 0.005, rto_s: 0.3, syn_s: 0 }, datagrams: ["one"] });
  });

  it("has RDMA's own timeout, and none where that is zero", () => {
    const rto = (timeout: string) => resolvedOf(`[run]\nduration = "5ms"\n\n[[traffic]]\nname = "one"\n\n`
      + `[traffic.transport]\npreset = "rdma-hpcc"\nrto_min = "0.3s"\n\n[traffic.transport.rdma]\n`
      + `timeout = "${timeout}"\n`).waits.rto_s;
    expect([rto("4ms"), rto("0s")]).toEqual([0.004, Infinity]);
  });
});
