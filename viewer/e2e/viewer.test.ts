/** The viewer in Chromium, on files that tests/python/test_view_browser.py makes and says the figures of. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  address, alerts, becomes, blank, browser, figure, FILES, handedOut, inBrowser, now, open, page, placeOf, tab, told,
  type Places,
} from "./browser";

inBrowser();

/** Pixels from the left edge of the fabric to the line of the first host. */
const FIRST_HOST = 121;

it("shows the figures of the tables when pinned, and when hovered", async () => {
  await open("small.html", `#t=${told.frame * 1e-5}&port=${told.port}`);
  await becomes(() => figure(".details", "queue_max_bytes")).toBe(told.queue_max_bytes);
  await becomes(() => figure(".details", "queue_mean_bytes")).toBe(told.queue_mean_bytes);
  // row 0 of the heat map is the worst port
  const box = (await page.locator("#heat").boundingBox())!;
  await page.mouse.move(box.x + ((told.frame + 0.5) / 200) * box.width, box.y + box.height * (0.5 / 96));
  const tip = await page.textContent(".heat .tip");
  expect(tip).toContain(told.way);
  expect(tip).toContain(told.queue_max_bytes);
  await becomes(() => page.getAttribute("#heat", "data-painter")).toBe("webgl2");
});

it("shows a port of the fabric under the pointer, and pins it by a click", async () => {
  await open("small.html");
  const box = (await page.locator("#fabric").boundingBox())!;
  // the half of the line from the first host up to its switch: found by looking about
  for (let y = box.height - 52; y > box.height / 2 && !(await page.locator(".fabric .tip").count()); y -= 4) {
    await page.mouse.move(box.x + FIRST_HOST, box.y + y);
  }
  const name = await page.textContent(".fabric .tip strong");
  expect(name).toBe("h0\u00a0→\u00a0e0");
  await page.mouse.down();
  await page.mouse.up();
  await becomes(() => page.textContent(".details .figures strong")).toBe(name);
  await becomes(address).toContain("port=0");
});

it("opens at the frame with the largest queue, says so, and goes where an address says", async () => {
  await open("small.html");
  await becomes(now).toContain(`frame ${told.frame} of 200`);
  await becomes(() => page.getAttribute("#fabric", "data-frame")).toBe(String(told.frame));
  expect(await page.textContent(".details .told")).toMatch(new RegExp(
    `^Opened at .*, the moment of the largest queue: ${told.queue_max_bytes} at ${told.way}\\. Click`));
  // a screen reader is told the same
  expect(await page.getAttribute("#fabric", "aria-label")).toContain(
    `largest at ${told.way}: ${told.queue_max_bytes}`);
  await becomes(address).toContain(`t=${told.frame / 1e5}`.slice(0, 6));
  await page.close();
  await open("small.html", "#t=0");
  await becomes(now).toContain("frame 0 of 200");
  expect(await page.textContent(".details .told")).toMatch(/^\s*Click a link/);
  await page.close();
  await open("two.html");
  await becomes(() => page.textContent(".details .told")).toContain(
    `the largest difference in largest queue: ${told.queue_max_bytes} at ${told.way}`);
  await becomes(now).toContain(`frame ${told.frame} of 200`);
});

it("has a table of flows that is read at 1280 pixels, and one that grows with the page", async () => {
  await open("small.html", "#t=0");
  const seen = () => page.evaluate(() => {
    const box = document.querySelector(".flows .scroll")!.getBoundingClientRect();
    return [...document.querySelectorAll("#flows th button")].filter((own) => (
      own.getBoundingClientRect().right <= box.right)).map((own) => (own as HTMLElement).dataset.column);
  });
  // all of them: what every flow has alike is said once
  await becomes(seen).toEqual(["flow", "src", "dst", "fct_s", "slowdown", "retransmissions", "start_s", "group"]);
  expect(await page.textContent(".flows .alike")).toBe("Alike in all: controller dctcp");
  const rows = () => page.locator("#flows tr[data-flow]").first().evaluate((row) => row.getBoundingClientRect().height);
  const small = await rows();
  await page.setViewportSize({ width: 3840, height: 2160 });
  await becomes(rows).toBeGreaterThan(1.4 * small);
  // narrow: the first column stays in sight
  await page.setViewportSize({ width: 700, height: 800 });
  const left = () => page.locator("#flows td").first().evaluate((cell) => (
    cell.getBoundingClientRect().left - cell.closest(".scroll")!.getBoundingClientRect().left));
  await page.evaluate(() => { document.querySelector(".flows .scroll")!.scrollLeft = 120; });
  await becomes(left).toBeCloseTo(0, 0);
});

