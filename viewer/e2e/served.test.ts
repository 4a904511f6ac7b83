/** The viewer in Chromium, at a server that hands out the runs. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  address, alerts, becomes, blank, figure, FILES, GONE, inBrowser, now, page, partsOf, SERVED, tab, told, type Places,
} from "./browser";

inBrowser();

it("shows runs that a server hands out, and asks nobody else", async () => {
  await blank();
  const asked: string[] = [];
  page.on("request", (one) => asked.push(one.url()));
  await page.goto(`${SERVED}#t=${told.frame * 1e-5}&port=${told.port}&beside=0`);
  await becomes(() => figure(".details", "queue_max_bytes")).toBe(told.queue_max_bytes);
  await page.selectOption("#run", "1");
  await becomes(() => page.textContent("h1")).toContain("markup");
  await becomes(() => page.textContent(".heat .bar")).toContain("largest queue");
  const others = asked.filter((url) => /^(http|ws)/.test(url) && !url.startsWith(SERVED));
  expect([others, asked.filter((url) => url.includes("/parts/")).length > 2]).toEqual([[], true]);
  expect(await page.evaluate(`new Promise((done) => {
    addEventListener("securitypolicyviolation", (event) => { done(event.effectiveDirective); });
    fetch("http://127.0.0.1:9/").catch(() => {});
  })`)).toBe("connect-src");
});

it("asks a server for columns once something shows them, and says so when it does not answer", async () => {
  await blank();
  const asked = new Set<number>();
  page.on("request", (one) => {
    for (const part of partsOf(one.url())) asked.add(part);
  });
  await page.goto(`${SERVED}#t=${told.frame * 1e-5}`);
  await page.waitForSelector("#heat[data-painter]");
  const runs = await page.evaluate(() => (
    JSON.parse(document.getElementById("incast-runs")!.textContent!) as { runs: unknown }).runs) as Places;
  const isAsked = (table: string, name: string, run = 0) => asked.has(runs[run]![table]!.columns[name]!);
  expect([isAsked("records", "queue_max_bytes"), isAsked("records", "busy"), isAsked("records", "queue_mean_bytes"),
    isAsked("by_flow", "cwnd_bytes"), isAsked("packets", "seq"), isAsked("records", "starts", 1)]).toEqual(
    [true, false, false, false, false, false]);
  await page.selectOption("#metric", "busy");
  await becomes(() => page.textContent(".heat .bar")).toContain("utilisation");
  expect([isAsked("records", "busy"), isAsked("records", "queue_mean_bytes")]).toEqual([true, false]);
  await page.click(`#flows tr[data-flow="${told.slowest}"]`);
  await becomes(() => page.textContent(".details h2")).toBe(`Flow ${told.slowest}`);
  expect(isAsked("packets", "seq")).toBe(true);
  // the server is gone: what is there stays, and goes on once it answers again
  await page.route("**/parts/*", (route) => route.abort());
  await page.selectOption("#port", String(told.port));
  await becomes(alerts).toEqual(
    ["This cannot be shown: incast view --serve no longer answers."]);
  await becomes(() => page.inputValue("#port")).toBe("");
  await page.locator("#port").blur();
  await page.keyboard.press("ArrowRight");
  await becomes(now).toContain(`frame ${told.frame + 1}`);
  await becomes(() => page.locator(".details .figures").count()).toBe(0);
  await page.keyboard.press("ArrowLeft");
  // what said it before says it until the page asks again
  const refused = page.waitForEvent("requestfailed");
  await page.click("#again");
  await refused;
  await becomes(alerts).toHaveLength(1);
  await page.unroute("**/parts/*");
  await page.click("#again");
  await becomes(() => figure(".details", "queue_mean_bytes")).toBe(told.queue_mean_bytes);
  await becomes(alerts).toEqual([]);
  // of the port and of the flow their blocks alone
  const blocks = (table: string, name: string) => {
    const { columns, blocks: all } = runs[0]![table]!;
    return Array.from({ length: all }, (_, block) => block).filter((block) => asked.has(columns[name]! + block));
  };
  const block = (table: string, whose: number) => [Math.floor(whose / runs[0]![table]!.size)];
  expect([runs[0]!.records!.blocks, runs[0]!.by_flow!.blocks]).toEqual([6, 8]);
  expect([blocks("records", "queue_mean_bytes"), blocks("by_flow", "cwnd_bytes"), blocks("records", "busy").length])
    .toEqual([block("records", told.port), block("by_flow", told.slowest), 6]);
});

/** Hold what the server answers until the function that it gives is called. */
async function held(): Promise<() => void> {
  let go = () => {};
  const going = new Promise<void>((done) => { go = done; });
  await page.route("**/parts/*", async (route) => {
    await going;
    await route.continue();
  });
  return go;
}

