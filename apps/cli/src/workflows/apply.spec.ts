import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type JsonObject } from '#libs/workflows/domain/check-shape.js';
import { plainDefinition } from '#libs/workflows/domain/plain-definition.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { applied, type ApplyOptions } from './apply.js';
import { type Given } from './server.js';

interface Stored {
  readonly id: string;
  readonly revision: number;
  readonly body: JsonObject;
}

let dir = '';
let server: Server;
let url = '';
/** Workflows by the path that names them, as a server keeps them. */
let stored = new Map<string, Stored>();
let asked: string[] = [];
/** Answers in place of those of the server, by method and path. */
let refused = new Map<string, { readonly status: number; readonly body: object }>();

const shown = ({ id, revision, body }: Stored): object => ({
  id,
  revision,
  active: true,
  owner_id: 'o_1',
  managed_by: body['managed_by'],
  definition: { name: body['name'], external_id: body['external_id'], ...plainDefinition(body, () => true) },
});

const answerTo = (
  route: string,
  path: string,
  body: JsonObject,
): { readonly status: number; readonly body: object } => {
  const instead = refused.get(route);
  if (instead) return instead;
  if (route === 'POST /v1/workflows/validate') return { status: 200, body: { data: { valid: true } } };
  const before = stored.get(path);
  if (route.startsWith('PUT ')) {
    const id = before?.id ?? `p_${stored.size / 2 + 1}`;
    const external = decodeURIComponent(path).replace(/^.*ext:/, '');
    const next = { name: external, external_id: external, ...before?.body, ...body };
    const isSame = before !== undefined && JSON.stringify(next) === JSON.stringify(before.body);
    const entry = { id, body: next, revision: (before?.revision ?? 0) + (isSame ? 0 : 1) };
    stored.set(path, entry).set(`/v1/workflows/${id}`, entry);
    const names = [...stored].filter(([, each]) => each.id === id).map(([name]) => name);
    for (const name of names) stored.set(name, entry);
    return { status: 200, body: { data: shown(entry) } };
  }
  if (before) return { status: 200, body: { data: shown(before) } };
  return { status: 404, body: { error: 'no such workflow', code: 'workflow_not_found' } };
};

beforeEach(async () => {
  dir = tempDir('workflows-apply');
  stored = new Map();
  refused = new Map();
  asked = [];
  server = createServer((request, response) => {
    const path = request.url ?? '';
    const route = `${request.method ?? ''} ${path}`;
    asked.push(route);
    void text(request).then((sent) => {
      const { status, body } = answerTo(route, path, sent === '' ? {} : (JSON.parse(sent) as JsonObject));
      response.writeHead(status).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  removeDir(dir);
  await new Promise((resolve) => server.close(resolve));
});

const write = (name: string, content: string): string => {
  const file = join(dir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};
const given: Given = (name) => (name === 'SLUICE_API_KEY' ? { value: 'a-key', from: 'environment' } : undefined);
const apply = (options: ApplyOptions = {}) => applied(dir, { url, ...options }, given);
const A = '/v1/workflows/ext%3Aa';
const B = '/v1/workflows/ext%3Ab';
const puts = (): readonly string[] => asked.filter((route) => route.startsWith('PUT'));

describe('sluice workflows apply', () => {
  it('creates what is new, updates what differs, and changes nothing the second time', async () => {
    const a = write('a/workflow.yaml', 'steps:\n  - namespace: x\n    uses: ./x/entry.js\n');
    write('a/x/entry.js', 'export default { run: () => 1 };\n');
    const b = write('b/workflow.yaml', 'name: B\nsteps: []\n');
    expect(await apply()).toEqual({ exit: 0, out: [`${a}: created`, `${b}: created`], err: [] });
    expect(stored.get(A)?.body).toMatchObject({
      managed_by: 'files:default',
      files: { 'x/entry.js': 'export default { run: () => 1 };\n' },
    });
    expect(stored.get(A)?.body).not.toHaveProperty('strict');
    expect((await apply()).out).toEqual([`${a}: unchanged`, `${b}: unchanged`]);
    write('a/x/entry.js', 'export default { run: () => 2 };\n');
    const { out } = await apply({ json: true });
    expect(JSON.parse(out[0] ?? '')).toEqual({
      data: [
        { file: a, id: 'p_1', state: 'updated' },
        { file: b, id: 'p_2', state: 'unchanged' },
      ],
    });
  });

  it('does nothing when a file is wrong, or the server says so of any', async () => {
    write('a/workflow.yaml', 'steps: []\n');
    const b = write('b/workflow.yaml', 'steps:\n  - namespace: x\n    uses: unknown-key\n');
    const error = { path: 'steps[0].uses', code: 'unresolved', message: 'could not resolve' };
    const body = { error: 'wrong', code: 'invalid_definition', details: { errors: [error] } };
    refused.set('POST /v1/workflows/validate', { status: 400, body });
    const outcome = await apply({});
    expect(outcome).toMatchObject({ exit: 6, out: [] });
    expect(outcome.err).toContain(`${b}:3:5: steps[0].uses: could not resolve`);
    write('b/workflow.yaml', 'steps: 5\n');
    asked = [];
    expect((await apply()).exit).toBe(6);
    expect(asked).toEqual([]);
    expect(stored.size).toBe(0);
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
    refused.set('POST /v1/workflows/validate', { status: 400, body });
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
    asked = [];
    expect((await apply({ dryRun: true })).out).toEqual([`${a}: would be updated`, `${b}: would be created`]);
    expect(puts()).toEqual([]);
  });

  it('ends with the first failure, and tells what was done before', async () => {
    const a = write('a/workflow.yaml', 'steps: []\n');
    const b = write('b/workflow.yaml', 'steps: []\n');
    write('c/workflow.yaml', 'steps: []\n');
    refused.set(`PUT ${B}`, { status: 409, body: { error: 'busy', code: 'workflow_busy' } });
    expect(await apply()).toEqual({
      exit: 5,
      out: [`${a}: created`],
      err: [`sluice: ${b}: busy. The workflows after it were not sent.`],
    });
    expect(puts()).toEqual([`PUT ${A}`, `PUT ${B}`]);
    const { exit, out, err } = await apply({ json: true });
    expect([exit, err]).toEqual([5, []]);
    expect(JSON.parse(out[0] ?? '')).toEqual({
      data: [{ file: a, id: 'p_1', state: 'unchanged' }],
      failed: { error: `${b}: busy`, code: 'workflow_busy', status: 409 },
    });
  });

  it('tells the places of what the build of the code finds', async () => {
    const a = write('a/workflow.yaml', 'steps:\n  - namespace: x\n    code: "1 +"\n');
    const errors = [{ path: 'steps[0].code', code: 'syntax', message: 'the code cannot be compiled' }];
    refused.set(`PUT ${A}`, { status: 400, body: { error: 'wrong', code: 'invalid_definition', details: { errors } } });
    expect(await apply()).toEqual({
      exit: 6,
      out: [],
      err: [`${a}:3:5: steps[0].code: the code cannot be compiled`, `sluice: ${a} was refused`],
    });
  });

  it('names its set, which must be a word', async () => {
    write('a/workflow.yaml', 'steps: []\n');
    await apply({ set: 'shop/eu', strict: true });
    expect(stored.get(A)?.body).toMatchObject({ managed_by: 'files:shop/eu', strict: true });
    expect((await apply({ set: 'a b' })).exit).toBe(2);
  });
});
