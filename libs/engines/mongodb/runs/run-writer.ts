import { BSON, type Collection, type Document } from 'mongodb';
import { Backoff } from '#libs/async/backoff.js';
import { pause } from '#libs/async/pause.js';
import { SerialQueue } from '#libs/async/serial-queue.js';
import { messageOf } from '#libs/kernel/error-message.js';
import {
  CommitTooLarge,
  failIfTooLarge,
  StateConflict,
  type RunCommit,
  type StoredState,
} from '#libs/runner/run-journal.js';
import { type LogRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { type OutboxParts } from './outbox-parts.js';
import { OutboxRelay, type Relayed } from './outbox-relay.js';
import { type UnpublishedBytes } from './unpublished-bytes.js';
import { RunInbox } from './run-inbox.js';
import {
  changeOf,
  newDocument,
  stateOf,
  unsetOf,
  updateOf,
  type OutboxEntry,
  type RunChange,
  type RunDocument,
} from './run-document.js';
import { isDuplicateKey } from '../server-errors.js';
import { isOutcomeUnknown, isTooLarge, TooLarge } from '../write-outcome.js';

export interface RunWriterContext {
  readonly documents: Collection<RunDocument>;
  readonly parts: OutboxParts;
  readonly log: StreamLog;
  readonly limits: OutboxLimits;
  readonly unpublished: UnpublishedBytes;
  /** Unique over all processes. */
  readonly newId: () => string;
  readonly closing: AbortSignal;
  readonly onWarning: (message: string, error?: unknown) => void;
}

export interface OutboxLimits {
  /** Records of a commit above this many bytes are stored in separate documents. */
  readonly inlineBytes: number;
  /** Commits wait while more than this many bytes of their state are not yet in the log. */
  readonly unpublishedBytes: number;
  /** Published records leave the outbox with the next commit, or after this time without one. */
  readonly idleMs: number;
}

const RETRIES = { firstMs: 20, longestMs: 2_000 };
/** A command has 16 MiB, less a margin for the fields around the change. */
const COMMAND_BYTES = (16 << 20) - (64 << 10);

/** The journal of one state. Does one thing at a time, in call order. */
export class RunWriter {
  private readonly turns = new SerialQueue();
  /** The document as known without reading it. Valid only while no other owner writes. */
  private mirror: { version: number; inbox: RunInbox } | undefined;
  private readonly relay: OutboxRelay;
  /** Counts conflicts. A commit sent before a refused one is refused too. */
  private conflicts = 0;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly name: string,
    private readonly context: RunWriterContext,
  ) {
    const { log, unpublished, closing, onWarning } = context;
    this.relay = new OutboxRelay(
      log,
      unpublished,
      closing,
      () => this.scheduleRemoval(),
      (error) => onWarning(`emits of ${name} cannot be published`, error),
    );
  }

  /** Whether nothing is in flight and no state is needed, so that a new writer can replace this one. */
  isQuiet(): boolean {
    return this.turns.size === 0 && this.relay.isEmpty() && this.relay.published().length === 0;
  }

  load(): Promise<StoredState> {
    return this.turns.run(async () => stateOf(await this.adopt()));
  }

  async seen(invocationIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (!this.mirror) await this.load();
    return new Set(invocationIds.filter((id) => this.mirror?.inbox.has(id)));
  }

  commit(commit: RunCommit): Promise<void> {
    const conflicts = this.conflicts;
    return this.turns.run(async () => {
      if (conflicts !== this.conflicts) {
        throw new StateConflict(this.name, commit.expectedVersion, (await this.read())?.version ?? 0);
      }
      await this.write(commit);
    });
  }

  /** Like `drop`, once the records of all commits are in the log. */
  dropPublished(): Promise<void> {
    return this.turns.run(async () => {
      if (!this.mirror) await this.adopt();
      await this.relay.below(0);
      await this.remove();
    });
  }

  drop(): Promise<void> {
    return this.turns.run(() => this.remove());
  }

  private async remove(): Promise<void> {
    const { documents, parts } = this.context;
    this.relay.discard();
    this.mirror = undefined;
    await parts.removeState(this.name);
    await documents.deleteOne({ _id: this.name });
  }

  /** Resolves when everything sent before is durable or refused, and its records are in the log. */
  async drained(): Promise<void> {
    await this.turns.idle();
    await this.relay.ended();
  }

  /** Ends running work and removes published records from the outbox. Call it after the closing signal. */
  async close(): Promise<void> {
    await this.drained();
    clearTimeout(this.idle);
    await this.turns.run(() => this.removePublished());
  }

  private read(): Promise<RunDocument | null> {
    // Majority, because state that only a fallen primary had must not be continued from.
    return this.context.documents.findOne({ _id: this.name }, { readConcern: 'majority' });
  }

  /** Loads the whole document. The records that its last owner left in the outbox are published first. */
  private async adopt(): Promise<RunDocument | null> {
    const document = await this.read();
    const version = document?.version ?? 0;
    if (this.mirror && this.mirror.version !== version) this.relay.discard();
    this.mirror = undefined;
    await this.publishLeft(document);
    this.mirror = { version, inbox: new RunInbox(document?.inbox) };
    return document;
  }

  private async publishLeft(document: RunDocument | null): Promise<void> {
    await this.relay.ended();
    const left: Relayed[] = [];
    const entries = Object.entries(document?.outbox ?? {}).map(([seq, entry]) => [Number(seq), entry] as const);
    for (const [seq, entry] of entries.sort(([a], [b]) => a - b)) {
      if (this.relay.knows(seq)) continue;
      const records = await this.recordsOf(entry);
      if (records === undefined) this.context.onWarning(`${this.name} was dropped with emits of version ${seq}`);
      const bytes = typeof entry === 'string' ? entry.length : this.context.limits.inlineBytes;
      left.push({ seq, records: records ?? [], bytes, token: typeof entry === 'string' ? undefined : entry.token });
    }
    this.relay.add(left);
    await this.relay.below(0);
  }

  private async recordsOf(entry: OutboxEntry): Promise<readonly LogRecord[] | undefined> {
    return typeof entry === 'string'
      ? (JSON.parse(entry) as LogRecord[])
      : this.context.parts.read(entry.token, entry.parts);
  }

  /** Makes the guarded write with the whole commit. */
  private async write(commit: RunCommit): Promise<void> {
    const { limits } = this.context;
    failIfTooLarge(commit);
    await this.relay.below(limits.unpublishedBytes);
    const inbox = await this.inboxAt(commit.expectedVersion);
    try {
      await this.writeWith(commit, inbox, limits.inlineBytes);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      await this.writeAlone(commit, inbox);
    }
  }

  /** Tries again with an otherwise empty outbox, which shares the document, and without the commit's own records. */
  private async writeAlone(commit: RunCommit, inbox: RunInbox): Promise<void> {
    await this.relay.below(0);
    try {
      await this.writeWith(commit, inbox, 0);
    } catch (error) {
      if (isTooLarge(error)) throw new CommitTooLarge(this.name, messageOf(error));
      throw error;
    }
  }

  /** Records above `inlineBytes` are stored in separate documents. */
  private async writeWith(commit: RunCommit, inbox: RunInbox, inlineBytes: number): Promise<void> {
    const { parts, newId } = this.context;
    const { expectedVersion, records } = commit;

    const commitId = newId();
    const version = expectedVersion + 1;
    const text = records.length > 0 ? JSON.stringify(records) : '';
    const bytes = Buffer.byteLength(text);
    const overflows = bytes > inlineBytes;
    const entry = overflows
      ? { token: commitId, parts: await parts.write(this.name, version, commitId, records) }
      : text === ''
        ? undefined
        : text;
    const published = this.relay.published();
    const planned = inbox.plan(commit.inbox);
    const outbox = { entry, published: published.map(({ seq }) => seq), drained: this.relay.isEmpty() };
    await this.apply(changeOf(commit, commitId, planned, outbox), expectedVersion, commitId);

    inbox.apply(planned);
    this.mirror = { version, inbox };
    const token = overflows ? commitId : undefined;
    if (records.length > 0) this.relay.add([{ seq: version, records, bytes, token }]);
    await this.leftOutbox(published);
  }

  private async inboxAt(expected: number): Promise<RunInbox> {
    if (this.mirror?.version === expected) return this.mirror.inbox;
    if (!this.mirror && expected === 0) return new RunInbox();
    const { version = 0 } = (await this.read()) ?? {};
    if (version !== expected) throw this.conflict(expected, version);
    return new RunInbox((await this.adopt())?.inbox);
  }

  /** Resolves when the write is confirmed. After a lost answer it repeats the write under the same guard. */
  private async apply(change: RunChange, expected: number, commitId: string): Promise<void> {
    const backoff = new Backoff(RETRIES);
    for (;;) {
      try {
        if (await this.guarded(change, expected)) return;
        const stored = await this.read();
        if (stored?.version === expected + 1 && stored.commitId === commitId) return;
        if ((stored?.version ?? 0) !== expected) throw this.conflict(expected, stored?.version ?? 0);
      } catch (error) {
        if (!isOutcomeUnknown(error) || this.context.closing.aborted) throw error;
        this.context.onWarning(`a commit of ${this.name} was not answered and is sent again`, error);
      }
      await pause(backoff.next(), this.context.closing);
    }
  }

  private async guarded(change: RunChange, expected: number): Promise<boolean> {
    const { documents } = this.context;
    if (expected > 0) {
      const update = fitting(updateOf(change));
      const { matchedCount } = await documents.updateOne({ _id: this.name, version: expected }, update);
      return matchedCount === 1;
    }
    try {
      await documents.insertOne(fitting(newDocument(this.name, change)));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  private conflict(expected: number, actual: number): StateConflict {
    this.conflicts++;
    if (this.mirror && this.mirror.version !== actual) {
      // Another owner is active. It read the document after our last commit, and publishes the outbox.
      this.mirror = undefined;
      this.relay.discard();
    }
    return new StateConflict(this.name, expected, actual);
  }

  private scheduleRemoval(): void {
    clearTimeout(this.idle);
    if (this.context.closing.aborted) return;
    this.idle = setTimeout(() => {
      if (this.turns.size > 0) {
        // The next commit removes them.
        this.scheduleRemoval();
        return;
      }
      this.turns
        .run(() => this.removePublished())
        .catch((error: unknown) => this.context.onWarning(`the outbox of ${this.name} cannot be cleared`, error));
    }, this.context.limits.idleMs).unref();
  }

  private async removePublished(): Promise<void> {
    const published = this.relay.published();
    if (published.length === 0 || !this.mirror) return;
    const unset = published.map(({ seq }) => `outbox.${seq}`);
    if (this.relay.isEmpty()) unset.push('outboxMark');
    // Guarded, because the mark must stay when another owner added to the outbox. That owner then removes it.
    const { version } = this.mirror;
    const { matchedCount } = await this.context.documents.updateOne(
      { _id: this.name, version },
      { $unset: unsetOf(unset) },
    );
    if (matchedCount === 1) await this.leftOutbox(published);
    else this.relay.removed(published);
  }

  /** Removes parts without a reference. The sweep removes those that cannot be removed now. */
  private async leftOutbox(entries: readonly Relayed[]): Promise<void> {
    this.relay.removed(entries);
    try {
      await this.context.parts.remove(entries.flatMap(({ token }) => token ?? []));
    } catch (error) {
      this.context.onWarning(`published emits of ${this.name} are left to the sweep`, error);
    }
  }
}

/**
 * Throws for a document that no server accepts. A server closes the connection at more than 48 MB, which looks like a
 * fault.
 */
const fitting = <D extends Document>(document: D): D => {
  const bytes = BSON.calculateObjectSize(document);
  if (bytes > COMMAND_BYTES) throw new TooLarge(`the change has ${bytes} bytes, a command at most ${COMMAND_BYTES}`);
  return document;
};
