/** Reads the runs that the page carries, or asks its server for, and shows them; says plainly where it cannot. */

import "uplot/dist/uPlot.min.css";
import "./app/style.css";
import { render } from "preact";
import { App } from "./app/App";
import { Boundary, Refused } from "./app/Boundary";
import { beginning } from "./app/shown";
import { isFirst } from "./app/Tour";
import { within } from "./app/within";
import { opened, type Described } from "./data/run";
import { begun, carried, served } from "./data/source";
import { Damaged } from "./data/unpack";
import { readHash } from "./time/link";

function parsed(told: string): { runs: Described[]; served: boolean } {
  try {
    return JSON.parse(told) as { runs: Described[]; served: boolean };
  } catch (error) {
    throw new Damaged(`its list of runs cannot be read (${String(error)})`);
  }
}

async function begin(): Promise<void> {
  await begun();
  const app = document.getElementById("app")!;
  let own = true;
  const say = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    return own && error instanceof Damaged ? `This file is damaged: ${why}. Make it again with incast view.`
      : `This cannot be shown: ${why}.`;
  };
  try {
    const told = document.getElementById("incast-runs")?.textContent;
    if (!told) throw new Damaged("there is no run in it");
    const page = parsed(told);
    own = !page.served;
    const all = await Promise.all(page.runs.map((run) => opened(own ? carried : served, run)));
    const asked = readHash(location.hash);
    const tours = isFirst(location.hash);
    const shown = await beginning(all, within(all, asked), asked.time_s === undefined && !asked.span);
    app.replaceChildren();
    render(<Boundary say={say}><App runs={all} begin={{ ...shown, tours }} say={say} /></Boundary>, app);
    performance.mark("incast-shown");
  } catch (error) {
    app.replaceChildren();
    render(<Refused>{say(error)}</Refused>, app);
  }
}

void begin();
