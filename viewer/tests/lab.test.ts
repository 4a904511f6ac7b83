import { describe, expect, it } from "vitest";
import { aboutOf } from "../src/engine/classes";
import { HELD, Pool, Stopped, type Thread } from "../src/engine/pool";
import type { Told } from "../src/engine/work";
import { askedOf, asCommand, asPython, FIRST, lessonIn, read, written, type Experiment } from "../src/lab/experiment";
import { edited } from "../src/lab/edited";
import { namesOf } from "../src/answers/compared";
import { experimentOf, figureOf, PAPERS, seriesOf } from "../src/lab/figures";
import { lackedOf, withFiles } from "../src/lab/Files";
import { label } from "../src/lab/Form";
import { LESSONS, mean, rightOf } from "../src/lab/lessons";
import { isAt } from "../src/lab/Lessons";
import { lasting, quantityOf } from "../src/lab/size";
import { called } from "../src/lab/Named";
import { STARTED } from "../src/lab/Own";
import { drawn, grownTo } from "../src/lab/curves";
import { deflate } from "../src/lab/packed";
import { asPythonClass } from "../src/lab/python";
import { grown, type Growing } from "../src/lab/runs";
import { changedLines } from "../src/lab/Toml";

const WHOLE: Experiment = {
  scenario: "mine", text: "[run]\nduration = \"1ms\" # <b>\n", set: [["queue.mark", "20p"], ["links", "[{ a = 1 }]"]],
  controllers: ["dctcp:g=0.1", "lab:Mine:b=0.7"], seeds: 7, own: [STARTED],
  files: [["net.toml", "hosts = []\n"], ["lists/a b.csv", "start,\u00e9\n"]],
};

describe("an address", () => {
  it("holds the whole experiment", async () => {
    expect(await read(`#${await written(WHOLE)}`)).toEqual(WHOLE);
    expect(await read(`#${await written(FIRST)}`)).toEqual(FIRST);
  });

  it("is refused where it asks too much", async () => {
    const many = Array.from({ length: 7 }, (_, i) => `cc=swift:ai=${i}`).join("&");
    await expect(read(many)).rejects.toThrow("at most 6 are compared");
    await expect(read("seeds=1e9")).rejects.toThrow("expected 1 to 50");
    await expect(read(`set=${"x".repeat(500)}=1`)).rejects.toThrow("a value of 500 characters");
    await expect(read("#%%%")).rejects.toThrow("none of the parts s, set, cc");
    await expect(read("set=only")).rejects.toThrow("expected KEY=VALUE");
    await expect(read("cc=dctcp&cc=dctcp")).rejects.toThrow("a controller twice");
    await expect(read("own=x%20abc")).rejects.toThrow("expected lab:NAME");
    await expect(read("file=abc")).rejects.toThrow(
      "file=abc; expected the name of a file, a space and its packed text");
    await expect(read("file=a%20%%%")).rejects.toThrow("cannot be read");
    const half = await deflate("a".repeat(150_000));
    await expect(read(`file=a%20${half}&file=b%20${half}`)).rejects.toThrow("files of more than 200000 bytes together");
    await expect(read(`file=a%20${half}&file=a%20${half}`)).rejects.toThrow("the file a twice");
    await expect(read(Array(33).fill("file=a%20").join("&"))).rejects.toThrow("33 files; at most 32");
    await expect(read("text=%%%")).rejects.toThrow("cannot be read");
    const bomb = await deflate("a".repeat(5_000_000));
    expect(bomb.length).toBeLessThan(10_000);
    await expect(read(`text=${bomb}`)).rejects.toThrow("more than 200000 bytes");
  });

  it("holds the lesson, of which a teacher may give the name alone", async () => {
    const whole = await written(WHOLE, "pfc");
    expect([await read(whole), lessonIn(`#${whole}`), lessonIn("#lesson=pfc"), lessonIn("#s=incast")]).toEqual(
      [WHOLE, "pfc", "pfc", null]);
  });

  it("is a command and Python of the installed program", () => {
    expect(asCommand(WHOLE)).toBe("incast compare mine.toml --cc dctcp:g=0.1 --cc mine.py:Mine:b=0.7 --seeds 7 "
      + "--set queue.mark=20p --set 'links=[{ a = 1 }]'");
    expect(asCommand({ ...FIRST, controllers: [] })).toBe(
      "incast compare incast --cc . --seeds 5 --set run.duration=100ms");
    expect(asCommand({ ...WHOLE, scenario: "net" })).toContain("incast compare net-scenario.toml ");
    expect(asPython(FIRST)).toContain('incast.compare(scenario, ["dctcp", "swift"], seeds=5)\ncompared.answer()');
  });
});