it("goes through time by scrubber, keys, events and play, and says so in the address", async () => {
  await open("small.html");
  await page.fill("#scrub", "120");
  await becomes(now).toContain("frame 120 of 200");
  await becomes(address).toContain("t=0.0012");
  await page.locator("#scrub").blur();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await becomes(now).toContain("frame 131");
  await page.keyboard.press("Home");
  await page.keyboard.press("n");
  await becomes(now).toContain(`frame ${Math.floor(told.next_s / 1e-5)} of`);
  await page.keyboard.press("End");
  await becomes(now).toContain("frame 199");
  await page.keyboard.press("p");
  await becomes(now).toContain("frame 75");
  await page.keyboard.press(" ");
  await page.waitForFunction(() => !document.querySelector("#now")?.textContent?.includes("frame 75 "));
  await page.keyboard.press(" ");
  await becomes(() => page.getAttribute("#play", "aria-label")).toBe("Play");
});

it("keeps the room of its clock as time goes on", async () => {
  await open("small.html");
  const wide = () => page.evaluate(() => document.querySelector(".clock")!.getBoundingClientRect().width);
  const widths = new Set<number>();
  for (const frame of ["0", "7", "76", "100", "111", "199"]) {
    await page.fill("#scrub", frame);
    await becomes(now).toContain(`frame ${frame} of`);
    widths.add(await wide());
  }
  expect([...widths]).toHaveLength(1);
});

it("sorts and searches flows, and shows a flow over time", async () => {
  await open("small.html");
  const first = () => page.getAttribute("#flows tbody tr[data-flow]", "data-flow");
  await becomes(first).toBe(String(told.slowest));
  await page.click("#flows button[data-column=slowdown]");
  await becomes(first).toBe(String(told.least));
  await page.fill("#search", "flow 3");
  await becomes(() => page.textContent("#count")).toMatch(/^1 of 40 flows/);
  await page.click("#flows tr[data-flow='3']");
  await becomes(() => page.textContent(".details h2")).toBe("Flow 3");
  await becomes(() => page.textContent(".path")).toContain("→");
  await becomes(() => page.locator(".pane .u-wrap").count()).toBeGreaterThan(1);
  await becomes(() => page.textContent(".states")).toContain("congestion avoidance");
  await becomes(() => page.textContent(".states output")).toContain("1 timeout in total");
});

it("has in sight what was chosen last: the flow, or the port", async () => {
  await open("small.html", `#port=${told.port}&flow=1`);
  const shown = () => page.textContent(".details [role=tab][aria-selected=true]");
  await becomes(() => page.locator(".pane .u-wrap").count()).toBeGreaterThan(2);
  expect(await shown()).toBe("Flow 1");
  await tab("port");
  await becomes(shown).toBe(`Port ${told.way}`);
  expect(await page.textContent(".details .figures strong")).toBe(told.way);
  await tab("flows");
  await page.click("#flows tbody tr[data-flow] >> nth=2");
  await becomes(shown).toMatch(/^Flow \d+$/);
  await page.focus("#port");
  await page.selectOption("#port", { index: 3 });
  await becomes(shown).toMatch(/^Port /);
  // the same flow again
  await tab("flows");
  await page.click("#flows tbody tr[data-flow] >> nth=2");
  await becomes(shown).toMatch(/^Flow \d+$/);
  // by keys from tab to tab, and time stays
  const before = await now();
  await page.keyboard.press("Tab");
  await page.focus("[role=tab][aria-selected=true]");
  await page.keyboard.press("ArrowRight");
  await becomes(shown).toMatch(/^Port /);
  expect(await now()).toBe(before);
});

