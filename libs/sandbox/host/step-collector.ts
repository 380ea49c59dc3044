import { isPlainJson } from '#libs/framing/json-text.js';
import { ProtocolBreach, textOf } from '#libs/framing/records.js';
import {
  type AskTrigger,
  MAX_EXPORTS,
  MAX_SENDS,
  MAX_TRIGGERS,
  type StepFlow,
  type StepOutput,
  type StepSend,
  type StepTrigger,
} from '#libs/component-model/step-run.js';
import { dictionary } from '#libs/kernel/dictionary.js';
import { exportBytes, sendBytes } from '../protocol/run-size.js';
import { type SendHead } from '../protocol/step-message.js';
import { type RunMessage } from './child-channel.js';

/** The platform's own export, `$return_value`, comes on top. */
const MAX_NAMES = MAX_EXPORTS + 1;

export type StepMessage = Extract<RunMessage, readonly ['o' | 'f' | 'm' | 't', ...unknown[]]>;

/** Answers one call that starts a workflow. */
export type AnswerTrigger = (id: number, answer: ReturnType<AskTrigger>) => void;

/** Collects what one execution of a step leaves. The form of its messages has been checked (step-message.ts). */
export class StepCollector {
  private readonly exports = dictionary<string>();
  private names = 0;
  private flow: StepFlow | null = null;
  private readonly sends: StepSend[] = [];
  private readonly triggers: StepTrigger[] = [];
  private triggerCalls = 0;
  private refreshedAt: number | undefined;

  constructor(
    private readonly ask: AskTrigger = noTriggers,
    private readonly answer: AnswerTrigger = () => undefined,
  ) {}

  /** Adds a message, and returns its bytes. Throws ProtocolBreach beyond a limit. */
  say(message: StepMessage, raw: Buffer): number {
    switch (message[0]) {
      case 'o':
        return this.export(message[2], raw);
      case 'm':
        return this.send(message[2], raw);
      case 't':
        return this.trigger(message, raw);
      case 'f':
        return this.goOn(message, raw);
    }
  }

  refresh(at: number): void {
    this.refreshedAt = at;
  }

  output(): StepOutput {
    const { exports, flow, sends, triggers, refreshedAt } = this;
    const started = triggers.length === 0 ? {} : { triggers };
    return { exports, flow, sends, ...started, ...(refreshedAt === undefined ? {} : { refreshedAt }) };
  }

  private export(name: string, raw: Buffer): number {
    if (this.exports[name] !== undefined) throw new ProtocolBreach('a second export of one name');
    if (++this.names > MAX_NAMES) throw new ProtocolBreach(`exports of more than ${MAX_NAMES} names in one step`);
    this.exports[name] = jsonIn(raw);
    return exportBytes(name, raw.length);
  }

  private send(head: SendHead, raw: Buffer): number {
    if (this.sends.length >= MAX_SENDS) throw new ProtocolBreach(`more than ${MAX_SENDS} messages of one step`);
    this.sends.push(sendOf(head, raw));
    return sendBytes(head, raw.length);
  }

  private trigger([, , id, workflow]: Extract<StepMessage, readonly ['t', ...unknown[]]>, raw: Buffer): number {
    const index = this.triggerCalls++;
    if (index >= MAX_TRIGGERS) throw new ProtocolBreach(`more than ${MAX_TRIGGERS} workflows started by one step`);
    const event = jsonIn(raw);
    const answer = this.ask(workflow, index);
    if ('workflowId' in answer) this.triggers.push({ workflowId: answer.workflowId, index, event });
    this.answer(id, answer);
    return raw.length;
  }

  private goOn([, , kind, ms, maxRetries]: Extract<StepMessage, readonly ['f', ...unknown[]]>, raw: Buffer): number {
    if (this.flow) throw new ProtocolBreach('a second way for a run to go on after one step');
    const isEmpty = raw.length === 0;
    if (kind === 'exit') this.flow = { kind, reason: isEmpty ? null : textOf(raw) };
    else if (kind === 'rerun') this.flow = { kind, ms, maxRetries, context: isEmpty ? null : jsonIn(raw) };
    else this.flow = { kind, ms };
    return raw.length;
  }
}

const noTriggers: AskTrigger = () => ({
  error: { code: 'WorkflowNotFound', message: 'no workflow can be started from here' },
});

const jsonIn = (raw: Buffer): string => {
  const text = textOf(raw);
  if (isPlainJson(text)) return text;
  throw new ProtocolBreach('a value of a step that is no JSON, or nests deeper than 256');
};

const sendOf = (head: SendHead, raw: Buffer): StepSend => {
  switch (head.kind) {
    case 'http':
      return { ...head, body: head.body === null ? null : textOf(raw) };
    case 'email': {
      const { text, html } = head;
      const end = text ?? 0;
      return {
        ...head,
        text: text === null ? null : textOf(raw.subarray(0, end)),
        html: html === null ? null : textOf(raw.subarray(end)),
      };
    }
    case 'emit': {
      const event = jsonIn(raw);
      if (!/^\s*\{/.test(event)) throw new ProtocolBreach('an event of a step that is no object');
      return { ...head, event };
    }
    case 's3':
    case 'sse':
      return { ...head, payload: jsonIn(raw) };
  }
};