describe("files", () => {
  const kept: Experiment["files"] = [["net.toml", "1"], ["lists/b.csv", "2"]];

  it("get the names under which the scenario lacks them, each once", () => {
    expect(withFiles([], [["a.csv", "2"], ["a.csv", "3"], ["b.csv", "4"]], ["lists/a.csv", "x/a.csv"])).toEqual(
      [["b.csv", "4"], ["lists/a.csv", "2"], ["x/a.csv", "3"]]);
    // the very name comes before one that ends with it
    expect(withFiles([], [["a.csv", ""]], ["lists/a.csv", "a.csv"])).toEqual([["a.csv", ""]]);
    expect(lackedOf(["net.toml", "a.csv", "", "folder/"], kept)).toEqual(["a.csv"]);
  });

  it("replace those of their names", () => {
    expect(withFiles(kept, [["net.toml", "3"], ["b.csv", "4"]], [])).toEqual([["lists/b.csv", "4"], ["net.toml", "3"]]);
    expect(withFiles(kept, [["b.csv", "4"]], ["b.csv"])).toEqual([["b.csv", "4"], kept[1], kept[0]]);
    expect(withFiles([["a\u0308.csv", "1"]], [["\u00e4.csv", "2"]], [])).toEqual([["a\u0308.csv", "2"]]);
    expect(() => withFiles([["a/x", "1"], ["b/x", "1"]], [["x", "2"]], [])).toThrow("x may be a/x or b/x: remove");
  });

  it("are refused where an address has no room", () => {
    expect(() => withFiles([["b", "1"]], [["a", "x".repeat(200_000)]], [])).toThrow(
      "200,001 bytes together; an address holds 200,000");
    expect(() => withFiles([], Array.from({ length: 33 }, (_, i) => [`${i}`, ""]), [])).toThrow("33 files");
  });

  it("keep every byte in an address, and have names that are seen", async () => {
    const files: Experiment["files"] = [["__proto__", "\ufeffa\r\n"], ["a b'c", "\u{1f600}"]];
    expect((await read(`#${await written({ ...FIRST, files })}`)).files).toEqual(files);
    expect(Object.entries(askedOf({ ...FIRST, files }, null, null).files!)).toEqual(files);
    const shown: Experiment["files"] = [["\u{1f468}\u200d\u{1f469}.csv", "1"], ["\u200fa", "2"]];
    expect((await read(`#${await written({ ...FIRST, files: shown })}`)).files).toEqual(shown);
    for (const name of ["lists/", "a\u202ecsv", "a\nb", "\u0000"]) {
      expect(() => withFiles([], [[name, ""]], [])).toThrow("no address holds a file of this name");
      const hash = `file=${encodeURIComponent(name)}+${await deflate("1")}`;
      await expect(read(hash)).rejects.toThrow("expected the name of");
    }
  });
});