it("selects a stretch of time in the heat map, in a pane and by keys, and clears it", async () => {
  await open("small.html", `#t=0.001&port=${told.port}&flow=1`);
  const box = (await page.locator("#heat").boundingBox())!;
  const drag = async (from: number, to: number, y: number) => {
    await page.mouse.move(from, y);
    await page.mouse.down();
    await page.mouse.move((from + to) / 2, y + 3);
    await page.mouse.move(to, y);
    await page.mouse.up();
  };
  await page.keyboard.down("Shift");
  await drag(box.x + box.width * 0.25, box.x + box.width * 0.5, box.y + 30);
  await page.keyboard.up("Shift");
  const said = (name: string) => Number(new URLSearchParams(address().split("#")[1]).get(name));
  // to a pixel
  await becomes(() => said("from")).toBeCloseTo(5e-4, 5);
  expect(said("to")).toBeCloseTo(1e-3, 5);
  // sums of the stretch are those of the table
  await page.goto(`file://${join(FILES, "small.html")}#from=0.0005&to=0.001&port=${told.port}&flow=1`);
  await tab("range");
  await becomes(() => page.textContent(".stretch p")).toContain("frames 50 to 99");
  for (const name of ["marks", "drops", "delivered_bytes"] as const) {
    await becomes(() => page.textContent(`.stretch dd[data-sum=${name}]`)).toContain(told.stretch[name]);
  }
  await becomes(() => page.textContent(".worst li button")).toBe(told.stretch.worst);
  await page.click(".worst li >> nth=1 >> button");
  await becomes(() => page.textContent(".details .figures strong")).not.toBe(told.way);
  const over = page.locator(".pane .u-over").first();
  const pane = await placeOf(over);
  await drag(pane.x + pane.width * 0.5, pane.x + pane.width * 0.75, pane.y + pane.height / 2);
  // the curves stay
  await becomes(() => page.textContent("[role=tab][aria-selected=true]")).toMatch(/^Port/);
  await tab("range");
  await becomes(() => page.textContent(".stretch p")).toMatch(/frames 7[45] to 8[678]/);
  await page.keyboard.press("Escape");
  await becomes(() => page.locator(".stretch").count()).toBe(0);
  await becomes(address).not.toContain("from=");
  await becomes(address).toContain("flow=1");
  await page.fill("#scrub", "20");
  await page.locator("#scrub").blur();
  await page.keyboard.press("[");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("]");
  await tab("range");
  await becomes(() => page.textContent(".stretch p")).toContain("frames 20 to 30");
  await page.click("#all");
  await becomes(() => page.locator(".stretch").count()).toBe(0);
});

it("selects a stretch of time by single clicks, and zooms by buttons", async () => {
  await open("small.html", `#t=0.0005&port=${told.port}`);
  await page.click("#from");
  await tab("range");
  await becomes(() => page.textContent(".stretch p")).toContain("frames 50 to 199");
  await tab("port");
  // the end by a click into a curve, which moves the cursor
  const over = page.locator(".pane .u-over").first();
  const pane = await placeOf(over);
  await page.mouse.click(pane.x + pane.width / 3, pane.y + pane.height / 2);
  await becomes(now).toMatch(/frame (99|100|101) of/);
  await page.fill("#scrub", "99");
  await page.click("#to");
  await tab("range");
  await becomes(() => page.textContent(".stretch p")).toContain("frames 50 to 99");
  await becomes(() => page.textContent(".stretch dd[data-sum=marks]")).toContain(told.stretch.marks);
  // by keys alone
  await page.click("#all");
  for (const id of ["#from", "#to"]) {
    await page.focus(id);
    await page.keyboard.press("Enter");
  }
  await tab("range");
  await becomes(() => page.textContent(".stretch p")).toContain("figures cover frame 99");
  await page.click("#all");
  // 140 of 200 frames around frame 99, and all again; the other order of rows leaves the time that is seen
  const range = () => page.textContent(".heat .told-rows");
  await becomes(range).toContain(", 0\u00a0s to 2\u00a0ms of 2\u00a0ms");
  await page.click(".heat button:has-text('+')");
  await becomes(range).toContain(", 298.5\u00a0µs to 1.699\u00a0ms of 2\u00a0ms");
  await page.click("#by-tier");
  await becomes(range).toContain("96 ports, 298.5\u00a0µs to 1.699\u00a0ms of 2\u00a0ms");
  await page.click(".heat button:has-text('−')");
  await becomes(range).toContain(", 0\u00a0s to 2\u00a0ms of 2\u00a0ms");
  const picture = async () => (await page.locator("#fabric").screenshot()).toString("base64");
  const before = await picture();
  await page.click(".fabric button:has-text('+')");
  await becomes(picture).not.toBe(before);
  await page.click(".fabric button:has-text('−')");
  await becomes(picture).toBe(before);
});

