/** Pauses in Chromium: a deadlock on the fabric and as a ring, and the tree whose ports can be chosen. */

import { expect, it } from "vitest";
import { address, becomes, inBrowser, open, page, tab } from "./browser";

inBrowser();

const halts = () => page.locator(".halts").allTextContents();
const said = async (part: string) => (await page.textContent(part))?.replaceAll("\u00a0", " ");

it("shows paused ports at the cursor, and a deadlock from its begin on", async () => {
  await open("pauses.html", "#t=0.00005&tab=pauses");
  await becomes(halts).toEqual(["deadlock, 10\u00a0ports paused"]);
  await becomes(() => said(".why.dead")).toMatch(/^Deadlock since 37\.\d+ µs: s0 → s1, /);
  expect(await page.locator(".ring .arc").count()).toBe(5);
  await page.keyboard.press("Home");
  await becomes(halts).toEqual(["no port paused"]);
  await page.click("text=At the cursor");
  await becomes(() => page.locator(".ring").count()).toBe(0);
  await becomes(() => said(".details .why")).toContain("is not paused in the frame at 0 s");
});

it("chooses a port of the tree or of the ring, and stays there", async () => {
  await open("pauses.html", "#t=0.00005&tab=pauses");
  await page.click(".blame [data-port] >> nth=1");
  await becomes(address).toMatch(/port=\d+/);
  const first = /port=(\d+)/.exec(address())![1];
  await page.click(".ring li:nth-child(5) button");
  await becomes(() => /port=(\d+)/.exec(address())![1]).not.toBe(first);
  await becomes(() => page.locator(".ring g.own").count()).toBe(1);
  expect(await page.getAttribute("[data-tab=pauses]", "aria-selected")).toBe("true");
  // of what is chosen elsewhere the port is shown, and why it waits can be asked
  await page.selectOption("#port", "0");
  await becomes(() => page.getAttribute("[data-tab=port]", "aria-selected")).toBe("true");
  await tab("pauses");
  await page.click("[aria-label='Who waits'] button >> nth=1");
  await becomes(() => said(".details .why:not(.dead)")).toMatch(/^The port .* is paused for /);
});

it("is not there in a run that recorded none", async () => {
  await open("small.html");
  await page.waitForTimeout(600);
  expect([await halts(), await page.locator("[data-tab=pauses]").count()]).toEqual([[], 0]);
});