describe("a paper's figure", () => {
  const all = PAPERS.flatMap((paper) => paper.figures.map((figure) => ({ paper, figure })));

  it("is an experiment that its address holds", async () => {
    expect(all.length).toBeGreaterThan(100);
    for (const { paper, figure } of all) {
      const experiment = { ...FIRST, ...experimentOf(paper, figure) };
      const again = await read(`#${await written(experiment)}`);
      expect(again).toEqual(experiment);
      expect(figureOf(again)).toEqual({ paper, figure, changed: false });
    }
  });

  it("has a name of its own, and a series for each controller", () => {
    expect(new Set(all.map(({ paper, figure }) => experimentOf(paper, figure).scenario)).size).toBe(all.length);
    for (const { figure } of all) {
      expect(figure.series).toHaveLength(Math.max(1, figure.controllers.length));
      expect(figure.shows).not.toBe("");
    }
  });

  it("names what it compares, in sentences, tables and curves", () => {
    const { paper, figure } = all.find((one) => one.paper.name === "swift" && one.figure.name === "fig21")!;
    const series = seriesOf({ ...FIRST, ...experimentOf(paper, figure) });
    const [first, second] = figure.controllers as [string, string];
    expect([...series]).toEqual([[first, "with flow scaling"], [second, "without flow scaling"]]);
    expect([...namesOf([first, "dctcp", second], series).values()]).toEqual(
      ["with flow scaling", "dctcp", "without flow scaling"]);
    const curve = (label: string) => (
      { label, time_s: new Float64Array(), values: new Float64Array(), stepped: false, colour: 0 });
    expect(called([curve(second), curve(`${first}, train`), curve("dctcp"), curve("dctcp, train")], series)
      .map(({ label }) => label)).toEqual(
      ["without flow scaling", "with flow scaling, train", "dctcp", "dctcp, train"]);
    expect(seriesOf(FIRST).size).toBe(0);
  });

  it("is told from what was changed since, and from built-in scenarios", () => {
    const { paper, figure } = all.find(({ figure: { controllers } }) => controllers.length > 1)!;
    const experiment = { ...FIRST, ...experimentOf(paper, figure) };
    expect(figureOf({ ...experiment, seeds: experiment.seeds + 1 })).toEqual({ paper, figure, changed: true });
    // other seeds and controllers leave the paper's names to its own
    expect(seriesOf({ ...experiment, seeds: experiment.seeds + 1 })).toEqual(seriesOf(experiment));
    expect(seriesOf({ ...experiment, text: `${experiment.text}\n# mine` }).size).toBe(0);
    expect(seriesOf({ ...experiment, set: [...experiment.set, ["queue.limit", "9p"]] }).size).toBe(0);
    expect(seriesOf({ ...experiment, files: [["join.csv", ""]] }).size).toBe(0);
    expect(figureOf({ ...experiment, text: null })).toBeNull();
    expect(figureOf({ ...experiment, scenario: "mine" })).toBeNull();
  });
});

describe("words of the lab", () => {
  it("tell how long runs last, and how many hops they have", () => {
    expect([lasting(1), lasting(61), lasting(3 * 3600), lasting(4.3e6)]).toEqual(
      ["1 minute", "2 minutes", "3 hours", "50 days"]);
    expect([quantityOf(2.59e13, ""), quantityOf(3200, ""), quantityOf(5, "")]).toEqual(["25.9 trillion", "3,200", "5"]);
  });
});

describe("the form", () => {
  it("has the names of keys as words", () => {
    expect([label("topology.source_link.rate", false), label("traffic.answers.flows", false),
      label("traffic.answers.flows", true), label("controller", false)]).toEqual(
      ["source link rate", "flows", "answers flows", "controller"]);
  });

  it("marks changed lines, also where another table has the same", () => {
    const before = "[a]\nrate = 1\n\n[b]\nrate = 2\n";
    expect([...changedLines("[a]\nrate = 2\n\n[b]\nrate = 2\n", before)]).toEqual([1]);
    expect([...changedLines(before, before)]).toEqual([]);
  });
});