it("does nothing by keys of one character once they are off, and remembers it", async () => {
  await open("small.html", "#t=0.001", { remembers: true });
  const theme = () => page.getAttribute("html", "data-theme");
  await page.keyboard.press("d");
  await becomes(theme).toBe("dark");
  await page.keyboard.press("?");
  await becomes(() => page.locator("dialog[open]").count()).toBe(1);
  expect(await page.textContent("dialog")).toContain("next event");
  // a dialog has the keys for itself
  await page.keyboard.press("ArrowRight");
  const acting = page.getByRole("checkbox", { name: "Enable single-character shortcuts", exact: true });
  await acting.uncheck();
  await page.keyboard.press("Escape");
  await becomes(() => page.locator("dialog[open]").count()).toBe(0);
  await becomes(now).toContain("frame 100 of");
  const nothing = async () => {
    for (const key of ["d", "D", "n", "p", "[", "]", "/", "?"]) await page.keyboard.press(key);
    await page.keyboard.press("ArrowRight");
    await becomes(now).toContain("frame 101 of");
    expect(await page.locator(".stretch, dialog[open], #search:focus").count()).toBe(0);
    await page.keyboard.press("ArrowLeft");
    await becomes(now).toContain("frame 100 of");
    expect(await page.getAttribute("#from", "title")).not.toContain("[");
  };
  await nothing();
  await becomes(theme).toBe("dark");
  await becomes(address).toMatch(/t=0\.001&/);
  await page.reload();
  await page.waitForSelector("#fabric");
  await nothing();
  await becomes(theme).toBe("light");
  // on again
  await page.click("#help-button");
  await acting.check();
  await page.click("dialog[open] button:has-text('Close')");
  await becomes(() => page.locator("dialog[open]").count()).toBe(0);
  await page.keyboard.press("d");
  await becomes(theme).toBe("dark");
});

it("shows the packets of a traced flow as a ladder, with losses and marks", async () => {
  await open("small.html", `#t=0&flow=${told.traced.flow}`);
  await becomes(() => page.textContent(".states output")).toContain("2 packets lost, 3 packets marked in total");
  await tab("packets");
  await becomes(() => page.textContent(".ladder h3")).toContain(told.traced.words);
  await becomes(async () => Number(await page.getAttribute(".ladder canvas", "data-rungs"))).toBeGreaterThan(30);
  // by keys: the first mark, the second, and the drop after it; the cursor goes along
  for (const words of ["marked at e0>h1", "dropped at e0>h1", "marked at e0>h1", "lost at h0>e0"]) {
    await page.focus(".ladder button:has-text('next mark or loss')");
    await page.keyboard.press("Enter");
    await becomes(() => page.textContent(".ladder output")).toContain(words);
  }
  await becomes(now).toContain(`frame ${told.traced.lost_frame} of`);
  // by the pointer: the ladder between the sender's line and the receiver's
  const canvas = page.locator(".ladder canvas");
  const box = await placeOf(canvas);
  for (let x = 0.1; x < 0.6 && !(await page.locator(".ladder .tip").count()); x += 0.01) {
    await page.mouse.move(box.x + box.width * x, box.y + 60);
  }
  expect(await page.textContent(".ladder .tip")).toMatch(/bytes [\d,]+ to [\d,]+, from the sender|ACK of/);
  // a drag selects: what is left of the ladder is of that stretch
  const rungs = async () => Number(await page.getAttribute(".ladder canvas", "data-rungs"));
  const all = await rungs();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 90);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.35, box.y + 90);
  await page.mouse.move(box.x + box.width * 0.4, box.y + 90);
  await page.mouse.up();
  await becomes(address).toContain("from=");
  await becomes(rungs).toBeLessThan(all);
  await becomes(rungs).toBeGreaterThan(0);
  // of other flows it says what would trace them
  await page.goto(`file://${join(FILES, "small.html")}#flow=1`);
  await becomes(() => page.textContent(".hint")).toContain("measure.trace=[1]");
});

/** Texts that are seen whose contrast with what lies behind them is below WCAG's AA. */
const faint = () => page.evaluate(() => {
  const rgb = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]: number[]) => {
    const [x, y, z] = [r!, g!, b!].map((one) => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x! + 0.7152 * y! + 0.0722 * z!;
  };
  const found: string[] = [];
  let seen = 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { textContent, parentElement: own } = texts.currentNode;
    if (!own || !textContent?.trim() || !own.checkVisibility() || own.closest("script, :disabled, noscript")) continue;
    seen++;
    const style = getComputedStyle(own);
    let behind: HTMLElement | null = own;
    while (behind && rgb(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
    const [one, two] = [style.color, getComputedStyle(behind ?? document.body).backgroundColor]
      .map((colour) => luminance(rgb(colour))).sort((a, b) => b - a);
    const ratio = (one! + 0.05) / (two! + 0.05);
    if (ratio < 4.5) found.push(`${textContent.trim()}: ${ratio.toFixed(2)}`);
  }
  return { seen: seen > 100, found };
});

