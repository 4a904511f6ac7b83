/** Lanes of ranks in Chromium: two jobs of eight ranks, whose names pin links and whose bars tell tasks. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { address, becomes, FILES, inBrowser, open, page, tab } from "./browser";

inBrowser();

const said = async (part: string) => (await page.textContent(part))?.replaceAll("\u00a0", " ");

it("has a lane a rank, and tells the task under the pointer", async () => {
  await open("jobs.html", "#tab=ranks");
  await becomes(() => said(".ranks h2")).toBe("16 ranks of 2 jobs");
  await becomes(() => page.locator(".ranks [data-rank]").count()).toBeGreaterThan(8);
  const canvas = (await page.locator(".ranks canvas").boundingBox())!;
  await page.mouse.move(canvas.x + 0.4 * canvas.width, canvas.y + 30);
  await becomes(() => said(".ranks .tip")).toMatch(/^train, rank 0 on h\d+(exposed communication|waiting) for /);
  expect(await said(".ranks .tip")).toMatch(/50 kB (to|from) rank [17], tag \d+: task \d+ of iteration \d/);
  await page.mouse.click(canvas.x + 0.6 * canvas.width, canvas.y + 30);
  await becomes(() => said(".ranks output")).toMatch(/^At [\d.]+ µs: \d+ in exposed communication/);
});

it("pins the link of a rank's host and stays there; rows scroll and change their order", async () => {
  await open("jobs.html", "#tab=ranks");
  await page.click(".ranks [data-rank='1'] >> nth=0");
  await becomes(address).toMatch(/port=\d+/);
  await becomes(() => page.getAttribute(".ranks [data-rank='1'] >> nth=0", "aria-pressed")).toBe("true");
  expect(await page.getAttribute("[data-tab=ranks]", "aria-selected")).toBe("true");
  await page.selectOption("[aria-label='Order of ranks']", "waiting");
  await page.setViewportSize({ width: 1280, height: 620 });
  const rows = page.locator(".ranks .rows");
  await becomes(() => rows.evaluate((own) => own.scrollHeight > own.clientHeight + 40)).toBe(true);
  await rows.evaluate((own) => { own.scrollTop = own.scrollHeight; });
  await becomes(() => page.locator(".ranks .name b").allTextContents()).toContain("other");
});

it("selects a stretch of time by a drag", async () => {
  await open("jobs.html", "#tab=ranks");
  await page.waitForSelector(".ranks canvas");
  const canvas = (await page.locator(".ranks canvas").boundingBox())!;
  await page.mouse.move(canvas.x + 0.5 * canvas.width, canvas.y + 30);
  await page.mouse.down();
  await page.mouse.move(canvas.x + 0.7 * canvas.width, canvas.y + 34, { steps: 4 });
  await page.mouse.up();
  await becomes(address).toMatch(/from=[\d.e-]+&to=[\d.e-]+/);
  expect(await page.getAttribute("[data-tab=ranks]", "aria-selected")).toBe("true");
});

it("is not there in a run without jobs", async () => {
  await open("small.html");
  await page.waitForTimeout(600);
  expect(await page.locator("[data-tab=ranks]").count()).toBe(0);
  await tab("flows");
});

it("has collectives by kind and each, and a row leads to its time", async () => {
  await open("jobs.html", "#tab=collectives");
  await becomes(() => said(".collectives h2")).toBe("6 collectives");
  await becomes(() => page.locator("#collectives [data-collective]").count()).toBe(2);
  expect(await said(".collectives .alike")).toBe("Alike in all: all-reduce, ring, 8 ranks, 400 kB");
  await page.click("#collectives td[data-column=time_s] >> nth=0");
  await becomes(() => page.locator("#collectives [data-collective]").count()).toBe(3);
  expect(await said("#collectives th[aria-sort=descending]")).toMatch(/^time ▾/);
  const [start] = (await page.getAttribute("#collectives td[data-column=from_s] >> nth=1", "title"))!.split(" ");
  await page.click("#collectives td[data-column=time_s] >> nth=1");
  await becomes(address).toContain(`from=${start!}&`);
  expect(await page.getAttribute("[data-tab=collectives]", "aria-selected")).toBe("true");
  await page.click("#collectives td[data-column=slowest] button >> nth=0");
  await becomes(address).toMatch(/port=\d+/);
  expect(await page.getAttribute("[data-tab=collectives]", "aria-selected")).toBe("true");
});

it("has no collectives in a run without jobs", async () => {
  await open("small.html");
  await tab("flows");
  expect(await page.locator("[data-tab=collectives]").count()).toBe(0);
});

it("names the column of a table that is damaged, and shows the other panes", async () => {
  const whole = readFileSync(join(FILES, "jobs.html"), "utf-8");
  const told = /<script[^>]*id="incast-runs"[^>]*>(.*?)<\/script>/s.exec(whole)![1]!;
  const { runs } = JSON.parse(told) as { runs: { tasks: { columns: { peer: number } } }[] };
  const part = `id="incast-${runs[0]!.tasks.columns.peer}"`;
  const at = whole.indexOf(">", whole.indexOf(part)) + 30;
  writeFileSync(join(FILES, "torn.html"), `${whole.slice(0, at)}AAAAAAAA${whole.slice(at + 8)}`);
  await open("torn.html", "#tab=ranks");
  await becomes(() => said(".tab.ranks .told")).toMatch(
    /^This cannot be read: column peer of tasks of .*: a column cannot be unpacked/);
  await tab("collectives");
  await becomes(() => page.locator("#collectives [data-collective]").count()).toBe(2);
});
