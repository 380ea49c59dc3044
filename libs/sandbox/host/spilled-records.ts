import { MAX_CHILD_RECORD_BYTES, ProtocolBreach, RecordParser, type RawRecord } from '../protocol/protocol.js';

/** Reads what a child had said but not yet sent when it was killed; `heard` is the index of the record due next. */
export const readSpilled = (spilled: Buffer, heard: () => number, take: (record: RawRecord) => void): void => {
  try {
    new RecordParser(MAX_CHILD_RECORD_BYTES, (record) => {
      if (record.index === heard() >>> 0) take(record);
      else if (record.index > heard()) throw new ProtocolBreach('the rest is older');
    }).push(spilled);
  } catch (error) {
    // Whatever follows is left over from before, or was half written.
    if (!(error instanceof ProtocolBreach)) throw error;
  }
};