it("has texts that stand out from what is behind them, dark and light", async () => {
  await open("small.html", `#from=0.0001&to=0.0005&port=${told.port}&flow=${told.traced.flow}`);
  await becomes(() => page.locator(".details [role=tab]").count()).toBe(6);
  await page.click(".heat button:has-text('Select')");
  for (const theme of ["light", "dark"]) {
    await becomes(() => page.getAttribute("html", "data-theme")).toBe(theme);
    for (const name of ["flow", "packets", "port", "range", "flows", "totals"]) {
      await tab(name);
      await page.hover("#heat", { position: { x: 50, y: 50 } });
      await becomes(faint).toEqual({ seen: true, found: [] });
    }
    await page.keyboard.press("d");
  }
});

it("is reached by the key Tab in the order in which it stands, each part with a name, and rows by arrows", async () => {
  await open("small.html", "#t=0.0001");
  const focus = () => page.evaluate(() => {
    const own = document.activeElement as HTMLElement;
    const all = [...document.querySelectorAll("*")];
    const label = own.closest("label")?.textContent ?? "";
    return { place: all.indexOf(own), name: own.getAttribute("aria-label") ?? (label || own.textContent), id: own.id,
      tag: own.tagName, outlined: getComputedStyle(own).outlineStyle !== "none" };
  });
  const order = [];
  for (let i = 0; i < 120; i++) {
    await page.keyboard.press("Tab");
    const at = await focus();
    if (at.tag === "BODY") break;
    order.push(at);
  }
  const places = order.map(({ place }) => place);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(order.filter(({ name, outlined }) => !name?.trim() || !outlined)).toEqual([]);
  for (const id of ["metric", "port", "fabric", "heat", "search", "play", "scrub"]) {
    expect(order.map((one) => one.id)).toContain(id);
  }
  expect(order.filter(({ tag }) => tag === "TR").length).toBe(1);
  // rows of flows: arrows go on, Enter chooses
  await page.focus("#flows tr[data-flow]");
  for (let i = 0; i < 25; i++) await page.keyboard.press("ArrowDown");
  const row = () => page.evaluate(() => document.activeElement?.getAttribute("aria-rowindex"));
  await becomes(row).toBe("27");
  await page.keyboard.press("Enter");
  // what is chosen is shown in a tab, which has the focus
  await becomes(() => page.evaluate(() => document.activeElement?.textContent)).toMatch(/^Flow \d+$/);
});

it("zooms and moves fabric and heat map by keys", async () => {
  await open("small.html", `#t=0&port=${told.port}`);
  const picture = async (id: string) => (await page.locator(id).screenshot()).toString("base64");
  for (const id of ["#fabric", "#heat"]) {
    await page.focus(id);
    await becomes(() => page.getAttribute("#fabric", "data-frame")).toBe("0");
    let before = await picture(id);
    for (const key of ["+", "+", "ArrowDown", "-"]) {
      await page.keyboard.press(key);
      await becomes(() => picture(id)).not.toBe(before);
      before = await picture(id);
    }
  }
});

it("has panes whose sizes change by keys and by a drag, and are remembered", async () => {
  await open("small.html", "#t=0&flow=1", { remembers: true });
  const width = async () => (await page.locator(".fabrics").boundingBox())!.width;
  const first = await width();
  await page.focus("[data-split=columns]");
  await page.keyboard.press("ArrowLeft");
  await becomes(width).toBeCloseTo(first - 16, 0);
  await becomes(now).toContain("frame 0 of");
  const line = (await page.locator("[data-split=columns]").boundingBox())!;
  await page.mouse.move(line.x + 3, line.y + 200);
  await page.mouse.down();
  await page.mouse.move(line.x - 97, line.y + 200);
  await page.mouse.up();
  await becomes(width).toBeLessThan(first - 100);
  const now_wide = await width();
  await page.reload();
  await page.waitForSelector("#fabric");
  await becomes(width).toBeCloseTo(now_wide, 0);
  await page.focus("[data-split=columns]");
  await page.keyboard.press("Home");
  await becomes(width).toBeCloseTo(120, 0);
  expect(await page.getAttribute("[data-split=columns]", "aria-valuenow")).toBe("9");
  await page.dblclick("[data-split=columns]");
  await becomes(width).toBeCloseTo(first, 0);
});

it("has three curves in sight at 1280 by 800 pixels, with values at the cursor", async () => {
  await open("small.html", `#t=0.001&flow=1`);
  await becomes(() => page.locator(".pane .u-wrap").count()).toBe(3);
  const bottom = (await page.locator(".tab").boundingBox())!;
  for (const pane of await page.locator(".pane .u-wrap").all()) {
    const { y, height } = (await pane.boundingBox())!;
    expect(y + height).toBeLessThanOrEqual(bottom.y + bottom.height + 1);
  }
  expect(await page.locator(".key b").allTextContents()).toHaveLength(3);
  expect((await page.locator(".key").allTextContents()).join()).not.toContain("–");
});

