import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { WorkflowsServer } from '#test/harness/workflows-server.js';
import { type Globals } from '../author/globals.js';
import { ranHere } from '../author/testing/ran-here.js';
import { validate as act } from './validate.js';

let dir = '';
let file = '';
beforeEach(() => {
  dir = tempDir('workflows-validate');
  mkdirSync(join(dir, 'orders'));
  file = join(dir, 'orders/workflow.yaml');
});
afterEach(() => removeDir(dir));

type Options = Parameters<typeof act>[2] & Globals;
const validated = (folder: string, options: Options) => ranHere(act, [folder], options);
const json = (lines: readonly string[]): unknown => {
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '');
};

describe('sluice workflows validate', () => {
  it('names each valid workflow, and tells its warnings apart', async () => {
    writeFileSync(file, 'steps: []\nstepps: []\n');
    const warning = expect.objectContaining({ file, line: 2, column: 1, path: 'stepps', code: 'unknown_key' });
    expect(await validated(dir, {})).toEqual({
      exit: 0,
      out: [`${file}: valid`],
      err: [expect.stringContaining(`${file}:2:1: warning: stepps: `)],
    });
    const { exit, out, err } = await validated(dir, { json: true });
    expect([exit, err]).toEqual([0, []]);
    expect(json(out)).toEqual({ data: [{ file, id: null, external_id: 'orders' }], warnings: [warning] });
    expect((await validated(dir, { strict: true })).exit).toBe(6);
  });

  it('ends with 6 and the place of each error', async () => {
    writeFileSync(file, 'steps:\n  - namespace: 5\n    code: x\n');
    const message = 'must be a text; got a number';
    expect(await validated(dir, {})).toEqual({
      exit: 6,
      out: [],
      err: [`${file}:2:5: steps[0].namespace: ${message}`, `sluice: 1 error in the workflows of ${dir}`],
    });
    const { exit, out, err } = await validated(dir, { json: true });
    expect([exit, out]).toEqual([6, []]);
    const error = { file, line: 2, column: 5, path: 'steps[0].namespace', code: 'type', message };
    expect(json(err)).toEqual({
      error: `1 error in the workflows of ${dir}`,
      code: 'invalid_definition',
      status: null,
      details: { errors: [error] },
      next: null,
    });
  });

  it('refuses a folder without workflows, and one that is not there', async () => {
    expect(await validated(dir, {})).toEqual({ exit: 2, out: [], err: [expect.stringContaining('has no workflow')] });
    const { exit, err } = await validated(join(dir, 'none'), { json: true });
    expect(exit).toBe(2);
    expect(json(err)).toMatchObject({ code: 'usage', error: expect.stringContaining('ENOENT') });
  });
});

describe('sluice workflows validate --server', () => {
  let server: WorkflowsServer;
  let url = '';
  beforeEach(async () => {
    server = new WorkflowsServer();
    url = await server.listen();
    writeFileSync(file, 'stepps: []\nsteps:\n  - namespace: x\n    uses: some-key\n');
  });
  afterEach(() => server.close());

  const validate = () => validated(dir, { server: true, url });
  const answer = (status: number, body: object): void => {
    server.refused.set('POST /v1/workflows/validate', { status, body });
  };

  it('changes nothing, and tells each warning once', async () => {
    const own = { path: 'steps[0].props', code: 'account_not_found', message: 'no account' };
    const known = { path: 'stepps', code: 'unknown_key', message: 'unknown' };
    answer(200, { data: { valid: true }, warnings: [known, own] });
    const { exit, out, err } = await validate();
    expect([exit, out]).toEqual([0, [`${file}: valid`]]);
    expect(err).toEqual([expect.stringContaining(':1:1: warning: stepps'), expect.stringContaining('no account')]);
    expect(server.asked.every((route) => /^(?:GET|POST \/v1\/workflows\/validate)/.test(route))).toBe(true);
  });

  it('ends with 6 and the places of what the server finds', async () => {
    const errors = [{ path: 'steps[0].uses', code: 'unresolved', message: 'could not resolve' }];
    answer(400, { error: 'wrong', code: 'invalid_definition', details: { errors } });
    const { exit, err } = await validate();
    expect([exit, err[1]]).toEqual([6, `${file}:4:5: steps[0].uses: could not resolve`]);
  });

  it('asks no server about files that are wrong without one', async () => {
    writeFileSync(file, 'steps: 5\n');
    expect((await validate()).exit).toBe(6);
    expect(server.asked).toEqual([]);
  });
});