it("shows a stretch of runs that a server hands out, and two of them beside one another", async () => {
  await blank();
  await page.goto(`${SERVED}#t=0.0005`);
  await page.waitForSelector("#heat[data-painter]");
  await page.click("#from");
  await page.fill("#scrub", "99");
  await page.click("#to");
  await tab("range");
  await becomes(() => page.textContent(".stretch p")).toContain("frames 50 to 99");
  for (const name of ["marks", "drops", "delivered_bytes"] as const) {
    await becomes(() => page.textContent(`.stretch dd[data-sum=${name}]`)).toContain(told.stretch[name]);
  }
  await page.click("#all");
  await page.selectOption("#beside", "1");
  await becomes(() => page.locator("#fabric, #other").count()).toBe(2);
  await becomes(() => page.textContent(".heat .legend")).toContain("more");
  await page.selectOption("#port", String(told.port));
  await becomes(() => page.locator(".figures").count()).toBe(2);
  await tab("flows");
  await page.click(`#flows tr[data-flow="1"]`);
  await becomes(() => page.textContent(".details section h2")).toBe("Flow 1");
  await page.click("#to");
  await tab("range");
  await becomes(() => page.locator(".stretch").count()).toBe(2);
  expect(await alerts()).toEqual([]);
});

it("takes what is chosen while it reads, and says that it reads", async () => {
  await blank();
  await page.goto(`${SERVED}#t=0.0005`);
  await page.waitForSelector("#heat[data-painter]");
  const status = () => page.locator(".reading[role=status]").allTextContents();
  expect(await status()).toEqual([""]);
  const go = await held();
  await page.keyboard.press("[");
  await page.keyboard.press("Shift+ArrowRight");
  await becomes(now).toContain("frame 60 of");
  await page.keyboard.press("]");
  await becomes(status).toEqual(["reading …"]);
  expect(await page.locator(".stretch").count()).toBe(0);
  go();
  await becomes(() => page.textContent(".stretch p")).toContain("frames 50 to 60");
  await becomes(status).toEqual([""]);
});

it("takes nothing for another run of what the run that is still seen is clicked for", async () => {
  await blank();
  await page.goto(`${SERVED}#t=0.0005`);
  await page.waitForSelector("#heat[data-painter]");
  const go = await held();
  await page.selectOption("#run", "1");
  await page.locator("#run").blur();
  // the second run has no flow of this number, nor the time of this stretch
  await page.click(`#flows tr[data-flow="${told.slowest}"]`);
  await page.keyboard.press("]");
  await page.click("#heat");
  go();
  await becomes(() => page.textContent("h1")).toContain("markup");
  await becomes(address).toContain("run=1");
  expect(address()).not.toMatch(/port=|flow=|from=/);
  expect(await alerts()).toEqual([]);
});

it("reads the figures of a port when the pointer rests on it, and says when it cannot", async () => {
  await blank();
  let asked = 0;
  await page.goto(SERVED);
  await page.waitForSelector("#heat[data-painter]");
  await page.route("**/parts/*", (route) => {
    asked++;
    return route.abort();
  });
  const box = (await page.locator("#fabric").boundingBox())!;
  const tip = async () => (await page.locator(".fabric .tip").allTextContents()).join();
  let y = box.height - 52;
  for (; y > box.height / 2 && !(await tip()); y -= 4) await page.mouse.move(box.x + 40, box.y + y);
  // on and on, along the line
  for (let i = 0; i < 30; i++) await page.mouse.move(box.x + 40, box.y + y + 4 + (i % 2));
  expect([asked, await tip()]).toEqual([0, expect.stringContaining("reading the rest")]);
  await becomes(tip).toContain("the rest cannot be read");
  expect(asked).toBeGreaterThan(1);
  await page.unroute("**/parts/*");
  await page.mouse.move(box.x + 40, box.y + y + 5);
  await becomes(tip).toContain("flows through it");
  // what the page opened at, of the port of the first host
  await becomes(now).toContain(`frame ${told.frame} of`);
  expect(await page.textContent(".fabric .tip strong")).toBe("h0\u00a0→\u00a0e0");
  for (const name of ["queue_max_bytes", "queue_mean_bytes", "busy"] as const) {
    expect(await figure(".fabric .tip", name)).toBe(told.hovered[name]);
  }
  expect(await alerts()).toEqual([]);
});

it("says in words that a folder is gone whose page is open, and shows what it has read", async () => {
  await blank();
  await page.goto(`${GONE}#t=0`);
  await page.waitForSelector("#heat[data-painter]");
  rmSync(join(FILES, "gone"), { recursive: true });
  await page.selectOption("#port", "0");
  await becomes(async () => (await alerts()).join()).toMatch(
    /says: .*gone\/timeline_\w+\.parquet can no longer be read: No such file or directory\.$/);
  await page.locator("#port").blur();
  await page.keyboard.press("End");
  await becomes(now).toContain("frame 4 of 5");
  expect(await page.getAttribute("#fabric", "data-frame")).toBe("4");
  // the same page anew: there is nothing to show, and it says so
  await page.reload();
  await page.waitForSelector("#fabric, .damaged");
  expect(await alerts()).toEqual([]);
});
