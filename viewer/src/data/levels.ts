/**
 * The figure with which a page opens, pooled over time and over ports, as python/incast/view/levels.py makes it: the
 * first picture of a large run needs no other row. Values are exact.
 */

import type { Opening } from "./opening";
import type { Metric } from "./run";
import { Columns, type Numbers } from "./unpack";

/** Columns: of ports; of frames (three); single numbers (three); of rows (first row of each frame, port, value). */
export const LEVELS = [
  "worst", "most", "most_port", "sum", "opens", "busy", "first", "starts", "port", "value",
] as const;

export class Levels {
  private rows: Columns | null = null;

  constructor(readonly metric: Metric, private readonly columns: Columns) {}

  get isRead(): boolean {
    return !this.columns.unread(LEVELS).length;
  }

  private one(name: "opens" | "busy" | "first"): number {
    return this.columns.values(name)[0] ?? 0;
  }

  /** The frame at which a page opens, of which all rows are there. */
  get frame(): number {
    return this.one("opens");
  }

  /** Frames until the last one in which anything is recorded. */
  get busy(): number {
    return this.one("busy");
  }

  /** So many ports, the worst first and of equal ones the first, have all their rows there. */
  get first(): number {
    return this.one("first");
  }

  /** The largest value of each port, and the sum of each frame. */
  get worst(): Numbers {
    return this.columns.values("worst");
  }

  get sums(): Numbers {
    return this.columns.values("sum");
  }

  get opening(): Opening | null {
    const { frame } = this;
    const value = this.columns.values("most")[frame] ?? 0;
    return value > 0 ? { frame, port: this.columns.values("most_port")[frame]!, value } : null;
  }

  /** Rows in a block as those of all ports have. */
  get block(): Columns {
    if (!this.rows) {
      const column = (name: string) => ({ values: this.columns.values(name) });
      this.rows = Columns.of({ starts: column("starts"), port: column("port"), [this.metric]: column("value") });
    }
    return this.rows;
  }
}