describe("a class of the user's", () => {
  it("becomes Python", () => {
    const python = asPythonClass(STARTED.text);
    expect(python).toContain('class Mine:\n    ecn = "classic"\n    state = ("cuts",)\n');
    expect(python).toContain("    def __init__(self, a=1.0, b=0.5):\n        self.a = a\n");
    expect(python).toContain('        if ((ack.phase == "open") and ack.cwnd_limited) and (not ack.ece):\n');
    expect(python).toContain("            self.cwnd += ((self.a * self.mss) * ack.acked) / self.cwnd\n");
    expect(python).toContain("        self.cwnd = max(self.b * self.cwnd, self.mss)\n");
  });

  it("is refused where Python has no counterpart, with its line", () => {
    const method = (body: string) => asPythonClass(`export default class A {\n  on_ack(ack) {\n${body}\n  }\n}`);
    expect(() => method("fetch('x')")).toThrow("line 3: a call of fetch");
    expect(() => method("const f = () => 1;")).toThrow("line 3: a ArrowFunctionExpression");
    expect(() => asPythonClass("class A {}")).toThrow("export default class");
    expect(method("if (ack.rtt_ps !== null) this.x = Math.sqrt(ack.rtt_ps ?? 1); else this.x++;")).toBe(
      "import math\n\n\nclass A:\n    def on_ack(self, ack):\n        if ack.rtt_ps is not None:\n            self.x = "
      + "math.sqrt(ack.rtt_ps if ack.rtt_ps is not None else 1)\n        else:\n            self.x += 1\n");
  });

  it("keeps its meaning, or is refused", () => {
    const line = (text: string) => asPythonClass(
      `export default class A {\n  on_ack(ack) {\n    this.x = ${text};\n  }\n}`).split("\n")
      .find((one) => one.includes("self.x ="))!.trim();
    expect(line("(-this.y) ** 2")).toBe("self.x = (-self.y) ** 2");
    expect(line("(a ? 1 : 2) ? 3 : 4")).toBe("self.x = 3 if (1 if a else 2) else 4");
    expect(line("5 % -3")).toBe("self.x = math.fmod(5, -3)");
    for (const wrong of ["Math.max(1)", "this.lambda", "self", "this.f() ?? 1", "`a`", "a?.b"]) {
      expect(() => line(wrong), wrong).toThrow("has no counterpart");
    }
    const whole = (text: string) => () => asPythonClass(`export default class A ${text}`);
    expect(whole("extends B { on_ack() {} }")).toThrow("extends");
    expect(whole("{ static { f(); } on_ack() {} }")).toThrow("static block");
    expect(whole("{ static params = { a: 1 }; constructor(p) { this.a = p.a; } }")).toThrow("this constructor");
    expect(whole("{ static params = { a: 1 }; constructor({ b }) { this.a = b; } }")).toThrow("does not take { a }");
    expect(whole("{ on_ack() { let w = 1; if (w) { let w = 2; } } }")).toThrow("a second w");
    expect(whole("{ async on_ack() {} }")).toThrow("this method");
    expect(whole("{ }")).toThrow("no methods");
  });

  it("says what it lacks", () => {
    expect(() => aboutOf(class { on_ack() { /* */ } }, "lab:A", "")).toThrow("lacks the method on_loss");
    expect(() => aboutOf(3, "lab:A", "")).toThrow("expected a class");
    class Wrong { static ecn = "yes"; on_ack() { /* */ } on_loss() { /* */ } on_timeout() { /* */ } }
    expect(() => aboutOf(Wrong, "lab:A", "")).toThrow("static ecn: expected one of off, classic, dctcp");
  });
});

