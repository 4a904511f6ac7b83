/** The lab in Chromium, from a file: as one opens it. */

import { readFileSync } from "node:fs";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deflate } from "../src/lab/packed";
import { LESSONS } from "../src/lab/lessons";
import { STARTED } from "../src/lab/Own";

const { INCAST_CHROMIUM = "/usr/bin/chromium", INCAST_LAB = "" } = process.env;
const LONG = { timeout: 120_000 };

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: INCAST_CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
});
afterAll(async () => { await browser.close(); });

interface Opened {
  page: Page;
  /** Messages of errors, and addresses that the page asked for. */
  errors: string[];
  asked: string[];
}

async function opened(hash = "", width = 1280, height = 800): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width, height } });
  const [errors, asked]: [string[], string[]] = [[], []];
  page.on("pageerror", (error) => { errors.push(error.message); });
  page.on("request", (request) => { asked.push(request.url()); });
  await page.goto(`${INCAST_LAB}${hash}`);
  await page.waitForSelector(".runbar", LONG);
  return { page, errors, asked };
}

const ready = (page: Page) => page.waitForSelector(".runbar .run:not([disabled])", LONG);

async function ran(page: Page): Promise<void> {
  await ready(page);
  await page.click(".runbar .run");
  const over = () => /^(\d+) of \1 runs/.test(document.querySelector(".prog")?.textContent ?? "");
  await page.waitForFunction(over, null, LONG);
}

