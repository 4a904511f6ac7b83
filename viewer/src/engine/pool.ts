/** Workers with the engine. Stopping ends their threads at once; what has finished stays. */

import type { Answers, Task, Told } from "./work";
import { Refused, type Progress } from "./wasm";

/** A worker, or what stands for one in tests. */
export interface Thread {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<Told>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

/** A task was stopped. */
export class Stopped extends Error {}

/** A run without progress for so long is ended, ms: an endless loop in a controller. */
export const SILENT = 15_000;

/** Memory of an engine, in bytes, above which its worker ends with its run: only so is memory given back. */
export const HELD = 128 * 2 ** 20;

interface Job {
  id: number;
  task: Task;
  heard: (progress: Progress) => void;
  done: (answer: unknown) => void;
  failed: (error: unknown) => void;
}

interface Seat {
  thread: Thread;
  job: Job | null;
  silent: ReturnType<typeof setTimeout> | null;
}

const isRun = ({ task }: Job) => task.do === "run";

/** `size` runs at once, and what else is asked beside them. */
export class Pool {
  private readonly seats: Seat[] = [];
  private waiting: Job[] = [];
  private next = 0;

  constructor(
    private readonly module: WebAssembly.Module, private readonly make: () => Thread, readonly size: number,
    private readonly silent = SILENT,
  ) {}

  /** Carries out a task when a worker is free. */
  ask<Name extends keyof Answers>(
    task: Task & { do: Name }, heard: (progress: Progress) => void = () => undefined,
  ): Promise<Answers[Name]> {
    return new Promise((done, failed) => {
      this.waiting.push({ id: this.next++, task, heard, done: done as (answer: unknown) => void, failed });
      this.assign();
    });
  }

  /** Ends all runs, begun and waiting. */
  stop(): void {
    const waiting = this.waiting.filter(isRun);
    this.waiting = this.waiting.filter((job) => !isRun(job));
    for (const seat of this.seats.filter(({ job }) => job && isRun(job))) this.free(seat, new Stopped("stopped"));
    waiting.forEach(({ failed }) => { failed(new Stopped("stopped")); });
    this.assign();
  }

  /** Ends all threads. */
  close(): void {
    this.waiting.forEach(({ failed }) => { failed(new Stopped("stopped")); });
    this.waiting = [];
    for (const seat of [...this.seats]) this.free(seat, new Stopped("stopped"));
  }

  private assign(): void {
    for (;;) {
      const full = this.seats.filter(({ job }) => job && isRun(job)).length >= this.size;
      // what is asked beside runs waits for none: it has a worker more where they take all
      const short = this.waiting.findIndex((job) => !isRun(job));
      const at = short < 0 && !full && this.waiting.length ? 0 : short;
      if (at < 0) return;
      const most = this.size + (full ? 1 : 0);
      const seat = this.seats.find(({ job }) => !job) ?? (this.seats.length < most ? this.seated() : undefined);
      if (!seat) return;
      const [job] = this.waiting.splice(at, 1) as [Job];
      seat.job = job;
      this.listen(seat);
      seat.thread.postMessage({ id: job.id, task: job.task });
    }
  }

  private seated(): Seat {
    const thread = this.make();
    const seat: Seat = { thread, job: null, silent: null };
    this.seats.push(seat);
    thread.onmessage = ({ data }) => { this.told(seat, data); };
    thread.onerror = (event) => { this.free(seat, new Error(event.message || "the worker failed")); };
    thread.postMessage({ id: -1, task: { do: "begin", module: this.module } });
    return seat;
  }

  private told(seat: Seat, told: Told): void {
    if (told.id < 0) {
      if ("error" in told) this.free(seat, new Error(told.error));
      return;
    }
    const job = seat.job;
    if (job?.id !== told.id) return;
    this.listen(seat);
    if ("progress" in told) {
      job.heard(told.progress);
      return;
    }
    this.leave(seat);
    if ("error" in told) {
      // a trap leaves the module in no state to go on
      if (!told.refused && job.task.do !== "class") this.end(seat);
      job.failed(told.refused ? new Refused(told.error, told.problems) : new Error(told.error));
    } else {
      if ((told.held ?? 0) > HELD) this.end(seat);
      job.done(told.answer);
    }
    this.assign();
  }

  private listen(seat: Seat): void {
    if (seat.silent) clearTimeout(seat.silent);
    const task = seat.job?.task;
    const own = task && ("source" in task || ("sources" in task && task.sources.length > 0));
    const words = `no progress in ${Math.round(this.silent / 1000)} s: ${
      own ? "is there a loop without an end?" : "this is too large for a page"}`;
    seat.silent = setTimeout(() => { this.free(seat, new Error(words)); }, this.silent);
  }

  private leave(seat: Seat): void {
    if (seat.silent) clearTimeout(seat.silent);
    [seat.job, seat.silent] = [null, null];
  }

  private end(seat: Seat): void {
    seat.thread.terminate();
    this.seats.splice(this.seats.indexOf(seat), 1);
  }

  /** Ends a worker and its task. */
  private free(seat: Seat, error: Error): void {
    const { job } = seat;
    this.leave(seat);
    this.end(seat);
    job?.failed(error);
    this.assign();
  }
}
