import { asError } from '#libs/kernel/error-message.js';
import { type LogRecord, type OnSettled, type PublishOptions, type StreamLog } from './stream-log.js';

/** `publishEach` for a log that writes all records of a call or none. */
export const publishTogether = (
  log: Pick<StreamLog, 'publish'>,
  records: readonly LogRecord[],
  settled: OnSettled,
  options?: PublishOptions,
): void => {
  const tell = (outcomeOf: (index: number) => number | null | Error): void =>
    records.forEach((_, index) => settled(index, outcomeOf(index)));
  log.publish(records, options).then(
    (offsets) => tell((index) => offsets[index] ?? null),
    (error: unknown) => tell(() => asError(error)),
  );
};
