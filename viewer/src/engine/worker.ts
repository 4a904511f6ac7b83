/** A worker: carries out tasks in a thread of its own. */

import { failureOf, Work, type Task, type Told } from "./work";

const work = new Work();
const tell = (told: Told, moved: Transferable[] = []) => { postMessage(told, { transfer: moved }); };
let last = Promise.resolve();

onmessage = ({ data: { id, task } }: MessageEvent<{ id: number; task: Task }>) => {
  last = last.then(async () => {
    try {
      const answer = await work.done(task, (progress) => { tell({ id, progress }); });
      const tables = (answer as { tables?: Record<string, { bytes: ArrayBuffer }> } | null)?.tables ?? {};
      tell({ id, answer, held: work.held }, Object.values(tables).map(({ bytes }) => bytes));
    } catch (error) {
      tell(failureOf(id, error));
    }
  });
};
