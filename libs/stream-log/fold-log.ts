import { type StreamFold } from './stream-fold.js';
import { laneHistory } from './lane-history.js';
import { type StreamLog } from './stream-log.js';

/**
 * Folds the records of all topics with the prefix. Each lane is folded from its applied offset to the end that it had
 * when its turn began. Calls `onProgress` with the number of records of each read.
 */
export const foldLog = async (
  log: Pick<StreamLog, 'topics' | 'lanes' | 'endOf' | 'read'>,
  prefix: string,
  fold: Pick<StreamFold, 'appliedTo' | 'apply'>,
  onProgress: (records: number) => void,
): Promise<void> => {
  for (const topic of await log.topics(prefix)) {
    for (const lane of await log.lanes(topic)) {
      const after = await fold.appliedTo(lane);
      for await (const records of laneHistory(log, lane, { after })) {
        await fold.apply(records);
        onProgress(records.length);
      }
    }
  }
};