it("plots several flows and ports together, and keeps them in the address", async () => {
  await open("small.html", `#t=0.001&flow=1`);
  await page.click("#keep");
  await tab("flows");
  await page.click("#flows tr[data-flow='3']");
  await page.click("#keep");
  await page.selectOption("#port", String(told.port));
  await page.click("#keep");
  await becomes(address).toContain(`pins=f1.f3.p${told.port}`);
  await page.reload();
  await page.waitForSelector("#fabric");
  await tab("plot");
  await becomes(() => page.textContent("[data-tab=plot]")).toBe("Plot of 3");
  await becomes(() => page.locator(".pane h3").allTextContents()).toContain("Window");
  await page.click(".pins button >> nth=0");
  await becomes(address).toContain(`pins=f3.p${told.port}`);
});

it("keeps notes in the address, as text", async () => {
  await open("small.html", "#t=0.001");
  await page.click("#notes");
  await page.fill("#note", "<img src=x onerror='window.hurt=1'> & ~");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await becomes(address).toContain("note=0.001~%3Cimg");
  await page.fill("#scrub", "3");
  await page.reload();
  await page.waitForSelector("#fabric");
  await becomes(() => page.getAttribute(".ruler .flag", "aria-label")).toContain("<img src=x");
  await page.click(".ruler .flag");
  await becomes(now).toContain("frame 100 of");
  expect([await page.locator("img").count(), await page.evaluate("window.hurt")]).toEqual([0, undefined]);
});

it("shows a tour once, in a page that is opened at no moment", async () => {
  await blank();
  await page.close();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const own = await context.newPage();
  const file = await handedOut(context, "small.html");
  await own.goto(`${file}#t=0.001`);
  await own.waitForSelector("#fabric");
  expect(await own.locator(".tour").count()).toBe(0);
  await own.goto("about:blank");
  await own.goto(file);
  await own.waitForSelector(".tour");
  for (let i = 0; i < 5; i++) await own.keyboard.press("Enter");
  await becomes(() => own.locator(".tour").count()).toBe(0);
  await own.goto("about:blank");
  await own.goto(file);
  await own.waitForSelector("#fabric");
  expect(await own.locator(".tour").count()).toBe(0);
  await context.close();
  await blank();
});

it("works in a frame of a notebook, which it cannot leave", async () => {
  await blank();
  await page.goto(`file://${join(FILES, "notebook.html")}`);
  const frame = page.frameLocator("iframe");
  await frame.locator("#fabric").waitFor();
  // nothing can be remembered there, and all works
  await frame.locator("#help-button").click();
  await frame.locator("#letters").uncheck();
  expect(await frame.locator(".tour").count()).toBe(0);
  await frame.locator("dialog[open] button:has-text('Close')").click();
  await frame.locator("#scrub").fill("7");
  await becomes(() => frame.locator("#now").textContent()).toContain("frame 7 of");
  // longer than an address waits to be written
  await page.waitForTimeout(600);
  const own = page.frames()[1]!;
  expect(await own.evaluate(`[origin, (() => { try { return parent.document.title; } catch { return "closed"; } })()]`))
    .toEqual(["null", "closed"]);
});

it("opens with all ports over the whole run in the strip beside the heat map", async () => {
  await open("small.html");
  const colours = () => page.evaluate(() => {
    const strip = document.querySelector<HTMLCanvasElement>(".minimap canvas")!;
    const { data } = strip.getContext("2d")!.getImageData(0, 0, strip.width, strip.height);
    return new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(4 * i, 4 * i + 4).join())).size;
  });
  await becomes(colours).toBeGreaterThan(5);
});

it("says that a damaged file is damaged", async () => {
  const whole = readFileSync(join(FILES, "small.html"), "utf-8");
  writeFileSync(join(FILES, "cut.html"), whole.replace(/(id="incast-0">)[^<]{40}/, "$1"));
  await open("cut.html");
  await becomes(() => page.textContent("[role=alert]")).toContain("damaged");
});