describe("workers", () => {
  class Fake implements Thread {
    onmessage: Thread["onmessage"] = null;
    onerror: Thread["onerror"] = null;
    readonly asked: { id: number; task: { do: string } }[] = [];
    over = false;
    postMessage(message: unknown) { this.asked.push(message as Fake["asked"][0]); }
    terminate() { this.over = true; }
    tell(told: Told) { this.onmessage?.({ data: told } as MessageEvent<Told>); }
    get last() { return this.asked.at(-1)!; }
  }
  const pool = (silent?: number) => {
    const threads: Fake[] = [];
    const own = new Pool({} as WebAssembly.Module, () => {
      threads.push(new Fake());
      return threads.at(-1)!;
    }, 2, silent);
    return { own, threads };
  };
  const run = (own: Pool) => own.ask({ do: "run", scenario: { name: "dumbbell" }, sources: [], tables: [] });

  it("answer beside runs that take all of them", async () => {
    const { own, threads } = pool();
    const all = [run(own), run(own), run(own)].map((one) => one.catch(() => "stopped"));
    const told = own.ask({ do: "text", name: "dumbbell" });
    expect(threads).toHaveLength(3);
    threads[2]!.tell({ id: threads[2]!.last.id, answer: "text" });
    expect(await told).toBe("text");
    // the third run waits for one of the two
    expect(threads[2]!.last.task).toMatchObject({ do: "text" });
    threads[0]!.tell({ id: threads[0]!.last.id, answer: { summary: "{}" } });
    await all[0];
    own.stop();
    expect(await Promise.all(all.slice(1))).toEqual(["stopped", "stopped"]);
    own.close();
  });

  it("take what waits, and end at once when they are stopped", async () => {
    const { own, threads } = pool();
    const all = [run(own), run(own), run(own)];
    const ended = all.map((one) => one.catch((error: unknown) => error));
    threads[0]!.tell({ id: threads[0]!.last.id, answer: { summary: "{}" } });
    expect(await all[0]).toEqual({ summary: "{}" });
    expect(threads.map(({ asked }) => asked.length)).toEqual([3, 2]);
    own.stop();
    expect(threads.map(({ over }) => over)).toEqual([true, true]);
    expect((await ended[1]) instanceof Stopped && (await ended[2]) instanceof Stopped).toBe(true);
    void own.ask({ do: "list", kind: "controllers" }).catch(() => undefined);
    expect(threads.length).toBe(3);
    own.close();
  });

  it("give the memory of a large run back: another worker takes the next", async () => {
    const { own, threads } = pool();
    for (const [held, over] of [[1e6, false], [HELD + 1, true]] as const) {
      const one = run(own);
      const thread = threads.at(-1)!;
      thread.tell({ id: thread.last.id, answer: { summary: "{}" }, held });
      await one;
      expect([threads.length, thread.over]).toEqual([1, over]);
    }
    void run(own).catch(() => undefined);
    expect([threads.length, threads[1]!.last.task.do]).toEqual([2, "run"]);
    own.close();
  });

  it("are ended where a loop has no end", async () => {
    const { own, threads } = pool(20);
    await expect(run(own)).rejects.toThrow("too large for a page");
    await expect(own.ask({ do: "class", source: STARTED })).rejects.toThrow("is there a loop without an end");
    expect(threads[0]!.over).toBe(true);
  });
});

describe("curves that grow", () => {
  it("have each point once, of runs that are under way", () => {
    let growing = new Map<string, Growing>();
    expect([grownTo(growing), drawn([], () => 0, growing)]).toEqual([0, []]);
    const before = growing = grown(growing, "dctcp", { at_s: 1, bytes: 10 });
    growing = grown(growing, "dctcp", { at_s: 1, bytes: 10 });
    expect(growing).toBe(before);
    growing = grown(growing, "dctcp", { at_s: 2, bytes: 30 });
    growing = grown(growing, "swift", { at_s: 1.5, bytes: 5 });
    expect(before.get("dctcp")!.bytes).toEqual([0, 10]);
    const [only, ...others] = drawn([], (controller) => (controller === "swift" ? 1 : 0), growing);
    expect(others).toEqual([]);
    expect(only!.key).toBe("delivered");
    const seen = only!.curves.map((own) => [own.label, own.colour, Array.from(own.time_s), Array.from(own.values)]);
    expect(seen).toEqual([["dctcp", 0, [0, 1, 2], [0, 10, 30]], ["swift", 1, [0, 1.5], [0, 5]]]);
    expect(grownTo(growing)).toBe(2);
  });
});

describe("a lesson", () => {
  it("has an answer only where its runs carry exactly one", () => {
    const result = (value: number) => [{ controller: "a", seed: 1, summary: { flows: { jain: value } } }];
    const against = () => "";
    const lesson = { ...LESSONS[0]!, answers: [
      { words: "less", holds: () => mean(result(1), "flows.jain") < 0, against },
      { words: "more", holds: () => true, against }] };
    expect(rightOf(lesson, [], [])).toBe(1);
    expect(rightOf({ ...lesson, answers: [...lesson.answers, lesson.answers[1]!] }, [], [])).toBeNull();
    expect(mean(result(3), "flows.none")).toBeNaN();
  });
});

