import { describe, expect, it } from '@jest/globals';
import { actionReply, type CalledRun, failedReply, optionsReply, runReply } from './tool-reply.js';

const step = (state: string, exports: unknown = {}): CalledRun['steps'][number] => ({ state, exports });
const run = (more: Partial<CalledRun>): CalledRun => ({
  id: 'run_1',
  state: 'succeeded',
  error: null,
  cancel_reason: null,
  response: null,
  steps: [],
  ...more,
});
const text = (content: string) => ({ type: 'text', text: content });

describe('reply of an action', () => {
  it('has what `run` returned as JSON, and beside it with the exports', () => {
    expect(actionReply({ ret: { id: 7 }, exports: { $summary: 'made 7' } })).toEqual({
      content: [text('{"id":7}')],
      structuredContent: { ret: { id: 7 }, exports: { $summary: 'made 7' } },
    });
  });

  it('has null when `run` returned nothing', () => {
    expect(actionReply({ exports: {} })).toEqual({
      content: [text('null')],
      structuredContent: { ret: null, exports: {} },
    });
  });

  it('has a text in quotes, so that it is JSON', () => {
    expect(actionReply({ ret: 'done', exports: {} }).content).toEqual([text('"done"')]);
  });
});

describe('reply of a failure', () => {
  it('is an answer with name and message', () => {
    expect(failedReply({ name: 'TypeError', message: 'x is not a function' })).toEqual({
      content: [text('TypeError: x is not a function')],
      isError: true,
    });
  });
});

describe('reply of a run', () => {
  it('has what the last step that succeeded returned', () => {
    const steps = [
      step('succeeded', { $return_value: 1 }),
      step('succeeded', { $return_value: { total: 2 }, other: 3 }),
      step('failed', { $return_value: 4 }),
      step('skipped'),
    ];
    expect(runReply(run({ steps }))).toEqual({
      content: [text('{"total":2}')],
      structuredContent: { run_id: 'run_1', state: 'succeeded', result: { total: 2 } },
    });
  });

  it.each([
    ['no step', []],
    ['no step that succeeded', [step('skipped')]],
    ['a step that returned nothing', [step('succeeded', { other: 1 })]],
    ['a step without exports', [step('succeeded', null)]],
  ])('has null with %s', (_, steps) => {
    expect(runReply(run({ steps }))).toEqual({
      content: [text('null')],
      structuredContent: { run_id: 'run_1', state: 'succeeded', result: null },
    });
  });

  it('has the body that a step responded with before what a step returned', () => {
    const steps = [step('succeeded', { $return_value: 1 })];
    expect(runReply(run({ steps, response: { body: '{"ok": true}', base64: false } }))).toEqual({
      content: [text('{"ok": true}')],
      structuredContent: { run_id: 'run_1', state: 'succeeded', result: { ok: true } },
    });
  });

  it('has a body that is no JSON as a text', () => {
    const reply = runReply(run({ response: { body: 'thanks' } }));
    expect(reply.content).toEqual([text('thanks')]);
    expect(reply.structuredContent).toMatchObject({ result: 'thanks' });
  });

  it('has an empty body', () => {
    const reply = runReply(run({ response: { body: '' }, steps: [step('succeeded', { $return_value: 1 })] }));
    expect(reply.content).toEqual([text('')]);
    expect(reply.structuredContent).toMatchObject({ result: '' });
  });

  it('reads a body of bytes as text', () => {
    const body = Buffer.from('{"größe":1}').toString('base64');
    const reply = runReply(run({ response: { body, base64: true } }));
    expect(reply.content).toEqual([text('{"größe":1}')]);
    expect(reply.structuredContent).toMatchObject({ result: { größe: 1 } });
  });

  it('leaves bytes that are no text in base64', () => {
    const body = Buffer.from([0xff, 0xfe, 0x00]).toString('base64');
    const reply = runReply(run({ response: { body, base64: true } }));
    expect(reply.content).toEqual([text(body)]);
    expect(reply.structuredContent).toMatchObject({ result: body });
  });

  it('has what a step returned when the history does not have the body', () => {
    const reply = runReply(run({ response: {}, steps: [step('succeeded', { $return_value: 1 })] }));
    expect(reply.content).toEqual([text('1')]);
  });

  it('is a failure with the error of a failed run, whatever it responded with', () => {
    const failed = run({
      state: 'failed',
      error: { name: 'Timeout', message: 'the step took 30 s' },
      response: { body: 'ok' },
      steps: [step('succeeded', { $return_value: 1 })],
    });
    expect(runReply(failed)).toEqual({
      content: [text('Timeout: the step took 30 s')],
      structuredContent: { run_id: 'run_1', state: 'failed', result: null },
      isError: true,
    });
  });

  it('is a failure of a cancelled run', () => {
    expect(runReply(run({ state: 'cancelled', cancel_reason: 'api' }))).toEqual({
      content: [text('Cancelled: run run_1 was cancelled (api)')],
      structuredContent: { run_id: 'run_1', state: 'cancelled', result: null },
      isError: true,
    });
  });

  it('is no failure of a run that exited', () => {
    const exited = run({ state: 'exited', steps: [step('succeeded', { $return_value: 'enough' })] });
    expect(runReply(exited)).toEqual({
      content: [text('"enough"')],
      structuredContent: { run_id: 'run_1', state: 'exited', result: 'enough' },
    });
  });

  it.each(['queued', 'running', 'waiting'] as const)('tells that a run is %s', (state) => {
    const unfinished = run({ state, steps: [step('succeeded', { $return_value: 1 })] });
    expect(runReply(unfinished)).toEqual({
      content: [text('1'), text(`Run run_1 has not ended: its state is ${state}. It goes on without this call.`)],
      structuredContent: { run_id: 'run_1', state, result: 1 },
    });
  });
});

describe('reply of the tool for options', () => {
  const answer = { options: null, stringOptions: ['a', 'b'], context: { page: 2 }, logs: [], errors: [] };

  it('has what the API answers about a prop', () => {
    const body = { options: null, string_options: ['a', 'b'], context: { page: 2 }, observations: [], errors: [] };
    expect(optionsReply(answer)).toEqual({ content: [text(JSON.stringify(body))], structuredContent: body });
  });

  it('is a failure with what the method threw', () => {
    const logs = [{ k: 'console.log', ts: 1, msg: 'asking' }];
    expect(optionsReply({ ...answer, stringOptions: null, logs, errors: ['Error: no token'] })).toMatchObject({
      content: [text('Error: no token')],
      structuredContent: { observations: [{ k: 'console.log', ts: 1, msg: 'asking' }] },
      isError: true,
    });
  });
});
