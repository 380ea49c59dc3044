import { parseChildMessage } from '../protocol/child-message.js';
import { MAX_CHILD_RECORD_BYTES, type ChildMessage, type HostMessage } from '../protocol/protocol.js';
import { encodeRecord, ProtocolBreach, RecordParser, type RawRecord } from '#libs/framing/records.js';

/** Message of a child that has loaded its bundle. */
export type RunMessage = Exclude<
  ChildMessage,
  readonly ['ready'] | readonly ['meta'] | readonly ['loadfail', ...unknown[]] | readonly ['invalid', ...unknown[]]
>;

/** Exchanges numbered records with a child, after `init` and `ready`. */
export class ChildChannel {
  /** Number of records sent, which is the index of the next one. */
  private sent = 1;
  /** Number of records received: `ready` alone at first. */
  private received = 1;
  private spokeOfRuns = false;

  constructor(private readonly child: { send(record: Buffer, sent?: () => void): void }) {}

  /** True when the child has sent nothing about a run since `ready`. */
  get isSilent(): boolean {
    return !this.spokeOfRuns;
  }

  /** `sent` is called once the record has left this process, or never will. */
  send(message: HostMessage, texts?: readonly string[], sent?: () => void): void {
    this.child.send(encodeRecord(this.sent++, message, texts), sent);
  }

  /** Reads the next record. Throws ProtocolBreach when it is out of order or malformed, or belongs to loading. */
  receive(record: RawRecord): RunMessage {
    if (record.index !== this.received >>> 0) throw new ProtocolBreach('a record out of order');
    this.received++;
    const message = parseChildMessage(record);
    const tag = message[0];
    if (tag === 'ready' || tag === 'loadfail' || tag === 'meta' || tag === 'invalid')
      throw new ProtocolBreach(`a message of kind "${tag}" after loading`);
    // Otherwise a module that fails on its own and then exits would seem to have begun a run.
    if (tag !== 'p') this.spokeOfRuns = true;
    return message;
  }

  /** Passes on the records that a killed child had written to its spill file but not sent. `onRecord` receives them. */
  readSpilled(spilled: Buffer, onRecord: (record: RawRecord) => void): void {
    try {
      new RecordParser(MAX_CHILD_RECORD_BYTES, (record) => {
        if (record.index === this.received >>> 0) onRecord(record);
        else if (record.index > this.received) throw new ProtocolBreach('the rest is older');
      }).push(spilled);
    } catch (error) {
      // The remaining bytes are stale or half-written.
      if (!(error instanceof ProtocolBreach)) throw error;
    }
  }
}
