import { pause } from '#libs/async/pause.js';
import { openKafka, type KafkaOptions, type KafkaStreamLog } from '../index.js';

const PATIENCE_MS = 30_000;

/** Retries as the apps do, because a broker on a busy machine may be late once. */
export const openPatiently = async (options: KafkaOptions): Promise<KafkaStreamLog> => {
  for (const until = Date.now() + PATIENCE_MS; ; await pause(500)) {
    try {
      return await openKafka(options);
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
};
