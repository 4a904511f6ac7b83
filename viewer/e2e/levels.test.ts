/** Large runs in Chromium: the page opens with their levels, and with all rows once these are read. */

import { expect, it } from "vitest";
import {
  alerts, becomes, blank, figure, inBrowser, now, open, page, partsOf, pictures, POOLED, told,
} from "./browser";

inBrowser();

/** The first part of rows of frames: those that a page opens with come before it. */
const FIRST_ROWS = () => (JSON.parse(document.getElementById("incast-runs")!.textContent!) as {
  runs: { records: { columns: { starts: number } } }[];
}).runs[0]!.records.columns.starts;

it("opens with the same picture by levels as by all rows", async () => {
  await open("small.html");
  const [all, said, shown] = [await pictures(), await page.textContent(".summary"), await now()];
  expect(shown).toContain(`frame ${told.frame} of`);
  const heading = await page.textContent(".heat .bar");
  await page.close();
  await blank();
  let go = () => {};
  const going = new Promise<void>((done) => { go = done; });
  const asked: number[] = [];
  let rows = 0;
  await page.route("**/parts/*", async (route) => {
    const parts = partsOf(route.request().url());
    asked.push(...parts);
    rows ||= await page.evaluate(FIRST_ROWS);
    if (Math.max(...parts) >= rows) await going;
    await route.continue();
  });
  await page.goto(POOLED);
  await page.waitForSelector("#heat[data-painter]");
  expect(await pictures()).toEqual(all);
  expect([await page.textContent(".summary"), await now(), await page.textContent(".heat .bar")]).toEqual(
    [said, shown, heading]);
  // rows of frames are asked for once the picture is there; until then no others are shown
  await becomes(() => Math.max(...asked) >= rows).toBe(true);
  expect(await page.isDisabled("#by-tier")).toBe(true);
  await page.mouse.move(300, 600);
  await page.mouse.wheel(0, 300);
  await page.keyboard.press("ArrowRight");
  await becomes(() => page.locator(".reading[role=status]").allTextContents()).toEqual(["reading …"]);
  expect(await page.getAttribute("#fabric", "data-frame")).toBe(String(told.frame));
  go();
  await becomes(() => page.getAttribute("#fabric", "data-frame")).toBe(String(told.frame + 1));
  await page.keyboard.press("ArrowLeft");
  await becomes(now).toBe(shown);
  expect(await page.isDisabled("#by-tier")).toBe(false);
  expect(await pictures()).toEqual(all);
  expect(await alerts()).toEqual([]);
});

it("opens a file by its first parts, and has all the others", async () => {
  await open("pooled.html");
  const first = await pictures();
  await becomes(() => page.isDisabled("#by-tier")).toBe(false);
  await page.selectOption("#port", String(told.port));
  await becomes(() => figure(".details", "queue_max_bytes")).toBe(told.queue_max_bytes);
  await page.close();
  await open("small.html");
  expect(await pictures()).toEqual(first);
});

it("says that rows behind a first picture cannot be read, and tries again", async () => {
  await blank();
  let rows = 0;
  await page.route("**/parts/*", async (route) => {
    rows ||= await page.evaluate(FIRST_ROWS);
    if (Math.max(...partsOf(route.request().url())) >= rows) await route.abort();
    else await route.continue();
  });
  await page.goto(POOLED);
  await becomes(alerts).toEqual(["This cannot be shown: incast view --serve no longer answers."]);
  expect(await page.getAttribute("#fabric", "data-frame")).toBe(String(told.frame));
  await page.unroute("**/parts/*");
  await page.click("#again");
  await becomes(() => page.isDisabled("#by-tier")).toBe(false);
  await becomes(alerts).toEqual([]);
});

it("reads all rows of what an address asks for", async () => {
  await blank();
  await page.goto(`${POOLED}#t=${(told.frame + 1) * 1e-5}&port=${told.port}`);
  await becomes(now).toContain(`frame ${told.frame + 1} of`);
  await page.waitForSelector("#heat[data-painter]");
  expect([await page.isDisabled("#by-tier"), await alerts()]).toEqual([false, []]);
});
