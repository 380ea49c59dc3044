import { WARNING } from '#libs/component-model/run-output.js';
import {
  MAX_RERUNS,
  NESTING_EXCEEDED,
  RETURN_VALUE,
  type StepFacts,
  type StepFlow,
  type StepUrls,
} from '#libs/component-model/step-run.js';
import { MAX_NESTING } from '#libs/framing/json-text.js';
import { exportBytes } from '../protocol/run-size.js';
import { exportFault, isRerunCount, reasonText } from '../protocol/step-message.js';
import { type BoundComponent } from './component.js';
import { type Execution } from './execution.js';
import { Exports } from './exports.js';
import { contextText, msOf, SUSPEND_MS, textOf } from './flow-texts.js';
import { jsonOf } from './json-of.js';
import { checkedReply, type RespondInput } from './reply.js';
import { sendFunctions } from './send-calls.js';
import { sendOfStep } from './step-sends.js';
import { Triggers } from './triggers.js';

/** Runs the code of a workflow's step (docs/reference/workflows.md#step-code). Rejects with what it threw. */
export const runStep = async (component: BoundComponent, execution: Execution, facts: StepFacts): Promise<void> => {
  const run = new StepRun(execution, facts);
  execution.leave = run.leave;
  run.returned(await component.act(execution, run.argument()));
};

interface Trigger {
  readonly event?: unknown;
}

type Waited = { readonly [K in keyof StepUrls]: string | null };

const NO_URLS: Waited = { resume_url: null, cancel_url: null, confirm_url: null };

/** `$` of one execution. */
class StepRun {
  private readonly startedAt = Date.now();
  private readonly exports: Exports;
  private returnValue: string | undefined;
  private flow: StepFlow | undefined;

  constructor(
    private readonly execution: Execution,
    private readonly facts: StepFacts,
  ) {
    this.exports = new Exports({
      levels: MAX_NESTING,
      deepCode: NESTING_EXCEEDED,
      faultOf: exportFault,
      count: (bytes) => execution.count(bytes, '$.export'),
    });
  }

  argument(): Readonly<Record<string, unknown>> {
    const { execution, facts } = this;
    const steps = JSON.parse(facts.steps) as { readonly trigger?: Trigger };
    const $ = {
      context: facts.context,
      export: this.export,
      respond: facts.hasCaller ? execution.respond : this.respondToNobody,
      flow: this.flowFunctions(),
      send: sendFunctions((kind, fields) => {
        if (!this.isLate(`$.send.${kind}`)) sendOfStep(execution, kind, fields);
      }),
    };
    const item = facts.item && { item: JSON.parse(facts.item.text) as unknown, index: facts.item.index };
    return { $, steps, event: steps.trigger?.event, ...item };
  }

  returned(value: unknown): void {
    if (value === undefined) return;
    const text = jsonOf(value, 'the returned value', NESTING_EXCEEDED);
    this.execution.count(exportBytes(RETURN_VALUE, Buffer.byteLength(text)), 'the returned value');
    this.returnValue = text;
  }

  /** The bytes were counted at the calls. */
  readonly leave = (hasFailed: boolean): void => {
    const { execution, flow, returnValue } = this;
    for (const [name, text] of this.exports) execution.tell(['o', execution.n, name], text);
    if (returnValue !== undefined) execution.tell(['o', execution.n, RETURN_VALUE], returnValue);
    if (flow !== undefined && !hasFailed) this.tellFlow(flow);
  };

  private tellFlow(flow: StepFlow): void {
    const { execution } = this;
    const { n } = execution;
    switch (flow.kind) {
      case 'exit':
        return execution.tell(['f', n, flow.kind, 0, 0], flow.reason ?? '');
      case 'delay':
      case 'suspend':
        return execution.tell(['f', n, flow.kind, flow.ms, 0]);
      case 'rerun':
        return execution.tell(['f', n, flow.kind, flow.ms, flow.maxRetries], flow.context ?? '');
    }
  }

  private readonly export = (name: unknown, value: unknown): void => {
    if (!this.isLate('$.export')) this.exports.put(name, value);
  };

  /** Checks the reply like one that is sent. */
  private readonly respondToNobody = (input?: RespondInput): Promise<void> => {
    const { status } = checkedReply(input);
    this.log(WARNING, `$.respond: no caller waits for this run, so the reply with status ${status} reaches nobody`);
    return Promise.resolve();
  };

  private flowFunctions(): Readonly<Record<string, unknown>> {
    return {
      exit: (reason?: unknown): void => {
        const text = reason === undefined || reason === null ? null : reasonText(textOf(reason));
        if (!this.isLate('$.flow.exit')) this.setFlow({ kind: 'exit', reason: text === '' ? null : text });
      },
      delay: (ms: unknown): Waited => this.wait({ kind: 'delay', ms: msOf('delay', ms) }),
      suspend: (ms: unknown = SUSPEND_MS): Waited => this.wait({ kind: 'suspend', ms: msOf('suspend', ms) }),
      rerun: (ms: unknown, context?: unknown, maxRetries: unknown = 10): Waited => {
        if (!isRerunCount(maxRetries))
          throw new RangeError(`$.flow.rerun: the number of retries must be an integer from 0 to ${MAX_RERUNS}`);
        const text = context === undefined ? null : jsonOf(context, '$.flow.rerun: context', NESTING_EXCEEDED);
        return this.wait({ kind: 'rerun', ms: msOf('rerun', ms), context: text, maxRetries });
      },
      refreshTimeout: this.refreshTimeout,
      trigger: new Triggers(this.execution, this.facts.test).start,
    };
  }

  /** A test goes on at once. */
  private wait(flow: Exclude<StepFlow, { kind: 'exit' }>): Waited {
    const call = `$.flow.${flow.kind}`;
    const { urls, test, item } = this.facts;
    if (item) throw new Error(`${call}: an item of for_each cannot wait`);
    if (this.isLate(call)) return NO_URLS;
    if (!test) this.setFlow(flow);
    else {
      const context = flow.kind === 'rerun' ? contextText(flow.context ?? undefined) : '';
      this.log(`flow.${flow.kind}`, `${flow.ms} ms${context}: a test does not wait`);
    }
    return test || urls === null ? NO_URLS : { ...urls };
  }

  /** Of several calls the last counts, and so do its bytes. */
  private setFlow(flow: StepFlow): void {
    this.execution.count(sizeOf(flow) - sizeOf(this.flow), `$.flow.${flow.kind}`);
    this.flow = flow;
  }

  /** Returns the new deadline. */
  private readonly refreshTimeout = (): number => {
    const { execution, facts, startedAt } = this;
    const now = Date.now();
    if (!this.isLate('$.flow.refreshTimeout')) execution.tell(['w', execution.n, now]);
    return Math.min(now + facts.stretchMs, startedAt + facts.mostMs);
  };

  /** Tells of a call after the end, which does nothing. */
  private isLate(call: string): boolean {
    if (this.execution.over) this.log(WARNING, `${call} after the end of the step does nothing`);
    return this.execution.over;
  }

  private log(kind: string, text: string): void {
    this.execution.log(kind, text.toWellFormed());
  }
}

const sizeOf = (flow: StepFlow | undefined): number => {
  const text = flow?.kind === 'exit' ? flow.reason : flow?.kind === 'rerun' ? flow.context : null;
  return Buffer.byteLength(text ?? '');
};
