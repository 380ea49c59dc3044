import { type DataStoreAccess } from '#libs/component-model/data-store-calls.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { textOf, ProtocolBreach } from '#libs/framing/records.js';
import { isPlainJson } from '#libs/framing/json-text.js';
import { type ChildMessage, type HostMessage, STORE_CALLS, type StoreError } from '../protocol/protocol.js';
import { type BoundProp } from '../sandbox.js';

type Call = Extract<ChildMessage, readonly ['q', ...unknown[]]>;
type Answer = Extract<HostMessage, { readonly t: 'a' }>;

/** Passes an answer on. `sent` is called once it has left this process. */
type SendAnswer = (answer: Answer, text: string | undefined, sent: () => void) => void;

/**
 * Twice the calls that an honest child has unanswered. An answer may be read, and the next call arrive, before the
 * socket reports that it sent the answer.
 */
const MAX_UNANSWERED = 2 * STORE_CALLS;

/** Ids of the data stores that a process or a call may use. */
export const storesOf = (props: Readonly<Record<string, BoundProp>>): ReadonlySet<string> =>
  new Set(Object.values(props).flatMap((prop) => (prop.kind === 'store' ? [prop.id] : [])));

/**
 * Host side of the calls of one jailed process to its data stores. Bounds calls and answers that are held for it: a
 * child that does not read its answers is ended.
 */
export class StoreCalls {
  private unanswered = 0;
  private closed = false;

  constructor(
    private readonly access: DataStoreAccess | undefined,
    private readonly workspaceId: string,
    /** Whether run `n` may use a data store. */
    private readonly allowed: (n: number, store: string) => boolean,
    private readonly send: SendAnswer,
  ) {}

  /** Starts a call, which is checked in its form (store-call.ts). Throws ProtocolBreach for a forged one. */
  receive([, n, id, op, store, key, number]: Call, raw: Buffer): void {
    // Calls from the spill file of an ended process are dropped, because nothing waits for the answers.
    if (this.closed) return;
    if (!this.allowed(n, store)) throw new ProtocolBreach('a call to a data store that is no prop of the run');
    if (++this.unanswered > MAX_UNANSWERED)
      throw new ProtocolBreach(`more than ${MAX_UNANSWERED} calls to data stores at once`);
    const value = textOf(raw);
    if (op === 'set' && !isPlainJson(value))
      throw new ProtocolBreach('a value for a data store that is no JSON, or nests deeper than 256');
    void this.answer(id, store, { op, key, number, value });
  }

  /** Drops outstanding answers. The calls themselves continue. */
  close(): void {
    this.closed = true;
  }

  private async answer(id: number, store: string, call: Parameters<DataStoreAccess['call']>[2]): Promise<void> {
    let text: string | undefined;
    let error: StoreError | undefined;
    try {
      if (!this.access) throw new DomainError('platform.unavailable', 'data stores are not available here');
      text = await this.access.call(store, this.workspaceId, call);
    } catch (thrown) {
      error = errorOf(thrown);
    }
    if (this.closed) return;
    this.send({ t: 'a', id, ...(error === undefined ? {} : { error }) }, text, this.sent);
  }

  private readonly sent = (): void => {
    this.unanswered--;
  };
}

/** Errors other than the author's are the platform's, and only the operator may read their texts. */
const errorOf = (thrown: unknown): StoreError =>
  thrown instanceof DomainError
    ? { code: thrown.code, message: thrown.message }
    : { code: 'platform.unavailable', message: 'the data store cannot be reached: try again' };
