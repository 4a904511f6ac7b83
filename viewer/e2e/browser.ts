/** Pages in Chromium, of files that tests/python/test_view_browser.py makes and says the figures of. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

export const FILES = process.env.INCAST_VIEW_FILES ?? "";
/** Where a server hands out the runs of `two.html`. */
export const SERVED = process.env.INCAST_VIEW_SERVED ?? "";
/** Where one hands out the run in the folder `gone`, which a test removes. */
export const GONE = process.env.INCAST_VIEW_GONE ?? "";
/** Where one hands out the run of `small.html` with levels. */
export const POOLED = process.env.INCAST_VIEW_POOLED ?? "";
export const told = JSON.parse(readFileSync(join(FILES, "told.json"), "utf-8")) as {
  port: number; name: string; frame: number; queue_max_bytes: string; queue_mean_bytes: string; next_s: number;
  hovered: { queue_max_bytes: string; queue_mean_bytes: string; busy: string };
  way: string; slowest: number; least: number; markup: string; quiet: number;
  traced: { flow: number; words: string; lost_frame: number };
  stretch: { marks: string; drops: string; delivered_bytes: string; worst: string };
};
export let browser: Browser;
export let page: Page;
export let faults: string[];

/** Start the browser for the tests of a file; no page of theirs may have a fault. */
export function inBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: process.env.INCAST_CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--enable-unsafe-swiftshader"],
    });
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
  });
}

/** A page with nothing in it yet. */
export async function blank(): Promise<void> {
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  // a frame of a notebook may remember nothing
  await page.addInitScript("try { localStorage.setItem('incast-view-tour', 'seen'); } catch { /* nothing */ }");
}

/** Go to a tab of the details. */
export const tab = (name: string) => page.click(`[data-tab=${name}]`);

/**
 * A place with a file of {@link FILES} for tests of what a browser remembers: a page of the disk has an empty storage
 * now and then after a reload in Chromium 156, and has its own again at the next.
 */
export async function handedOut(within: BrowserContext, file: string): Promise<string> {
  const place = `http://files.test/${file}`;
  await within.route(place, (asked) => asked.fulfill({ path: join(FILES, file) }));
  return place;
}

/** Open a file, from the disk or as one that remembers, after a script of the test's own. */
export async function open(file: string, hash = "", { script = "", remembers = false } = {}): Promise<void> {
  await blank();
  const place = remembers ? await handedOut(page.context(), file) : `file://${join(FILES, file)}`;
  page.on("request", (asked) => {
    const url = asked.url();
    if (/^(http|ws)/.test(url) && url.split("#")[0] !== place) faults.push(`asked the network: ${url}`);
  });
  if (script) await page.addInitScript(script);
  await page.goto(`${place}${hash}`);
  await page.waitForSelector("#fabric, .damaged");
}

/** What something comes to be: a picture follows what a person does after a moment, an address after some more. */
export const becomes = <T>(what: () => Promise<T> | T) => expect.poll(what, { timeout: 20000, interval: 20 });
export const address = () => page.url();

/** Where a part of the page lies once in sight and at rest: what is chosen scrolls the page a frame later. */
export async function placeOf(part: Locator) {
  const places: string[] = [];
  for (;;) {
    await part.scrollIntoViewIfNeeded();
    const place = (await part.boundingBox())!;
    if (places.push(JSON.stringify(place)) > 2 && new Set(places.slice(-3)).size === 1) return place;
    await page.evaluate(() => new Promise((then) => { requestAnimationFrame(() => setTimeout(then)); }));
  }
}
export const figure = (scope: string, name: string) => page.textContent(`${scope} dd[data-figure=${name}]`);
export const now = () => page.textContent("#now");
export const alerts = () => page.locator("[role=alert]").allTextContents();

/** Pictures of the fabric and of the heat map, once nothing of them changes any more. */
export async function pictures(): Promise<string[]> {
  const seen: string[] = [];
  const apart = () => page.waitForTimeout(200);
  for (;;) {
    const now = await page.evaluate(() => ["fabric", "heat"].map((id) => (
      (document.getElementById(id) as HTMLCanvasElement).toDataURL())));
    if (seen.length && JSON.stringify(now) === JSON.stringify(seen)) return now;
    seen.splice(0, 2, ...now);
    await apart();
  }
}

/** Of runs where their columns lie, by table and name; of rows of frames that of the first block. */
export type Places = Record<string, { columns: Record<string, number>; size: number; blocks: number } | null>[];

/** The numbers of the parts that an address asks a server for. */
export function partsOf(address: string): number[] {
  const [first, last] = (/parts\/(\d+)-(\d+)$/.exec(address) ?? []).slice(1).map(Number);
  return first === undefined ? [] : Array.from({ length: last! - first + 1 }, (_, i) => first + i);
}
