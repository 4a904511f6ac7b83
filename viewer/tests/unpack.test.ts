import { deflateSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { served } from "../src/data/source";
import { Columns, Damaged, joined, json, numbers, text } from "../src/data/unpack";

const packed = (bytes: number[] | Uint8Array) => deflateSync(Uint8Array.from(bytes)).toString("base64");

describe("columns", () => {
  it("puts bytes of one significance together again", () => {
    expect([...joined(Uint8Array.from([1, 2, 0, 1]), "u16", 2, false)]).toEqual([1, 258]);
  });

  it("adds up differences, which wrap", () => {
    // 5, 7, 3 as differences of u8: 5, 2, 252
    expect([...joined(Uint8Array.from([5, 2, 252]), "u8", 3, true)]).toEqual([5, 7, 3]);
  });

  it("gives numbers exactly, by their places in a list", async () => {
    const exact = [0.1, Number.MAX_SAFE_INTEGER, NaN];
    const bytes = new Uint8Array(Float64Array.from(exact).buffer);
    const planes = Uint8Array.from({ length: 24 }, (_, i) => bytes[(i % 3) * 8 + Math.floor(i / 3)]!);
    const texts = [packed([2, 0, 1, 0]), packed(planes)];
    const read = await numbers((at) => texts[at]!, {
      at: 0, kind: "u8", length: 4, differences: false, of: { at: 1, kind: "f64", length: 3, differences: false },
    });
    expect([...read]).toEqual([NaN, 0.1, Number.MAX_SAFE_INTEGER, 0.1]);
  });

  it("gives texts by their places", async () => {
    const texts = [packed([1, 0]), packed([...Buffer.from('["<b>", "é"]')])];
    const name = { at: 0, kind: "u8", length: 2, differences: false, texts: 1 } as const;
    const table = new Columns({ name }, (at) => texts[at]!);
    await table.read(["name"]);
    expect(table.get("name")).toEqual({ values: Uint8Array.from([1, 0]), texts: ["<b>", "é"] });
  });

  it("are read when they are needed, each once, and those that a table lacks not at all", async () => {
    const asked: number[] = [];
    const one = (at: number) => ({ at, kind: "u8", length: 1, differences: false }) as const;
    const table = new Columns({ a: one(0), b: one(1) }, (at) => {
      asked.push(at);
      return packed([at + 5]);
    });
    expect([table.has("a"), table.has("c"), table.lengthOf("a"), table.unread(["a", "c"])]).toEqual(
      [true, false, 1, ["a"]]);
    expect(() => table.get("a")).toThrow("not read");
    await Promise.all([table.read(["a", "c"]), table.read(["a"])]);
    await table.read(["a"]);
    expect([asked, [...table.values("a")], [...table.values("c")], table.get("c")]).toEqual([[0], [5], [], undefined]);
    expect([table.has("constructor"), table.unread(["a", "b"])]).toEqual([false, ["b"]]);
  });

  it("are asked for again of a server that did not answer, and what is damaged is not", async () => {
    let asked = 0;
    const answers = [() => Promise.reject(new Error("no answer")), () => "!"];
    const table = new Columns({ a: { at: 0, kind: "u8", length: 1, differences: false } }, () => answers[asked++]!());
    await expect(table.read(["a"])).rejects.toThrow("no answer");
    await expect(table.read(["a"])).rejects.toThrow(Damaged);
    await expect(table.read(["a"])).rejects.toThrow(Damaged);
    expect(asked).toBe(2);
  });

  it("of texts are asked for again where the server does not answer for their list", async () => {
    let asked = 0;
    const name = { at: 0, kind: "u8", length: 1, differences: false, texts: 1 } as const;
    const table = new Columns({ name }, (at) => {
      if (at === 0) return packed([0]);
      return asked++ ? packed([...Buffer.from('["a"]')]) : Promise.reject(new Error("no answer"));
    });
    const first = table.read(["name"]);
    await expect(first).rejects.toThrow("no answer");
    await expect(first).rejects.not.toThrow(Damaged);
    await table.read(["name"]);
    expect([asked, text(table.get("name"), 0)]).toEqual([2, "a"]);
  });

  it("are not there where a server ends in the middle of an answer, or refuses", async () => {
    const part = new ReadableStream({
      start(answer) { answer.enqueue(new Uint8Array(3)); },
      pull(answer) { answer.error(new TypeError("network error")); },
    });
    vi.stubGlobal("fetch", () => Promise.resolve(new Response(part)));
    await expect(served(1)).rejects.toThrow("incast view --serve does not answer any more");
    vi.stubGlobal("fetch", () => Promise.resolve(new Response("", { status: 404 })));
    await expect(served(1)).rejects.toThrow("says 404 of column 1");
    vi.unstubAllGlobals();
  });

  it("says of damaged columns that they are", async () => {
    const one = { at: 0, kind: "u8", length: 3, differences: false } as const;
    await expect(numbers(() => packed([1, 2]), one)).rejects.toThrow(Damaged);
    await expect(numbers(() => "!", one)).rejects.toThrow(Damaged);
    await expect(numbers(() => packed([1, 2, 3]).slice(0, 8), one)).rejects.toThrow(Damaged);
    await expect(json(() => packed([123]), 0)).rejects.toThrow(Damaged);
  });
});
