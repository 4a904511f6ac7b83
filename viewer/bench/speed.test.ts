/** How fast the viewer is in Chromium without a graphics card, on files that bench/view.py makes. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { it } from "vitest";

const FILES = process.env.INCAST_VIEW_FILES ?? "";
/** Where each page is, by name: a file, or a server's. */
const PAGES = JSON.parse(process.env.INCAST_VIEW_PAGES ?? "{}") as Record<string, string>;
const STEPS = 100;

/** Notes when the fabric and the heat map have been drawn and a frame has been shown since. */
const WATCH = `(() => {
  const look = () => {
    if (document.querySelector("#fabric[data-frame]") && document.querySelector("#heat[data-painter]")) {
      requestAnimationFrame(() => { performance.mark("incast-painted"); });
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;

/** Pictures a second while something changes in every one of them; \`act\` is told its number. */
const perSecond = (page: Page, act: string) => page.evaluate(`(async () => {
  const shown = () => new Promise((done) => { requestAnimationFrame(done); });
  const act = ${act};
  await shown();
  const before = performance.now();
  for (let i = 0; i < ${STEPS}; i++) {
    await act(i);
    await shown();
  }
  return 1000 * ${STEPS} / (performance.now() - before);
})()`) as Promise<number>;

/** Every step waits until the fabric shows its frame. */
const SCRUB = `async (i) => {
  const scrub = document.querySelector("#scrub");
  const frame = String(Math.floor((i + 1) * Number(scrub.max) / ${STEPS}));
  scrub.value = frame;
  scrub.dispatchEvent(new Event("input", { bubbles: true }));
  // what is drawn before the next picture is in it
  await new Promise((done) => { queueMicrotask(() => { queueMicrotask(done); }); });
  while (document.querySelector("#fabric").dataset.frame !== frame) await shown();
}`;
const WHEEL = `(i) => {
  const heat = document.querySelector("#heat");
  const { left, top, width, height } = heat.getBoundingClientRect();
  heat.dispatchEvent(new WheelEvent("wheel", { bubbles: true, cancelable: true, deltaY: i % 50 < 25 ? -60 : 60,
    clientX: left + width / 3, clientY: top + height / 3 }));
}`;
const DRAG = `(i) => {
  const heat = document.querySelector("#heat");
  const { left, top, width, height } = heat.getBoundingClientRect();
  const event = (kind, part) => new MouseEvent(kind, { bubbles: true, buttons: 1, clientX: left + width * part,
    clientY: top + height / 2 });
  if (i === 0) heat.dispatchEvent(event("mousedown", 0.8));
  heat.dispatchEvent(event("mousemove", 0.8 - 0.6 * i / ${STEPS}));
}`;

/** Resident memory of the browser's processes: that of the page, and all of them. */
function memory(pids: number[]): number[] {
  return pids.map((pid) => {
    const kilobytes = /^Rss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf-8"))?.[1];
    return Number(kilobytes) * 1024;
  });
}

/** Bytes that came over the network, those of the page with them. */
const moved = (page: Page) => page.evaluate(() => {
  const all = performance.getEntries().filter((one) => one instanceof PerformanceResourceTiming);
  return all.reduce((sum, one) => sum + one.encodedBodySize, 0);
});

async function measured(name: string, address: string): Promise<Record<string, number | string>> {
  const browser = await chromium.launch({
    executablePath: process.env.INCAST_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--enable-unsafe-swiftshader"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.addInitScript(WATCH);
    const paint = async () => {
      await page.goto(address);
      await page.waitForFunction(() => performance.getEntriesByName("incast-painted").length > 0);
      return page.evaluate(() => performance.getEntriesByName("incast-painted")[0]!.startTime);
    };
    // the first of a browser's pages also starts its processes
    const paints = [await paint(), await paint(), await paint()];
    const moved_bytes = await moved(page);
    const scrub = await perSecond(page, SCRUB);
    const wheel = await perSecond(page, WHEEL);
    const drag = await perSecond(page, DRAG);
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
    return {
      name, first_paint_s: Math.min(...paints) / 1000, moved_bytes, scrub_fps: scrub, zoom_fps: wheel, pan_fps: drag,
      page_bytes: Math.max(...memory(renderers)), all_bytes: memory(processInfo.map(({ id }) => id))
        .reduce((sum, own) => sum + own, 0),
    };
  } finally {
    await browser.close();
  }
}

it("measures", async () => {
  const all = [];
  for (const [name, address] of Object.entries(PAGES)) all.push(await measured(name, address));
  writeFileSync(join(FILES, "speed.json"), JSON.stringify(all));
}, 600_000);