describe("the lab", () => {
  it("answers, with a table, curves and the fabric, and asks nobody for anything", async () => {
    const { page, errors, asked } = await opened();
    await ran(page);
    expect(await page.textContent(".answer")).toMatch(/swift|dctcp/);
    expect(await page.$$(".fig-table tbody tr")).toHaveLength(2);
    expect(await page.$$("canvas")).not.toHaveLength(0);
    expect(await page.textContent(".take pre")).toContain("incast compare incast --cc dctcp --cc swift --seeds 5");
    expect(errors).toEqual([]);
    expect(asked.filter((address) => !/^(file|blob|data):/.test(address))).toEqual([]);
    await page.close();
  });

  it("shows what a long run has delivered so far, and then all of it", async () => {
    const { page, errors } = await opened("#s=dumbbell&set=run.duration=4s&cc=dctcp&seeds=1");
    await ready(page);
    await page.click(".runbar .run");
    await page.waitForSelector(".seen:has-text('under way') canvas", LONG);
    expect(await page.textContent(".seen .plot, .seen figure, .seen")).toContain("Delivered");
    await page.waitForSelector(".seen .network canvas", LONG);
    await page.click(".seen button:has-text('Delivered')");
    expect(await page.textContent(".seen")).not.toContain("under way");
    expect(errors).toEqual([]);
    await page.close();
  });

  it("hands out what came out as a picture, and knows of none before", async () => {
    const { page, errors } = await opened("#s=incast&set=run.duration=50ms&cc=dctcp&cc=swift&seeds=2");
    await ready(page);
    await page.click(".take button:has-text('As a picture')");
    expect(await page.isDisabled(".take button:has-text('Save SVG')")).toBe(true);
    await ran(page);
    const saved = async (type: string) => {
      const [file] = await Promise.all([page.waitForEvent("download"),
        page.click(`.take button:has-text('Save ${type}')`)]);
      return [file.suggestedFilename(), readFileSync(await file.path())] as const;
    };
    const [name, svg] = await saved("SVG");
    expect(name).toBe("incast-dctcp-swift.svg");
    for (const words of ["Complete flows", "incast compare incast --cc dctcp --cc swift --seeds 2"]) {
      expect(svg.toString().includes(words), words).toBe(true);
    }
    const [, png] = await saved("PNG");
    expect([...png.subarray(0, 4), png.length > 20_000]).toEqual([0x89, 0x50, 0x4e, 0x47, true]);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("keeps the experiment in its address, form and text", async () => {
    const { page } = await opened("#s=dumbbell&set=run.duration=5ms&set=run.warmup=1ms&cc=newreno&seeds=2");
    await ready(page);
    const mark = page.locator("[id='field-queue.mark']");
    await mark.fill("20p");
    await mark.press("Tab");
    await page.waitForFunction(() => location.hash.includes("queue.mark%3D20p"));
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>(".toml textarea")?.value
      .includes('mark = "20p"'));
    await mark.fill("many");
    await mark.press("Tab");
    await page.waitForSelector(".f .wrong", LONG);
    expect(await page.textContent(".f .wrong")).toContain("queue.mark");
    await mark.fill("30p");
    await mark.press("Tab");
    await ready(page);
    await page.reload();
    await ready(page);
    expect(await mark.inputValue()).toBe("30p");
    const area = page.locator(".toml textarea");
    await area.fill((await area.inputValue()).replace("30p", "40p"));
    await page.waitForFunction(() => location.hash.includes("text="), null, LONG);
    await page.waitForFunction(() => (
      document.querySelector<HTMLInputElement>("[id='field-queue.mark']")?.value === "40p"), null, LONG);
    await page.close();
  });

  it("keeps the comments of a text as the form changes it, and tells all its errors", async () => {
    const { page, errors } = await opened("#s=two-senders&set=run.duration=5ms&cc=newreno&seeds=1");
    await ready(page);
    const area = page.locator(".toml textarea");
    const text = () => area.inputValue();
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>(".toml textarea")?.value
      .includes('duration = "5ms"'));
    expect(await text()).toMatch(/^# /);
    await area.fill((await text()).replace(/^duration = .*$/m, 'duration = "4ms" # mine'));
    await page.waitForFunction(() => location.hash.includes("text="), null, LONG);
    await ready(page);
    const duration = page.locator("[id='field-run.duration']");
    await duration.fill("3ms");
    await duration.press("Tab");
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>(".toml textarea")?.value
      .includes('duration = "3ms" # mine'));
    await area.fill('[run]\nduration = 5ms\n[queue\nkind = "red"\n');
    await page.waitForSelector(".toml .wrong", LONG);
    const wrong = await page.textContent(".toml .wrong, .left p.wrong");
    expect(wrong).toContain("line 2");
    expect(wrong).toContain("line 3");
    expect(errors).toEqual([]);
    await page.close();
  });

  it("shows training jobs: iteration times, lanes of ranks, collectives", async () => {
    const small = ["train", "other"].map((job) => `set=job.${job}.collective.size=200kB`).join("&");
    const { page, errors } = await opened(`#s=two-jobs&${small}&cc=dctcp&cc=swift&seeds=2`);
    await ran(page);
    expect(await page.textContent(".answer")).toContain("iteration time of");
    expect(await page.textContent(".fig-table")).toContain("Mean iteration time of train");
    expect(await page.textContent(".seen .seg button[aria-pressed=true]")).toBe("Iteration time");
    expect(await page.textContent(".jobs .ranks h2")).toContain("of 2 jobs");
    await page.click(".jobs [data-tab=collectives]");
    await page.waitForSelector("#collectives [data-collective]");
    expect(await page.$$("#collectives [data-collective]")).toHaveLength(2);
    await page.click("#collectives td[data-column=time_s]");
    await page.waitForFunction(() => document.querySelectorAll("#collectives [data-collective]").length === 3);
    await page.click("#collectives td[data-column=time_s]");
    await page.waitForSelector(".seen .curves button:has-text('show all of the time')");
    expect(errors).toEqual([]);
    await page.close();
  });

  it("keeps in sight what a class lacks, and what runs it, below a text longer than the window", async () => {
    const { page } = await opened();
    await page.click("[role=tab]:has-text('Own controller')");
    await page.waitForSelector(".own .btn.main:not([disabled])", LONG);
    const { y, height } = (await page.locator(".own .btn.main").boundingBox())!;
    const bar = (await page.locator(".runbar").boundingBox())!;
    expect(y + height).toBeLessThanOrEqual(bar.y);
    expect((await page.locator(".own [role=status]").first().boundingBox())!.y).toBeLessThan(y);
    await page.close();
  });

  it("has the parameters of the user's class on its chip", async () => {
    const { page } = await opened("#s=two-senders&set=run.duration=2ms&cc=dctcp&seeds=1");
    await ready(page);
    await page.click("[role=tab]:has-text('Own controller')");
    await page.click(".own .btn.main:not([disabled])", LONG);
    await ready(page);
    await page.click(".chip .name:has-text('Mine')");
    const field = page.locator("#par-b");
    await field.waitFor(LONG);
    expect(await field.getAttribute("placeholder")).toBe("0.5");
    await field.fill("0.7");
    await field.press("Tab");
    await page.waitForFunction(() => location.hash.includes("lab%3AMine%3Ab%3D0.7"), null, LONG);
    await ran(page);
    expect(await page.textContent(".fig-table")).toContain("Mine b=0.7");
    await page.close();
  });

  it("runs a class of the user's beside the others, and asks before it runs that of a link", async () => {
    const own = await deflate(STARTED.text);
    const { page, errors } = await opened(`#s=two-senders&set=run.duration=8ms&cc=dctcp&cc=lab:Mine&seeds=2&own=${
      encodeURIComponent(`lab:Mine ${own}`)}`);
    await page.waitForSelector(".asks");
    expect(await page.isDisabled(".runbar .run")).toBe(true);
    await page.click(".asks button:has-text('Read it')");
    await page.waitForSelector(".own [role=status]:has-text('not allowed')", LONG);
    await page.click(".asks button:has-text('Allow it')");
    await ran(page);
    expect(await page.textContent(".fig-table")).toContain("Mine");
    await page.click("[role=tab]:has-text('Own controller')");
    const code = page.locator(".own .code");
    await code.fill(STARTED.text.replace("class Mine", "class Other"));
    await page.click(".own .btn.main:not([disabled])", LONG);
    await ran(page);
    expect(await page.textContent(".fig-table")).toContain("Other");
    await page.click("[role=tab]:has-text('Own controller')");
    await code.fill(STARTED.text.replace("on_ack(ack) {", "on_ack(ack) { oops oops"));
    await page.waitForSelector(".own .wrong", LONG);
    expect(await page.textContent(".own .wrong")).toMatch(/line \d+/);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("refuses hostile addresses in words, and stays alive", async () => {
    const bomb = await deflate("a".repeat(3_000_000));
    for (const [hash, words] of [
      [`#s=incast&text=${bomb}`, "more than 200000 bytes"],
      ["#s=<img src=x onerror=alert(1)>", "no built-in scenario of this name"],
      ["#s=<script>alert(1)</script>", "no built-in scenario of this name"],
      [`#s=incast&file=a%20${bomb}`, "more than 200000 bytes"],
      [`#s=incast&file=${"<img src=x onerror=alert(1)> "}${await deflate("x")}`, "not named by the scenario"],
      ["#%%%", "none of the parts s, set"],
      ["#lesson=<b>", "there is no lesson <b>"],
      ["#s=incast&cc=nope", "no such controller"],
      ["#s=permutation&set=topology.k=128", "more memory"],
      ["#s=dumbbell&seeds=99999", "expected 1 to 50"],
    ] as const) {
      const { page, errors } = await opened(hash);
      await page.waitForFunction((own) => document.body.textContent?.includes(own), words, LONG);
      expect(await page.$$("img")).toHaveLength(0);
      expect(errors).toEqual([]);
      await page.close();
    }
    const { page } = await opened("#s=hotspot&set=run.duration=100s&cc=dctcp&seeds=50");
    await ready(page);
    await page.click(".runbar .run");
    expect(await page.textContent(".asks")).toContain("hops");
    await page.click(".asks button");
    await page.click(".runbar button:has-text('Stop')");
    await page.waitForFunction(() => document.querySelector(".prog")?.textContent?.includes("stopped"), null, LONG);
    await page.close();
  });

  for (const lesson of LESSONS) {
    it(`teaches: ${lesson.key}`, async () => {
      const { page, errors } = await opened();
      await page.click("[role=tab]:has-text('Lessons')");
      await page.click(`.lessons button:has-text("${lesson.question}")`);
      await ready(page);
      await page.click(".lesson .btn.main:has-text('Run')");
      await page.click(".lesson .btn:has-text('Change it')", LONG);
      await page.click(".lesson li:nth-child(2) .btn.main", LONG);
      await page.waitForSelector(".choices button:not([disabled])", LONG);
      const said: (string | null)[] = [];
      for (const choice of await page.$$(".choices button")) {
        await choice.click();
        said.push(await page.textContent(".lesson li:last-child [role=status]"));
      }
      expect(said.filter((words) => words === lesson.why)).toHaveLength(1);
      expect(said.filter((words) => / (went from .* to|stayed at) .*\. [A-Z]/.test(words ?? ""))).toHaveLength(2);
      expect(errors).toEqual([]);
      await page.close();
    });
  }

  it("opens a lesson by its name, and keeps it in the address", async () => {
    const { page, errors } = await opened("#lesson=pfc");
    await page.waitForSelector(".lesson h2:has-text('Who pays')", LONG);
    await ready(page);
    await page.waitForFunction(() => /s=pfc-incast.*lesson=pfc/.test(location.hash));
    await page.reload();
    await page.waitForSelector(".lesson h2:has-text('Who pays')", LONG);
    // another experiment is not the lesson's, and a link to it opens as an experiment
    await page.click("[role=tab]:has-text('Experiment')");
    await page.click(".sc:has-text('Dumbbell')");
    await page.waitForFunction(() => /s=dumbbell/.test(location.hash) && !location.hash.includes("lesson="));
    await page.click("[role=tab]:has-text('Lessons')");
    await page.click("button:has-text('Begin again')");
    await page.waitForFunction(() => /s=pfc-incast.*lesson=pfc/.test(location.hash));
    await page.click("button:has-text('All lessons')");
    await page.waitForFunction(() => !location.hash.includes("lesson="));
    expect(errors).toEqual([]);
    await page.close();
  });

  it("runs a paper's figure, chosen by the keyboard, and opens it again by its address", async () => {
    const { page, errors } = await opened();
    await ready(page);
    await page.focus(".papers > .sc");
    await page.keyboard.press("Enter");
    await page.selectOption(".papers select", "related");
    await page.focus(".offered button");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Vegas and Reno");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash.startsWith("#s=related-vegas&"));
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Papers' figures");
    expect(await page.$(".offered")).toBeNull();
    expect(await page.textContent(".figure")).toContain("incast paper run related/vegas");
    await ran(page);
    expect(await page.textContent(".answer")).toContain("Vegas");
    const named = async (of: string) => (await page.locator(of).allTextContents()).map((text) => text.trim());
    const series = ["NewReno", "Vegas", "Vegas, Linux", "Vegas, ns-3"];
    expect((await named(".fig-table tbody th")).map((text) => text.replace(/ [▸◆]$/, ""))).toEqual(series);
    expect(await named(".network .seg button")).toEqual(series);
    // a value at the cursor stands behind a name
    expect(await page.evaluate(() => [...document.querySelectorAll(".curves .key")].map((key) => (
      [...key.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent).join("")
    )))).toEqual(series);
    await page.reload();
    await ready(page);
    expect(await page.getAttribute(".papers > .sc", "aria-pressed")).toBe("true");
    expect(await page.textContent(".figure")).not.toContain("As in the figure");
    const duration = page.locator("[id='field-run.duration']");
    await duration.fill("20s");
    await duration.press("Tab");
    await page.click(".figure button:has-text('As in the figure')");
    await page.waitForFunction(() => !document.querySelector(".figure")?.textContent?.includes("As in the figure"));
    expect(errors).toEqual([]);
    await page.close();
  });

  it("tells what is wrong while runs go on, and takes a text for the scenario that it was typed for", async () => {
    const { page, errors } = await opened("#s=dumbbell&set=run.duration=4s&cc=dctcp&seeds=10");
    await ready(page);
    await page.click(".runbar .run");
    await page.waitForSelector(".runbar button:has-text('Stop'):not([disabled])", LONG);
    const mark = page.locator("[id='field-queue.mark']");
    await mark.fill("many");
    await mark.press("Tab");
    await page.waitForSelector(".f .wrong", LONG);
    expect(await page.textContent(".prog")).toMatch(/^[0-4] of 10 runs/);
    await page.click(".runbar button:has-text('Stop')");
    await mark.fill("30p");
    await mark.press("Tab");
    await ready(page);
    // typed just before another tab
    const area = page.locator(".toml textarea");
    await area.fill((await area.inputValue()).replace("30p", "40p"));
    await page.click("[role=tab]:has-text('Lessons')");
    await page.click("[role=tab]:has-text('Experiment')");
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>(".toml textarea")?.value
      .includes('"40p"'), null, LONG);
    // typed just before another scenario
    await ready(page);
    await area.fill((await area.inputValue()).replace("40p", "50p"));
    await page.click(".sc:has-text('Incast')");
    await page.waitForTimeout(700);
    expect(await page.evaluate(() => location.hash)).toMatch(/^#s=incast&(?!.*text=)/);
    // and back to what was there
    await page.selectOption("[aria-label='All scenarios']", "star");
    await page.waitForFunction(() => location.hash.startsWith("#s=star"));
    await page.goBack();
    await page.waitForFunction(() => location.hash.startsWith("#s=incast"));
    expect(errors).toEqual([]);
    await page.close();
  });

  it("takes files that the scenario names, and keeps them in the address", async () => {
    const text = `controller = "dctcp"
[run]
duration = "5ms"
[topology]
kind = "star"
sources = 2
source_link = { rate = "1Gbps", delay = "10us" }
sink_link = { rate = "1Gbps", delay = "10us" }
[queue]
kind = "ecn-threshold"
limit = "100p"
mark = "20p"
[[traffic]]
name = "listed"
pattern = "file"
file = "lists/flows.csv"
`;
    const flows = "start,source,destination,size\n0s,0,sink,20kB\n1ms,1,sink,30kB\n";
    const { page, errors } = await opened(`#s=mine&seeds=1&text=${await deflate(text)}`);
    await page.waitForSelector(".files li.wrong:has-text('lists/flows.csv is missing')", LONG);
    expect(await page.textContent(".prog.wrong")).toBe("Cannot run: lists/flows.csv is missing: add it under Files");
    expect(await page.textContent(".toml .wrong")).toContain("no file of this name came with the scenario");
    const add = (name: string, bytes: string | Buffer) => page.setInputFiles(".files input", {
      name, mimeType: "text/csv", buffer: Buffer.from(bytes),
    });
    await add("flows.csv", Buffer.from([0xff, 0xfe, 0x00]));
    await page.waitForSelector(".files [role=alert]:has-text('flows.csv is not a text file')");
    await add("flows.csv", "x".repeat(200_001));
    await page.waitForSelector(".files [role=alert]:has-text('an address holds 200,000')");
    // it gets the name under which it is lacking
    await add("flows.csv", flows);
    await page.waitForSelector(".files li:has-text('lists/flows.csv'):not(.wrong)");
    await page.click(".files summary:has-text('lists/flows.csv')");
    expect(await page.textContent(".files li pre")).toBe(flows);
    expect(await page.$(".files [role=alert]")).toBeNull();
    await ran(page);
    expect(await page.textContent(".fig-table tbody")).toContain("as it is");
    await page.waitForFunction(() => location.hash.includes("file=lists%2Fflows.csv+"));
    await page.reload();
    await ready(page);
    expect(await page.textContent(".take .soft")).toContain("It needs mine.toml, lists/flows.csv: save them");
    await page.click(".take button:has-text('As a file')");
    const [file] = await Promise.all([page.waitForEvent("download"),
      page.click(".take button:has-text('Save lists/flows.csv')")]);
    expect([file.suggestedFilename(), readFileSync(await file.path(), "utf-8")]).toEqual(["flows.csv", flows]);
    expect(await page.textContent(".take")).toContain("The scenario reads lists/flows.csv: put it there.");
    // the same file again, with another flow: dropped somewhere on the page, it takes the place of the first
    const dropped = await page.evaluateHandle((words) => {
      const brought = new DataTransfer();
      brought.items.add(new File([words], "flows.csv"));
      return brought;
    }, `${flows}2ms,0,sink,10kB\n`);
    await page.dispatchEvent(".right", "dragover", { dataTransfer: dropped });
    await page.dispatchEvent(".right", "drop", { dataTransfer: dropped });
    await page.waitForFunction(() => document.querySelector(".left")?.textContent?.includes("3 flows"), null, LONG);
    expect(await page.locator(".files li").count()).toBe(1);
    await page.click("[aria-label='Remove lists/flows.csv']");
    await page.waitForSelector(".files li.wrong:has-text('lists/flows.csv is missing')", LONG);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("runs a figure whose scenario names files", async () => {
    const { page, errors } = await opened();
    await ready(page);
    await page.click(".papers > .sc");
    // its file is named by a setting: the text alone names one that it lacks
    await page.selectOption(".papers select", "hpcc");
    await page.click(".offered button:has-text('9e')");
    await ran(page);
    expect(await page.locator(".files li").allTextContents()).toHaveLength(1);
    expect(await page.textContent(".figure")).toContain("incast paper run hpcc/fig9-");
    expect(errors).toEqual([]);
    await page.close();
  });

  it("is no wider than a telephone", async () => {
    const { page } = await opened("", 390, 844);
    await ran(page);
    const [wide, seen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(wide).toBeLessThanOrEqual(seen!);
    await page.close();
  });

  it("has names for all that it offers", async () => {
    const { page } = await opened();
    await ran(page);
    const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, textarea")]
      .filter((one) => !one.textContent?.trim() && !one.getAttribute("aria-label") && !one.getAttribute("title")
        && !document.querySelector(`label[for="${CSS.escape(one.id)}"]`) && !one.closest("label"))
      .map((one) => `${one.tagName} ${one.className} ${one.id}`));
    expect(nameless).toEqual([]);
    expect(await page.$$("h1")).toHaveLength(1);
    await page.close();
  });
});