it("goes on without a column that is damaged", async () => {
  const whole = readFileSync(join(FILES, "small.html"), "utf-8");
  const runs = JSON.parse(/id="incast-runs">([^<]*)/.exec(whole)![1]!) as { runs: Places };
  // of the block that the worst port is in
  const { columns, size } = runs.runs[0]!.records!;
  const at = columns.marks! + Math.floor(told.port / size);
  writeFileSync(join(FILES, "cut.html"), whole.replace(new RegExp(`(id="incast-${at}">)[^<]{40}`), "$1"));
  await open("cut.html");
  await page.selectOption("#metric", "marks");
  await becomes(async () => (await alerts()).join()).toContain("This file is damaged");
  await becomes(() => page.inputValue("#metric")).toBe("queue_max_bytes");
  await page.selectOption("#metric", "drops");
  await becomes(() => page.textContent(".heat .bar")).toContain("drops");
  await becomes(alerts).toEqual([]);
  // a stretch has sums of marks: there is none, and all else goes on
  await page.click("#from");
  await becomes(async () => (await alerts()).join()).toContain("This file is damaged");
  await page.click(`#flows tr[data-flow="${told.slowest}"]`);
  await becomes(() => page.textContent(".details h2")).toBe(`Flow ${told.slowest}`);
  await becomes(alerts).toEqual([]);
  expect(await page.locator(".stretch").count()).toBe(0);
  await page.click("#from");
  await becomes(alerts).toHaveLength(1);
  await page.locator("#from").blur();
  await page.keyboard.press("Escape");
  await becomes(() => page.textContent(".details .told")).toContain("Click a link, a row or a flow");
  // an address that asks for it shows the rest
  await page.close();
  await open("cut.html", `#t=${told.frame * 1e-5}&port=${told.port}`);
  await becomes(now).toContain(`frame ${told.frame} of`);
  await becomes(async () => (await alerts()).join()).toContain("This file is damaged");
  await page.close();
  await open("cut.html", "#m=marks&flow=1");
  await becomes(() => page.textContent(".heat .bar")).toContain("largest queue");
  expect(await alerts()).toHaveLength(1);
});

it("says in words what is wrong when it cannot draw", async () => {
  await open("small.html");
  await page.evaluate(() => { String.prototype.localeCompare = () => { throw new Error("no order of names"); }; });
  await page.click("#flows button[data-column=group]");
  await becomes(alerts).toEqual(["This cannot be shown: no order of names."]);
});

it("shows names with markup as text", async () => {
  await open("markup.html", "#port=0");
  await becomes(() => page.textContent(".details .figures strong")).toBe(told.markup);
  await becomes(() => page.locator("img, :is(.names, .figures, .summary, h1, option, .ruler) b").count()).toBe(0);
  expect(await page.evaluate("window.hurt")).toBeUndefined();
});

it("shows less of a folder that has less, and says so", async () => {
  await open("least.html");
  await becomes(() => page.textContent(".missing")).toContain("flows");
});

it("shows figures that a folder has alone, and says which it lacks", async () => {
  await open("some.html", "#m=paused&port=3");
  await becomes(() => page.textContent(".missing")).toBe("not in this run: largest queues, shares paused");
  expect(await page.inputValue("#metric")).toBe("queue_mean_bytes");
  expect(await page.locator("#metric option").allTextContents()).toEqual(
    ["mean queue", "utilisation", "marks", "drops", "pauses"]);
  expect(await page.locator(".details dd[data-figure]").count()).toBe(5);
  await becomes(() => page.locator(".pane .u-wrap").count()).toBe(3);
  // figures of a stretch, and of a port under the pointer
  await page.click("#from");
  await tab("range");
  await becomes(() => page.textContent(".stretch dl")).toContain("marks");
  expect(await alerts()).toEqual([]);
});

it("says where a pinned port lies that is not among the rows that are seen", async () => {
  // half of its ports have nothing
  await open("quiet.html", `#port=${told.quiet}`);
  await becomes(() => page.locator(".heat .beyond").allTextContents()).toEqual(["pinned port below"]);
  expect(await page.locator(".heat .pinned").count()).toBe(0);
  await page.click(".heat .bar button:has-text('Show all')");
  await becomes(() => page.locator(".heat .pinned").count()).toBe(1);
  expect(await page.locator(".heat .beyond").count()).toBe(0);
});

it("draws by a 2D canvas where there is no WebGL2", async () => {
  await open("small.html", "", { script: `const get = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind === "webgl2" ? null : get.call(this, kind, ...rest); };` });
  await becomes(() => page.getAttribute("#heat", "data-painter")).toBe("2d");
  const colours = () => page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>("#heat")!;
    return new Set(new Uint32Array(canvas.getContext("2d")!.getImageData(0, 0, 400, 300).data.buffer)).size;
  });
  await becomes(colours).toBeGreaterThan(20);
});

