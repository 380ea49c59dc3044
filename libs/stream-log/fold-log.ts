import { type StreamFold } from './stream-fold.js';
import { type StreamLog } from './stream-log.js';

const READ = 1_000;

/**
 * Folds the records of all topics with the prefix, each lane from its applied offset to its end. Calls `onProgress`
 * with the number of records of each read.
 */
export const foldLog = async (
  log: Pick<StreamLog, 'topics' | 'lanes' | 'read'>,
  prefix: string,
  fold: Pick<StreamFold, 'appliedTo' | 'apply'>,
  onProgress: (records: number) => void,
): Promise<void> => {
  for (const topic of await log.topics(prefix)) {
    for (const lane of await log.lanes(topic)) {
      let after = await fold.appliedTo(lane);
      for (;;) {
        const records = await log.read(lane, after, READ);
        const last = records.at(-1);
        if (!last) break;
        await fold.apply(records);
        after = last.offset;
        onProgress(records.length);
      }
    }
  }
};
