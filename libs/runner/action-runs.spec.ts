import { describe, expect, it } from '@jest/globals';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { type CallRequest } from '#libs/sandbox/index.js';
import { actionRuns } from './action-runs.js';
import { propBinder } from './prop-binder.js';
import { definition } from './source/testing/source-world.js';

const world = (outcome: CallOutcome) => {
  const calls: CallRequest[] = [];
  const lines: [object, string][] = [];
  const installs: unknown[] = [];
  const used: [string, number | string][] = [];
  const noVault = () => Promise.reject(new Error('the vault must not be asked'));
  const vault = { put: noVault, get: noVault, delete: noVault, entries: async function* () {} };
  const runner = actionRuns({
    binder: propBinder(
      vault,
      (key) => key,
      ({ value }) => value,
      { versionOf: () => undefined, freshen: () => undefined, authOf: () => Promise.resolve({}) },
    ),
    packages: (workspaceId, beside) => {
      installs.push([workspaceId, beside]);
      return Promise.resolve({ folder: '/packages', hasMachineCode: false, release: () => Promise.resolve() });
    },
    blobs: { fileOf: (hash) => Promise.resolve(`/blobs/${hash}`) },
    caller: {
      call: (request) => {
        calls.push(request);
        return Promise.resolve(outcome);
      },
    },
    clock: { now: () => 1_000 },
    logger: {
      info: (fields, message) => void lines.push([fields, message]),
      warn: (fields, message) => void lines.push([fields, message]),
    },
    usage: {
      recordRun: (workspaceId, ms) => void used.push([workspaceId, ms]),
      add: (workspaceId, what) => void used.push([workspaceId, what]),
    },
    timeoutMs: 30_000,
  });
  return { runner, calls, lines, installs, used };
};

const MASKED = { type: 'bearer', token: '********' };
const request = {
  runId: 'act_1',
  workspaceId: 'o_1',
  definition: definition({
    props: [
      { kind: 'value', prop: 'plain', value: 1 },
      { kind: 'secret', prop: 'key', secretRef: 'sec_1' },
      { kind: 'request', prop: 'call', value: { url: 'https://a.example', auth: MASKED }, secretRef: 'sec_2' },
      { kind: 'dir', prop: 'dir' },
    ],
  }),
  secrets: [
    { ref: 'sec_1', text: 'key-text' },
    { ref: 'sec_2', text: '{"token":"token-text"}' },
  ],
};

describe('a single run of an action', () => {
  it('gets its props with the secrets of the request, which are not in the vault and may not be shown', async () => {
    const { runner, calls } = world({ status: 'ok', value: '{"exports":{"a":1},"ret":2}', logs: [] });
    expect(await runner.run(request)).toMatchObject({ status: 'ok', answer: { exports: { a: 1 }, ret: 2 } });
    expect(calls[0]).toMatchObject({
      workspaceId: 'o_1',
      bundle: { hash: 'hash' },
      timeoutMs: 30_000,
      secrets: ['key-text', 'token-text'],
      call: { kind: 'action', facts: { runId: 'act_1', workspaceId: 'o_1', ts: '1970-01-01T00:00:01.000Z' } },
      props: {
        plain: { kind: 'value', value: 1 },
        key: { kind: 'value', value: 'key-text' },
        call: { kind: 'request', value: { url: 'https://a.example', auth: { type: 'bearer', token: 'token-text' } } },
        dir: { kind: 'dir' },
      },
    });
  });

  it('installs the packages beside its bundle once it has its turn, for its own workspace', async () => {
    const { runner, calls, installs } = world({ status: 'ok', value: '{"exports":{}}', logs: [] });
    const packages = { lockHash: 'lock', hasMachineCode: false };
    await runner.run({ ...request, definition: { ...request.definition, packages } });
    expect(installs).toEqual([]);
    expect(await calls[0]?.packages?.()).toMatchObject({ folder: '/packages' });
    expect(installs).toEqual([['o_1', packages]]);
  });

  it.each(['[]', 'null', '5', '{}', '{"exports":[]}', '{"exports":null}'])(
    'fails when its process makes up the answer %s',
    async (value) => {
      const { runner, used } = world({ status: 'ok', value, logs: [] });
      expect(await runner.run(request)).toMatchObject({ status: 'killed', error: { code: 'ProcessExited' } });
      expect(used).toEqual([
        ['o_1', 0],
        ['o_1', 'errors'],
      ]);
    },
  );

  it('is one line of the log, with the message of its error', async () => {
    const error = { name: 'TypeError', message: 'holds data', stack: '', code: 'E' };
    const { runner, lines } = world({ status: 'threw', error, logs: [] });
    await runner.run(request);
    expect(lines).toEqual([
      [
        {
          run: 'act_1',
          workspace: 'o_1',
          component: 'sc_1',
          status: 'threw',
          ms: 0,
          limitMs: 30_000,
          lines: 0,
          error: 'TypeError',
          code: 'E',
          message: 'holds data',
        },
        'action.run',
      ],
    ]);
  });
});
