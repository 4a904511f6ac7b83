/** Reads the runs that the page carries, or asks its server for, and shows them; says plainly where it cannot. */

import "uplot/dist/uPlot.min.css";
import "./app/style.css";
import { render } from "preact";
import { App } from "./app/App";
import { readMoment } from "./app/shown";
import { within } from "./app/within";
import { opened, type Described } from "./data/run";
import { Damaged } from "./data/unpack";
import { readHash } from "./time/link";

/** Texts are taken once, when they are first shown: the page does not keep them beside what they were unpacked to. */
function carried(at: number): string {
  const element = document.getElementById(`incast-${at}`);
  if (!element?.textContent) throw new Damaged(`column ${at} is not there`);
  const text = element.textContent;
  element.remove();
  return text;
}

/** Asks the server from which the page came. */
async function served(at: number): Promise<ArrayBuffer> {
  let answer: Response;
  try {
    answer = await fetch(`columns/${at}`);
  } catch {
    throw new Error("incast view --serve does not answer any more");
  }
  if (!answer.ok) throw new Error(`incast view --serve says ${answer.status} of column ${at}`);
  return answer.arrayBuffer();
}

async function begin(): Promise<void> {
  const app = document.getElementById("app")!;
  let own = true;
  const say = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    return own ? `This file is damaged: ${why}. Make it again with incast view.` : `This cannot be shown: ${why}.`;
  };
  try {
    const told = document.getElementById("incast-runs")?.textContent;
    if (!told) throw new Damaged("there is no run in it");
    const page = JSON.parse(told) as { runs: Described[]; served: boolean };
    own = !page.served;
    const all = await Promise.all(page.runs.map((run) => opened(own ? carried : served, run)));
    const moment = within(all, readHash(location.hash));
    await readMoment(all, moment);
    app.replaceChildren();
    render(<App runs={all} begin={moment} say={say} />, app);
    performance.mark("incast-shown");
  } catch (error) {
    const line = document.createElement("p");
    line.className = "told damaged";
    line.role = "alert";
    line.textContent = say(error);
    app.replaceChildren(line);
  }
}

void begin();