describe("what a lesson waits for", () => {
  it("is its experiment before the change, and after it", () => {
    for (const lesson of LESSONS) {
      const before = { ...FIRST, ...lesson.begins };
      const after = { ...before, ...lesson.change, set: [...before.set, ...lesson.change.set ?? []] };
      expect([isAt(before, lesson, false), isAt(before, lesson, true), isAt(after, lesson, false),
        isAt(after, lesson, true)]).toEqual([true, false, false, true]);
    }
  });
});

describe("a text whose form is changed", () => {
  const TEXT = `# A dumbbell.
controller = "dctcp" # as in the paper

[run]
duration = "10ms" # short
# warm-up of a tenth

[topology]
kind = "dumbbell"
link = { rate = "10Gbps", delay = "1us" } # both

[[traffic]]
name = "a" # first
app = { kind = "bulk", size = "1MB" }

[[traffic]]
name = "b"
flows = 3
`;
  const BEFORE = `controller = "dctcp"
[run]
duration = "10ms"
[topology]
kind = "dumbbell"
[topology.link]
rate = "10Gbps"
delay = "1us"
[[traffic]]
name = "a"
[traffic.app]
kind = "bulk"
size = "1MB"
[[traffic]]
name = "b"
flows = 3
`;
  const changed = (from: string, to: string) => edited(TEXT, BEFORE, BEFORE.replace(from, to));

  it("keeps its comments and its order", () => {
    expect(changed('"10ms"', '"20ms"')).toBe(TEXT.replace('"10ms"', '"20ms"'));
    expect(changed('"10Gbps"', '"40Gbps"')).toBe(TEXT.replace('"10Gbps"', '"40Gbps"'));
    expect(changed('"1MB"', '"2MB"')).toBe(TEXT.replace('"1MB"', '"2MB"'));
    expect(changed("flows = 3", "flows = 4")).toBe(TEXT.replace("flows = 3", "flows = 4"));
    expect(changed('controller = "dctcp"', 'controller = "swift"')).toBe(TEXT.replace('"dctcp"', '"swift"'));
  });

  it("gets a new key at the end of its table", () => {
    expect(changed('duration = "10ms"', 'duration = "10ms"\nwarmup = "1ms"')).toBe(
      TEXT.replace("# short", '# short\nwarmup = "1ms"'));
    expect(changed('delay = "1us"', 'delay = "1us"\njitter = 2')).toBe(
      TEXT.replace('delay = "1us" }', 'delay = "1us", jitter = 2 }'));
    expect(changed('name = "a"', 'name = "a"\nstart = "1us"')).toBe(
      TEXT.replace('size = "1MB" }', 'size = "1MB" }\nstart = "1us"'));
    expect(changed('controller = "dctcp"', 'controller = "dctcp"\nseed = 2')).toBe(
      TEXT.replace("# as in the paper", "# as in the paper\nseed = 2"));
  });

  it("is written anew where a change has no place in it", () => {
    expect(changed('duration = "10ms"\n', "")).toBeNull();
    expect(changed("[[traffic]]\nname = \"b\"", "[queue]\nlimit = 3\n[[traffic]]\nname = \"b\"")).toBeNull();
    expect(changed('[topology.link]\nrate = "10Gbps"\ndelay = "1us"\n', "")).toBeNull();
    expect(edited("[run\n", BEFORE, BEFORE.replace("3", "4"))).toBeNull();
    expect(edited(TEXT, BEFORE, BEFORE)).toBe(TEXT);
  });

  it("reads texts of several lines, quoted keys and arrays", () => {
    const plain = `a."b c" = """\n[x]\ny = 1"""\nz = [ # three\n  { a = 1 }, { a = 2 }, "]"\n]\nq = 1 # one\n`;
    expect(edited(plain, "q = 1", "q = [1, 2]")).toBe(plain.replace("q = 1", "q = [1, 2]"));
  });
});
