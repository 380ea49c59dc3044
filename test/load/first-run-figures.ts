import { type SampleBook } from './component-samples.js';
import { totalOf, usageOf } from './part-usage.js';
import { openSluice, RELAY_COMPONENT } from './targets.js';

const LATER_RUNS = 5;

/** Times the first run of a source, for which a process starts, and those after it. Each sample is a new source. */
export const measureFirstRuns = async (book: SampleBook, rounds: number, each: number): Promise<void> => {
  const { api, parts, close } = await openSluice();
  try {
    const component = await api.createComponent(RELAY_COMPONENT);
    const processes = (): number => totalOf(usageOf(parts())).processes;
    const runMs = async (id: string): Promise<number> => {
      const startedAt = performance.now();
      await api.runNow(id, { body: { n: 1 } });
      return performance.now() - startedAt;
    };
    for (let sample = 0; sample < rounds * each; sample++) {
      const { id } = await api.createSource({ component_id: component.id });
      const before = processes();
      book.add('first', 'first run, process not started', 'ms', await runMs(id));
      // A value below 1 says that the process had been running, so that the run was not cold.
      book.add('first', 'processes more after the first run', 'processes', processes() - before);
      for (let run = 0; run < LATER_RUNS; run++) book.add('first', 'later run', 'ms', await runMs(id));
      await api.deleteSource(id);
    }
  } finally {
    await close();
  }
};
