/** How fast the viewer is in Chromium without a graphics card, on files that bench/view.py makes. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { it } from "vitest";

const FILES = process.env.INCAST_VIEW_FILES ?? "";
/** The program that serves a page, and its arguments; it says the address. */
const COMMAND = JSON.parse(process.env.INCAST_VIEW_COMMAND ?? "[]") as [string, ...string[]] | [];
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

/** Waits until the picture is there; when that is, in milliseconds since the page was asked for and since 1970. */
const painted = async (page: Page, address: string): Promise<[number, number]> => {
  await page.goto(address);
  await page.waitForFunction(() => performance.getEntriesByName("incast-painted").length > 0);
  return page.evaluate(() => {
    const at = performance.getEntriesByName("incast-painted")[0]!.startTime;
    return [at, performance.timeOrigin + at];
  });
};

/** Pins a port of which nothing is read yet: until its figures are there, and the bytes that move for them. */
async function pinned(page: Page): Promise<[number, number]> {
  const before = await moved(page);
  const took = await page.evaluate(`(async () => {
    const port = document.querySelector("#port");
    port.value = port.options[1].value;
    const start = performance.now();
    port.dispatchEvent(new Event("change", { bubbles: true }));
    while (!document.querySelector(".details .figures")) await new Promise((done) => { requestAnimationFrame(done); });
    return performance.now() - start;
  })()`) as number;
  return [took / 1000, await moved(page) - before];
}

/** Seconds from the call of the command to the picture of the page that it serves. */
async function fromCommand(browser: Browser): Promise<number> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(WATCH);
  const start = Date.now();
  const [program, ...words] = COMMAND as [string, ...string[]];
  const server = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [said] = await once(server.stdout, "data") as [Buffer];
    const [, at] = await painted(page, /http:\S+/.exec(said.toString())![0]);
    return (at - start) / 1000;
  } finally {
    server.kill("SIGINT");
    await page.close();
  }
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
    // the first of a browser's pages also starts its processes
    const paints = [];
    for (let i = 0; i < 3; i++) paints.push((await painted(page, address))[0]);
    const moved_bytes = await moved(page);
    const command_s = name.startsWith("served") ? await fromCommand(browser) : NaN;
    const [pin_s, pin_bytes] = await pinned(page);
    const scrub = await perSecond(page, SCRUB);
    const wheel = await perSecond(page, WHEEL);
    const drag = await perSecond(page, DRAG);
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const renderers = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
    return {
      name, first_paint_s: Math.min(...paints) / 1000, command_s, moved_bytes, pin_s, pin_bytes,
      scrub_fps: scrub, zoom_fps: wheel, pan_fps: drag,
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