// one
it("shows several runs one at a time", async () => {
  await open("two.html");
  await page.selectOption("#run", "1");
  await becomes(() => page.textContent("h1")).toContain("markup");
  await becomes(address).toContain("run=1");
});

it("saves what is seen as SVG and PNG", async () => {
  await open("markup.html");
  const saved = async (button: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
    return { name: download.suggestedFilename(), file: readFileSync(await download.path()) };
  };
  const svg = await saved(".fabric button:has-text('SVG')");
  expect(svg.name).toBe("markup-fabric.svg");
  // names are the user's: an image asks for nothing and runs nothing
  const faulty = await page.evaluate((text) => {
    const read = new DOMParser().parseFromString(text, "image/svg+xml");
    // the edges of links are drawn apart from their colours
    const paths = [...read.querySelectorAll("path:not([stroke='#aeb5bf'])")]
      .map((path) => path.getAttribute("d")?.split("M").length ?? 1);
    return [read.querySelectorAll("parsererror, script, img, image, b").length,
      paths.reduce((sum, own) => sum + own - 1, 0)];
  }, svg.file.toString("utf-8"));
  expect(faulty).toEqual([0, 96]);
  for (const [part, name] of [["fabric", "fabric"], ["heat", "heat-map"]] as const) {
    const png = await saved(`.${part} button:has-text('PNG')`);
    expect(png.name).toBe(`markup-${name}.png`);
    expect(png.file.subarray(1, 4).toString()).toBe("PNG");
    expect(png.file.length).toBeGreaterThan(1000);
  }
});

it("shows two runs beside one another on one clock, and their difference", async () => {
  await open("two.html", `#t=${told.frame * 1e-5}&port=${told.port}&beside=1`);
  await becomes(() => page.locator("#fabric, #other").count()).toBe(2);
  await becomes(() => page.textContent("h1")).toContain(" and ");
  await becomes(() => page.textContent(".heat .legend")).toContain("more");
  await becomes(() => page.textContent(".heat .legend")).toContain("equal");
  // the second run is over by then: all of the queue is the first's
  await becomes(() => page.locator(".corner strong").nth(1).textContent()).toContain("ended at");
  let wobble = 0;
  const tip = async () => {
    const box = (await page.locator("#heat").boundingBox())!;
    wobble = 0.9 - wobble; // a map that has just come tells of the pointer once it moves
    await page.mouse.move(box.x + ((told.frame + 0.05 + wobble) / 200) * box.width, box.y + box.height * (0.5 / 96));
    return page.locator(".heat .tip").allTextContents();
  };
  await becomes(async () => (await tip()).join()).toContain(`${told.queue_max_bytes} more in`);
  await page.selectOption("#shown", "first");
  await becomes(async () => (await tip()).join()).toContain(told.queue_max_bytes);
  await becomes(() => page.locator(".figures").count()).toBe(2);
  await page.selectOption("#beside", "");
  await becomes(() => page.locator("#other").count()).toBe(0);
  await becomes(address).not.toContain("beside");
});

it("draws pods at a distance and single ports near, and pins the worst of what a line stands for", async () => {
  await open("large.html", "#t=0.0001");
  const box = (await page.locator("#fabric").boundingBox())!;
  const tip = async () => (await page.locator(".fabric .tip").allTextContents()).join();
  // the line from the first pod's hosts up: found by looking about
  const middle = box.y + box.height - 65;
  for (let x = box.x + 90; x < box.x + 140 && !(await tip()); x++) await page.mouse.move(x, middle);
  expect(await tip()).toMatch(/[\d,]+ ports from 441 hosts h0 to h440 to 21 switches e0 to e20/);
  const worst = await page.textContent(".fabric .tip strong");
  await page.mouse.down();
  await page.mouse.up();
  await becomes(() => page.textContent(".details .figures strong")).toBe(worst);
  for (let i = 0; i < 8; i++) await page.mouse.wheel(0, -400);
  // hosts stand alone now, and so do the ports between them and their switch
  await becomes(async () => {
    for (let x = 20; x < box.width - 20; x += 10) {
      await page.mouse.move(box.x + x, middle);
      if (/^h\d+\u00a0→\u00a0e\d+/.test(await tip())) return true;
    }
    return false;
  }).toBe(true);
});

it("scrubs a file of 100,000 ports", async () => {
  await open("large.html");
  await page.fill("#scrub", "30");
  await becomes(now).toContain("frame 30 of 40");
  const shown = await page.evaluate(() => performance.getEntriesByName("incast-shown")[0]?.startTime ?? NaN);
  console.log(`100,000 ports: shown after ${Math.round(shown)} ms`);
});
