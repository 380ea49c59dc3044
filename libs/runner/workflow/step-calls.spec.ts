import { describe, expect, it } from '@jest/globals';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { type CallRequest } from '#libs/sandbox/index.js';
import { type StepScope, stepCalls } from './step-calls.js';
import { step, until } from './testing/workflow-world.js';
import { type StepCalls, type StepEnd, type StepRequest } from './workflow-ports.js';

const usedMs = 400;
/** Steps whose expressions give these values, by their text. Their code is never called. */
const callsOf = (
  values: Readonly<Record<string, string | undefined>>,
  asked: [string, StepScope, (number | undefined)?][] = [],
) => {
  const expressions = {
    evaluateOne: async (text: string, scope: StepScope, _place: string, leftMs?: number) => {
      asked.push([text, scope, leftMs]);
      return { ok: true as const, json: values[text], usedMs };
    },
    evaluate: async (_values: string, scope: StepScope, _types: unknown, leftMs?: number) => {
      asked.push(['props', scope, leftMs]);
      return { ok: false as const, error: { name: 'E', message: 'no', stack: '', code: 'E' }, usedMs };
    },
  };
  const variables = { variablesOf: async () => ({ A: '1' }) };
  return stepCalls({ expressionsOf: () => expressions, variables } as unknown as Parameters<typeof stepCalls>[0]);
};
const requestOf = (over: Partial<StepRequest> = {}): StepRequest =>
  ({
    step: step('a', { if: 'ready', loop: { list: 'all', concurrency: 1 }, open: { p: '{{ item }}' } }),
    execution: { evaluatesIf: true },
    steps: { trigger: '{}' },
    workspaceId: 'o_1',
    ...over,
  }) as unknown as StepRequest;
const outcomeOf = async (calls: StepCalls, request: StepRequest): Promise<StepEnd['outcome'] | undefined> => {
  const end = await calls.call(request);
  return end === 'interrupted' ? undefined : end.outcome;
};

// docs/reference/workflows.md#run-streams
describe('a step that goes on', () => {
  it('tells of its lines without secrets, and of none once it has ended', async () => {
    const told: unknown[] = [];
    let onLine: CallRequest['onLine'];
    let end: (outcome: CallOutcome) => void = () => undefined;
    const deps = {
      binder: { freshen: async () => undefined, bind: async () => ({}) },
      variables: { variablesOf: async () => ({ A: 'the-secret' }) },
      expressionsOf: () => undefined,
      caller: {
        call: (request: CallRequest) => {
          onLine = request.onLine;
          return new Promise<CallOutcome>((resolve) => (end = resolve));
        },
      },
      clock: { now: () => 1_000 },
      outgoing: { email: false, opensBucket: () => false },
    };
    const calls = stepCalls(deps as unknown as Parameters<typeof stepCalls>[0]);
    const calling = calls.call(
      requestOf({
        step: step('a'),
        steps: {},
        memoryMb: 256,
        signal: new AbortController().signal,
        execution: { evaluatesIf: false, deadline: 60_000 } as StepRequest['execution'],
        onLines: async (from, lines) => void told.push([from, lines.map(({ msg }) => msg)]),
      }),
    );
    await until(() => onLine !== undefined);
    onLine?.({ k: 'stdout', ts: 1, msg: 'it is the-secret' });
    await until(() => told.length > 0);
    onLine?.({ k: 'stdout', ts: 2, msg: 'later' });
    end({ status: 'ok', logs: [], step: { exports: {}, flow: null, sends: [], reply: null } });
    await calling;
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(told).toEqual([[0, ['it is ********']]]);
  });
});

describe('a step with for_each', () => {
  it('first evaluates its condition and then its list, within one time', async () => {
    const asked: [string, StepScope, (number | undefined)?][] = [];
    const calls = callsOf({ ready: 'true', all: '[1,[2]]' }, asked);
    expect(await outcomeOf(calls, requestOf())).toEqual({ kind: 'listed', list: '[1,[2]]', count: 2 });
    expect(asked.map(([text, , leftMs]) => [text, leftMs])).toEqual([
      ['ready', undefined],
      ['all', 600],
    ]);
    expect(await outcomeOf(callsOf({ ready: 'false' }), requestOf())).toEqual({ kind: 'skipped' });
  });

  it.each([
    ['5', 'got a value of type number'],
    ['{"length":1}', 'got a value of type object'],
    ['"abc"', 'got a value of type string'],
    ['null', 'got null or undefined'],
    [undefined, 'got null or undefined'],
  ])('54: fails when it gives %s', async (json, message) => {
    expect(await outcomeOf(callsOf({ ready: 'true', all: json }), requestOf())).toMatchObject({
      kind: 'failed',
      error: { code: 'ExpressionError', message: `for_each: the expression must give a list; ${message}` },
    });
  });

  it('gives item and index to the expressions of its props', async () => {
    const asked: [string, StepScope, (number | undefined)?][] = [];
    await callsOf({}, asked).call(
      requestOf({ item: { text: '[2]', index: 1 }, execution: { evaluatesIf: false } as StepRequest['execution'] }),
    );
    expect(asked).toEqual([['props', { steps: { trigger: '{}' }, env: '{"A":"1"}', item: '[2]', index: 1 }, 1_000]]);
  });
});
