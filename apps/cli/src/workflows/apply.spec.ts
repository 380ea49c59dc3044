import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { WorkflowsServer } from '#test/harness/workflows-server.js';
import { ranHere } from '../author/testing/ran-here.js';
import { apply as act } from './apply.js';

let dir = '';
let server: WorkflowsServer;
let url = '';

beforeEach(async () => {
  dir = tempDir('workflows-apply');
  server = new WorkflowsServer();
  url = await server.listen();
});
afterEach(async () => {
  removeDir(dir);
  await server.close();
});

const write = (name: string, content: string): string => {
  const file = join(dir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};
const apply = (options: Parameters<typeof act>[2] & { readonly json?: boolean } = {}) =>
  ranHere(act, [dir], { url, ...options });
const ID_1 = 'p_000000000000000001';
const ID_2 = 'p_000000000000000002';
const A = '/v1/workflows/ext%3Aa';
const B = '/v1/workflows/ext%3Ab';
const puts = (): readonly string[] => server.asked.filter((route) => route.startsWith('PUT'));

describe('sluice workflows apply', () => {
  it('creates what is new, updates what differs, and changes nothing the second time', async () => {
    const a = write('a/workflow.yaml', 'steps:\n  - namespace: x\n    uses: ./x/entry.js\n');
    write('a/x/entry.js', 'export default { run: () => 1 };\n');
    const b = write('b/workflow.yaml', 'name: B\nsteps: []\n');
    expect(await apply()).toEqual({ exit: 0, out: [`${a}: created`, `${b}: created`], err: [] });
    expect(server.stored.get(A)?.body).toMatchObject({
      managed_by: 'files:default',
      files: { 'x/entry.js': 'export default { run: () => 1 };\n' },
    });
    expect(server.stored.get(A)?.body).not.toHaveProperty('strict');
    expect((await apply()).out).toEqual([`${a}: unchanged`, `${b}: unchanged`]);
    write('a/x/entry.js', 'export default { run: () => 2 };\n');
    const { out } = await apply({ json: true });
    expect(JSON.parse(out[0] ?? '')).toEqual({
      data: [
        { file: a, id: ID_1, state: 'updated' },
        { file: b, id: ID_2, state: 'unchanged' },
      ],
    });
  });

  it('does nothing when a file is wrong, or the server says so of any', async () => {
    write('a/workflow.yaml', 'steps: []\n');
    const b = write('b/workflow.yaml', 'steps:\n  - namespace: x\n    uses: unknown-key\n');
    const error = { path: 'steps[0].uses', code: 'unresolved', message: 'could not resolve' };
    const body = { error: 'wrong', code: 'invalid_definition', details: { errors: [error] } };
    server.refused.set('POST /v1/workflows/validate', { status: 400, body });
    const outcome = await apply({});
    expect(outcome).toMatchObject({ exit: 6, out: [] });
    expect(outcome.err).toContain(`${b}:3:5: steps[0].uses: could not resolve`);
    write('b/workflow.yaml', 'steps: 5\n');
    server.asked = [];
    expect((await apply()).exit).toBe(6);
    expect(server.asked).toEqual([]);
    expect(server.stored.size).toBe(0);
  });

  it('leaves a step its pinned component, and a mask its secret, which validation does not know', async () => {
    const step = (prop: string): string =>
      `steps:\n  - namespace: x\n    uses: gone-key\n    props:\n      key: "${prop}"\n`;
    write('a/workflow.yaml', step('********'));
    await apply();
    const errors = [
      { path: 'steps[0].uses', code: 'unresolved', message: 'gone' },
      { path: 'steps[0].props.key', code: 'format', message: 'a mask' },
    ];
    const body = { error: 'wrong', code: 'invalid_definition', details: { errors } };
    server.refused.set('POST /v1/workflows/validate', { status: 400, body });
    const a = write('a/workflow.yaml', `name: New\n${step('********')}`);
    expect((await apply()).out).toEqual([`${a}: updated`]);
    write('a/workflow.yaml', `name: Newer\n${step('real')}`);
    expect((await apply()).err[0]).toBe(`${a}:6:7: steps[0].props.key: a mask`);
  });

  it('tells what it would do', async () => {
    const a = write('a/workflow.yaml', 'steps: []\n');
    await apply();
    write('a/workflow.yaml', 'steps: []\ndescription: new\n');
    const b = write('b/workflow.yaml', 'steps: []\n');
    server.asked = [];
    expect((await apply({ dryRun: true })).out).toEqual([`${a}: would be updated`, `${b}: would be created`]);
    expect(puts()).toEqual([]);
  });

  it('ends with the first failure, and tells what was done before', async () => {
    const a = write('a/workflow.yaml', 'steps: []\n');
    const b = write('b/workflow.yaml', 'steps: []\n');
    write('c/workflow.yaml', 'steps: []\n');
    server.refused.set(`PUT ${B}`, { status: 409, body: { error: 'busy', code: 'workflow_busy' } });
    expect(await apply()).toEqual({
      exit: 5,
      out: [`${a}: created`],
      err: [`sluice: ${b}: busy. Nothing after it was done.`],
    });
    expect(puts()).toEqual([`PUT ${A}`, `PUT ${B}`]);
    const { exit, out, err } = await apply({ json: true });
    expect([exit, err]).toEqual([5, []]);
    expect(JSON.parse(out[0] ?? '')).toEqual({
      data: [{ file: a, id: ID_1, state: 'unchanged' }],
      failed: { error: `${b}: busy`, code: 'workflow_busy', status: 409 },
    });
  });

  it('tells the places of what the build of the code finds', async () => {
    const a = write('a/workflow.yaml', 'steps:\n  - namespace: x\n    code: "1 +"\n');
    const errors = [{ path: 'steps[0].code', code: 'syntax', message: 'the code cannot be compiled' }];
    server.refused.set(`PUT ${A}`, {
      status: 400,
      body: { error: 'wrong', code: 'invalid_definition', details: { errors } },
    });
    expect(await apply()).toEqual({
      exit: 6,
      out: [],
      err: [`${a}:3:5: steps[0].code: the code cannot be compiled`, `sluice: ${a} was refused`],
    });
  });

  it('tells each warning once, also those that only the deployment finds', async () => {
    const a = write('a/workflow.yaml', 'steps:\n  - namespace: x\n    code: export default { run() {} }\n');
    const known = { path: 'steps[0].namespace', code: 'unknown_key', message: 'nobody knows it' };
    const found = { path: 'steps[0].code', code: 'account_not_found', message: 'no such account' };
    const workflow = { active: true, owner_id: 'o_1', revision: 1, managed_by: null, definition: {} };
    const answer = (data: object, ...warnings: object[]) => ({ status: 200, body: { data, warnings } });
    server.refused.set('POST /v1/workflows/validate', answer({ valid: true }, known));
    server.refused.set(`PUT ${A}`, answer({ ...workflow, id: ID_1 }, known, found));
    const err = [
      `${a}:2:5: warning: steps[0].namespace: nobody knows it`,
      `${a}:3:5: warning: steps[0].code: no such account`,
    ];
    expect(await apply()).toEqual({ exit: 0, out: [`${a}: created`], err });
  });

  it('names its set, which must be a word', async () => {
    write('a/workflow.yaml', 'steps: []\n');
    await apply({ set: 'shop/eu', strict: true });
    expect(server.stored.get(A)?.body).toMatchObject({ managed_by: 'files:shop/eu', strict: true });
    expect((await apply({ set: 'a b' })).exit).toBe(2);
  });
});
