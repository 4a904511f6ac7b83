import { deflateSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { served } from "../src/data/source";
import { column, Columns, Damaged, joined, json, text } from "../src/data/unpack";
import { part, planes } from "./made";

const packed = (bytes: number[] | Uint8Array) => deflateSync(Uint8Array.from(bytes)).toString("base64");
const bytes = (...all: number[]) => Uint8Array.from(all);
const u8 = (length: number, more = {}) => ({ kind: "u8", length, ...more }) as const;
const read = async (made: string) => {
  const table = new Columns({ a: 0 }, () => made);
  await table.read(["a"]);
  return table.get("a")!;
};

describe("columns", () => {
  it("puts bytes of one significance together again", () => {
    expect([...joined(bytes(1, 2, 0, 1), { kind: "u16", length: 2 })]).toEqual([1, 258]);
  });

  it("adds up differences, which wrap", () => {
    // 5, 7, 3 as differences of u8: 5, 2, 252
    expect([...joined(bytes(5, 2, 252), { kind: "u8", length: 3, differences: true })]).toEqual([5, 7, 3]);
  });

  it("gives numbers exactly, by their places in a list", async () => {
    const exact = Float64Array.of(0.1, Number.MAX_SAFE_INTEGER, NaN);
    const made = part(u8(4, { of: { kind: "f64", length: 3 } }), bytes(2, 0, 1, 0), planes(exact));
    expect([...(await read(made)).values]).toEqual([NaN, 0.1, Number.MAX_SAFE_INTEGER, 0.1]);
  });

  it("gives texts by their places", async () => {
    const texts = Buffer.from('["<b>", "é"]');
    expect(await read(part(u8(2, { texts: texts.length }), bytes(1, 0), texts))).toEqual(
      { values: bytes(1, 0), texts: ["<b>", "é"] });
  });

  it("are read when they are needed, each once, and those that a table lacks not at all", async () => {
    const asked: number[] = [];
    const table = new Columns({ a: 0, b: 1 }, (at) => {
      asked.push(at);
      return part(u8(1), bytes(at + 5));
    }, 1);
    expect([table.has("a"), table.has("c"), table.rows, table.unread(["a", "c"])]).toEqual([true, false, 1, ["a"]]);
    expect(() => table.get("a")).toThrow("not read");
    await Promise.all([table.read(["a", "c"]), table.read(["a"])]);
    await table.read(["a"]);
    expect([asked, [...table.values("a")], [...table.values("c")], table.get("c")]).toEqual([[0], [5], [], undefined]);
    expect([table.has("constructor"), table.unread(["a", "b"])]).toEqual([false, ["b"]]);
  });

  it("are asked for again of a server that did not answer, and what is damaged is not", async () => {
    let asked = 0;
    const answers = [() => Promise.reject(new Error("no answer")), () => "!"];
    const table = new Columns({ a: 0 }, () => answers[asked++]!());
    await expect(table.read(["a"])).rejects.toThrow("no answer");
    await expect(table.read(["a"])).rejects.toThrow(Damaged);
    await expect(table.read(["a"])).rejects.toThrow(Damaged);
    expect(asked).toBe(2);
  });

  it("name their table where they are damaged, or have another number of rows", async () => {
    const of = (made: string) => new Columns({ a: 0 }, () => made, 2, "tasks of mine").read(["a"]);
    await expect(of("!")).rejects.toThrow(/^column a of tasks of mine: a column cannot be unpacked/);
    await expect(of(part(u8(3), bytes(1, 2, 3)))).rejects.toThrow("column a of tasks of mine: it has 3 rows of 2");
    await of(part(u8(2), bytes(1, 2)));
  });

  it("are asked for together where their parts follow one another, so many at once", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", (address: string) => {
      asked.push(address);
      const [first, last] = /(\d+)-(\d+)/.exec(address)!.slice(1).map(Number) as [number, number];
      const parts = Array.from({ length: last - first + 1 }, (_, i) => [2, 0, 0, 0, first + i, 9]);
      return Promise.resolve(new Response(bytes(...parts.flat())));
    });
    const got = await Promise.all([...Array.from({ length: 50 }, (_, i) => i), 70, 71, 3].map((at) => served(at)));
    expect(got.map((one) => [...one])).toEqual([...Array.from({ length: 50 }, (_, i) => [i, 9]), [70, 9], [71, 9],
      [3, 9]]);
    expect(asked).toEqual(["parts/0-47", "parts/48-49", "parts/70-71"]);
    await served(4);
    expect(asked.at(-1)).toBe("parts/4-4");
    vi.unstubAllGlobals();
  });

  it("are not there where a server ends in the middle of an answer, or refuses", async () => {
    const some = new ReadableStream({
      start(answer) { answer.enqueue(new Uint8Array(3)); },
      pull(answer) { answer.error(new TypeError("network error")); },
    });
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(some)));
    await expect(served(1)).rejects.toThrow("incast view --serve no longer answers");
    vi.stubGlobal("fetch", () => Promise.resolve(new Response("r/x.parquet is gone\n", { status: 500 })));
    await expect(served(1)).rejects.toThrow("incast view --serve says: r/x.parquet is gone");
    vi.unstubAllGlobals();
  });

  it("says of damaged columns that they are", async () => {
    for (const made of [part(u8(3), bytes(1, 2)), part(u8(1, { texts: 4 }), bytes(0, 91)), packed([1, 2]), packed([]),
      packed([9, 0, 0, 0, 123]), "!", part(u8(3), bytes(1, 2, 3)).slice(0, 8)]) {
      await expect(read(made)).rejects.toThrow(Damaged);
    }
    await expect(json(() => packed([123]), 0)).rejects.toThrow(Damaged);
    expect(() => column(bytes())).toThrow(Damaged);
    expect(text(undefined, 0)).toBe("");
  });
});
