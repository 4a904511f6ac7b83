/** Reads the runs that the page carries and shows them; says so plainly where they are damaged. */

import "uplot/dist/uPlot.min.css";
import "./app/style.css";
import { render } from "preact";
import { App } from "./app/App";
import { read, type Described } from "./data/run";
import { Damaged } from "./data/unpack";

/** Texts are taken once: the page does not keep them beside what they were unpacked to. */
function source(at: number): string {
  const element = document.getElementById(`incast-${at}`);
  if (!element?.textContent) throw new Damaged(`column ${at} is not there`);
  const text = element.textContent;
  element.remove();
  return text;
}

async function begin(): Promise<void> {
  const app = document.getElementById("app")!;
  try {
    const told = document.getElementById("incast-runs")?.textContent;
    if (!told) throw new Damaged("there is no run in it");
    const { runs } = JSON.parse(told) as { runs: Described[] };
    const all = await Promise.all(runs.map((run) => read(source, run)));
    app.replaceChildren();
    render(<App runs={all} />, app);
    performance.mark("incast-shown");
  } catch (error) {
    const line = document.createElement("p");
    line.className = "told damaged";
    line.role = "alert";
    const why = error instanceof Error ? error.message : String(error);
    line.textContent = `This file is damaged: ${why}. Make it again with incast view.`;
    app.replaceChildren(line);
  }
}

void begin();
