import { MAX_CHILD_RECORD_BYTES, ProtocolBreach, RecordParser, type RawRecord } from '../protocol/protocol.js';

/** Reads records that a killed child had written but not yet sent. `heard` is the index of the next record due. */
export const readSpilled = (spilled: Buffer, heard: () => number, take: (record: RawRecord) => void): void => {
  try {
    new RecordParser(MAX_CHILD_RECORD_BYTES, (record) => {
      if (record.index === heard() >>> 0) take(record);
      else if (record.index > heard()) throw new ProtocolBreach('the rest is older');
    }).push(spilled);
  } catch (error) {
    // The remaining bytes are stale or half-written.
    if (!(error instanceof ProtocolBreach)) throw error;
  }
};
