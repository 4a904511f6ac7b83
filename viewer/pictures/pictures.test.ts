/** Pictures of views in Chromium, as tools/viewer_pictures.py asks for them. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { expect, it } from "vitest";

interface Asked {
  name: string;
  file: string;
  /** What the address says after #. */
  moment: string;
  width: number;
  height: number;
  theme: "light" | "dark";
  /** What is seen: an element, or all. */
  part?: string;
}

const FILES = process.env.INCAST_VIEW_FILES ?? "";

it("makes pictures", async () => {
  const browser = await chromium.launch({
    executablePath: process.env.INCAST_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--enable-unsafe-swiftshader"],
  });
  try {
    for (const asked of JSON.parse(readFileSync(join(FILES, "pictures.json"), "utf-8")) as Asked[]) {
      const { width, height } = asked;
      const page = await browser.newPage({ viewport: { width, height }, colorScheme: asked.theme });
      await page.goto(`file://${join(FILES, asked.file)}#${asked.moment}`);
      await page.waitForSelector("#fabric[data-frame]");
      await page.waitForSelector("#heat[data-painter]");
      // until nothing changes any more: panes and the finer heat map come after the first picture
      let before = "";
      await expect.poll(async () => {
        const now = (await page.screenshot()).toString("base64");
        const same = now === before;
        before = now;
        return same;
      }, { timeout: 60_000, interval: 500 }).toBe(true);
      const shown = asked.part ? page.locator(asked.part) : page;
      await shown.screenshot({ path: join(FILES, `${asked.name}.png`) });
      await page.close();
    }
  } finally {
    await browser.close();
  }
}, 300_000);
