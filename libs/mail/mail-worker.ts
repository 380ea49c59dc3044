import { type DueEntry, type DueStore } from '#libs/due/due-store.js';
import { type Clock } from '#libs/kernel/clock.js';
import { emailHeaders } from '#libs/stream-log/envelopes.js';
import { type LaneBatch, type StoredRecord, type StreamLog } from '#libs/stream-log/stream-log.js';
import { EMAILS } from '#libs/stream-log/topics.js';
import { errorMail } from './error-mail.js';
import { type Mailer, MailRefused } from './mailer.js';

/** Recipient of the mails about a source or workflow. */
export interface Recipient {
  readonly email: string;
  /** Of the source or workflow. */
  readonly name: string;
}

/** Durable records of sent mails, with an end. */
export interface MailNotes {
  get(
    store: string,
    key: string,
    now: number,
  ): Promise<{ readonly value: string; readonly expiresAt: number | null } | undefined>;
  /** Resolves when durable. A repeat changes nothing more. */
  set(
    note: {
      readonly storeId: string;
      readonly workspaceId: string;
      readonly key: string;
      readonly value: string;
      readonly expiresAt: number;
    },
    now: number,
  ): Promise<void>;
}

export interface MailWorkerDependencies {
  readonly log: Pick<StreamLog, 'consume'>;
  readonly mailer: Mailer;
  readonly notes: MailNotes;
  readonly due: Pick<DueStore, 'put'>;
  /** Undefined when the mails of the source or workflow are off, or their user has left the workspace. */
  readonly recipientOf: (emitterId: string, workspaceId: string) => Promise<Recipient | undefined>;
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly metrics: { email(outcome: 'sent' | 'suppressed' | 'retried' | 'failed'): void };
  readonly logger: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
}

const DAY_MS = 86_400_000;
/** Mails about one source or workflow in 24 hours. */
export const MAILS_A_DAY = 20;
/** Pauses before a mail that its server refused for now is tried again. */
const RETRY_MS = [60_000, 300_000, 900_000, 3_600_000];

/**
 * Sends errors of sources and workflows by email: one mail for each distinct error of one in 24 hours
 * (docs/reference/rest-api.md#error-emails and workflows.md#run-error-emails). A mail is recorded once its server has accepted it. A crash in between
 * sends it again, under one Message-ID. One consumer owns the lane, so several processes send no mail twice.
 */
export const startMailWorker = async (deps: MailWorkerDependencies): Promise<{ close(): Promise<void> }> => {
  const consumer = await deps.log.consume({
    group: 'emails',
    topics: { names: [EMAILS] },
    maxBatch: 16,
    maxUnacked: 64,
    handler: async (batch: LaneBatch) => {
      for (const record of batch.records) {
        if (batch.revoked()) return;
        // A server that cannot be reached rejects here, and the log delivers the record again after a pause.
        await tell(deps, record);
        batch.ack(record.offset);
      }
    },
  });
  return {
    async close() {
      await consumer.close();
      deps.mailer.close();
    },
  };
};

const tell = async (deps: MailWorkerDependencies, record: StoredRecord): Promise<void> => {
  const { clock, metrics, notes, recipientOf } = deps;
  const { emitter: emitterId, workspace, fault, emit } = emailHeaders(record);
  const now = clock.now();
  if (now - record.timestamp > DAY_MS) return metrics.email('failed');
  // 1. Check whether this error, or too many of the emitter, were mailed today.
  const store = `emails:${emitterId}`;
  const [mailed, count] = await Promise.all([notes.get(store, `sent:${fault}`, now), notes.get(store, 'count', now)]);
  const before = Number(count?.value ?? '0');
  if (mailed !== undefined || before >= MAILS_A_DAY) return metrics.email('suppressed');
  const recipient = await recipientOf(emitterId, workspace);
  if (recipient === undefined) return;
  // 2. Send.
  const isLast = before + 1 === MAILS_A_DAY;
  if (!(await isSent(deps, record, recipient, isLast))) return;
  // 3. Record it. The count keeps its end, so that it restarts a day after its first mail.
  const note = { storeId: store, workspaceId: store };
  await notes.set({ ...note, key: `sent:${fault}`, value: JSON.stringify(emit), expiresAt: now + DAY_MS }, now);
  const expiresAt = count?.expiresAt ?? now + DAY_MS;
  await notes.set({ ...note, key: 'count', value: String(before + 1), expiresAt }, now);
};

/** Resolves with whether the mail was sent. A temporarily refused mail is tried again later. */
const isSent = async (
  { mailer, due, publicUrl, clock, metrics, logger }: MailWorkerDependencies,
  stored: StoredRecord,
  { email, name }: Recipient,
  isLast: boolean,
): Promise<boolean> => {
  const { key, value } = stored;
  const headers = emailHeaders(stored);
  const { emitter: emitterId, emit } = headers;
  const line = { emitter: emitterId, emit };
  try {
    await mailer.send(errorMail({ to: email, emitterId, name, publicUrl, emit, event: value, isLast }));
  } catch (error) {
    if (!(error instanceof MailRefused)) {
      logger.warn({ ...line, err: error }, 'email.waits: the mail server cannot be used');
      throw error;
    }
    const attempt = Number(headers.attempt ?? '0');
    const pauseMs = error.isFinal ? undefined : RETRY_MS[attempt];
    const reason = error.message;
    if (pauseMs === undefined) {
      metrics.email('failed');
      logger.warn({ ...line, reason }, 'email.refused: the mail server does not take it');
      return false;
    }
    const record = { key, headers: { ...headers, attempt: String(attempt + 1) }, value };
    const entry: DueEntry = {
      id: `email/${emitterId}/${emit}/${attempt + 1}`,
      owner: emitterId,
      kind: 'email',
      dueAt: clock.now() + pauseMs,
      record,
    };
    await due.put([entry]);
    metrics.email('retried');
    logger.warn({ ...line, reason, pauseMs }, 'email.put_off: the mail server does not take it now');
    return false;
  }
  metrics.email('sent');
  logger.info(line, 'email.sent');
  return true;
};
