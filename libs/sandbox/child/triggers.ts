import { MAX_TRIGGERS, NESTING_EXCEEDED } from '#libs/component-model/step-run.js';
import { type StoreError } from '../protocol/protocol.js';
import { isWorkflowName } from '../protocol/step-message.js';
import { type Execution } from './execution.js';
import { jsonOf } from './json-of.js';

/** `id` is null in a test, which starts nothing. */
interface Started {
  readonly id: string | null;
}

interface Asked {
  readonly resolve: (started: Started) => void;
  readonly reject: (error: Error) => void;
}

/** `$.flow.trigger` of one execution (docs/reference/workflows.md#flow-trigger). */
export class Triggers {
  private readonly asked = new Map<number, Asked>();
  private calls = 0;

  constructor(
    private readonly execution: Execution,
    private readonly isTest: boolean,
  ) {
    execution.answered = this.answered;
  }

  /** The server answers with the id of the run, which starts once the outcome of the step is durable. */
  readonly start = async (workflow: unknown, payload: unknown = null): Promise<Started> => {
    const { execution } = this;
    if (!isWorkflowName(workflow))
      throw new TypeError('$.flow.trigger: the workflow must be an id (p_…), or ext: and an external id');
    const text = jsonOf(payload, '$.flow.trigger: the payload', NESTING_EXCEEDED);
    if (execution.over) throw new Error('$.flow.trigger after the end of the step does nothing');
    if (this.isTest) {
      execution.log('flow.trigger', `${workflow}: a test starts nothing`);
      return { id: null };
    }
    if (this.calls >= MAX_TRIGGERS)
      throw new RangeError(`$.flow.trigger: a step starts at most ${MAX_TRIGGERS} workflows`);
    execution.count(Buffer.byteLength(text), '$.flow.trigger');
    const id = this.calls++;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve, reject });
      execution.tell(['t', execution.n, id, workflow], text);
    });
  };

  private readonly answered = (id: number, text: string, error?: StoreError): void => {
    const asked = this.asked.get(id);
    this.asked.delete(id);
    if (error === undefined) asked?.resolve({ id: text });
    else
      asked?.reject(
        Object.assign(new Error(`$.flow.trigger: ${error.message}`), { name: error.code, code: error.code }),
      );
  };
}
