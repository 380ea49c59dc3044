import { type DataStoreOp } from '#libs/component-model/data-store-calls.js';
import { STORE_CALLS, type StoreError } from '../protocol/protocol.js';
import { type Execution } from './execution.js';
import { type LateWork, quoted } from './late-work.js';
import { type Uplink } from './uplink.js';

interface Waiting {
  readonly execution: Pick<Execution, 'n' | 'over'>;
  readonly op: DataStoreOp;
  readonly store: string;
  readonly key: string;
  readonly number: number | null;
  readonly value: string;
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
}

const failure = (message: string, code: string): Error =>
  Object.assign(new Error(message), { name: 'DataStoreError', code });

/**
 * Calls of this process to its data stores. At most STORE_CALLS are with the host; the others wait here, in the memory
 * of the component that makes them.
 */
export class StoreLink {
  private readonly asked = new Map<number, Waiting>();
  private waiting: Waiting[] = [];
  private next = 0;
  private ids = 0;

  constructor(
    private readonly uplink: Pick<Uplink, 'send'>,
    private readonly late: Pick<LateWork, 'report'>,
  ) {}

  /** Resolves with the JSON text of the answer, empty for none. Rejects with a DataStoreError. */
  call(
    execution: Waiting['execution'],
    { op, store, key = '', number = null, value = '' }: Pick<Waiting, 'op' | 'store'> & Partial<Waiting>,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ execution, op, store, key, number, value, resolve, reject });
      this.pump();
    });
  }

  /** True when no call is unanswered. */
  get isIdle(): boolean {
    return this.asked.size === 0 && this.next === this.waiting.length;
  }

  /** Handles the host's answer. */
  answered(id: number, text: string, error?: StoreError): void {
    const call = this.asked.get(id);
    if (!call) return;
    this.asked.delete(id);
    if (error) call.reject(failure(`${call.op}: ${error.message}`, error.code));
    else call.resolve(text);
    this.pump();
  }

  private pump(): void {
    while (this.asked.size < STORE_CALLS) {
      const call = this.waiting[this.next];
      if (!call) break;
      this.next++;
      this.ask(call);
    }
    // Copies the remaining entries rarely, so that a long queue costs little for each call.
    if (this.next === this.waiting.length || this.next > 1_024) {
      this.waiting = this.waiting.slice(this.next);
      this.next = 0;
    }
  }

  private ask(call: Waiting): void {
    const { execution, op, store, key, number, value } = call;
    if (execution.over) {
      this.late.report(execution.n, 'store', () => (key === '' ? op : `${op}(${quoted(key)})`));
      return call.reject(failure(`${op}: the run has ended, so its data stores are closed`, 'run_ended'));
    }
    const id = ++this.ids;
    this.asked.set(id, call);
    this.uplink.send(['q', execution.n, id, op, store, key, number], value);
  }
}
