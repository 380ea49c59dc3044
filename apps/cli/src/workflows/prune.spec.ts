import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { USER, WorkflowsServer } from '#test/harness/workflows-server.js';
import { type Globals } from '../author/globals.js';
import { type Prompts } from '../author/prompts.js';
import { ranHere } from '../author/testing/ran-here.js';
import { apply } from './apply.js';

type Confirm = Prompts['confirm'];

let dir = '';
let server: WorkflowsServer;
let url = '';
let asked: string[] = [];
beforeEach(async () => {
  dir = tempDir('workflows-prune');
  server = new WorkflowsServer();
  url = await server.listen();
  asked = [];
  write('a/workflow.yaml');
});
afterEach(async () => {
  removeDir(dir);
  await server.close();
});

const write = (name: string, content = 'steps: []\n'): string => {
  const file = join(dir, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};
const answering =
  (answer: boolean): Confirm =>
  (question) => {
    asked.push(question);
    return Promise.resolve(answer);
  };
const prune = (options: Parameters<typeof apply>[2] & Globals = {}, confirm?: Confirm) =>
  ranHere(apply, [dir], { url, prune: true, ...options }, confirm);
const add = (name: string, managed: string | null, more = {}): string =>
  server.add({ name, external_id: name, managed_by: managed, steps: [] }, more);
const ids = (): readonly string[] => [...new Set([...server.stored.values()].map(({ id }) => id))].sort();
const changes = (): readonly string[] => server.asked.filter((route) => /^(?:PUT|DELETE)/.test(route));

describe('sluice workflows apply --prune', () => {
  it('deletes what its set has and the folder lacks, and no other', async () => {
    const a = add('a', 'files:default');
    const gone = add('gone', 'files:default');
    const kept = [add('by-hand', null), add('other-set', 'files:shop'), add('program', 'terraform')];
    const elsewhere = add('elsewhere', 'files:default', { owner: 'o_2' });
    const told = await prune({ yes: true });
    expect(told).toEqual({
      exit: 0,
      out: [`${join(dir, 'a/workflow.yaml')}: unchanged`, `${gone} "gone": deleted`],
      err: [],
    });
    expect(ids()).toEqual([a, ...kept, elsewhere].sort());
    expect((await prune({ yes: true })).out).toHaveLength(1);
  });

  it('keeps two sets apart', async () => {
    await prune({ yes: true, set: 'one' });
    removeDir(join(dir, 'a'));
    write('b/workflow.yaml');
    await prune({ yes: true, set: 'two' });
    expect(ids()).toHaveLength(2);
    await prune({ yes: true, set: 'one' });
    // It took over b, and a was its own.
    expect([...server.stored.values()].map(({ body }) => body['managed_by'])).toEqual(['files:one', 'files:one']);
  });

  it('asks first, and does nothing without a yes', async () => {
    add('a', 'files:default');
    const gone = add('gone', 'files:default');
    const refused = await prune({}, answering(false));
    const listed = `${gone} "gone": ${dir} lacks it`;
    expect(refused).toEqual({ exit: 2, out: [], err: [listed, 'sluice: nothing was done'] });
    expect(asked).toEqual(['Delete 1 workflow with all runs?']);
    const unasked = await prune({ input: false });
    expect([unasked.exit, unasked.err]).toEqual([2, [listed, expect.stringContaining('add --yes')]]);
    const { err } = await prune({ json: true });
    expect(JSON.parse(err.join('\n'))).toMatchObject({ code: 'usage', error: expect.stringContaining('add --yes') });
    expect(changes()).toEqual([]);
    expect((await prune({}, answering(true))).out).toContain(`${gone} "gone": deleted`);
    asked = [];
    expect((await prune({}, answering(false))).exit).toBe(0);
    expect(asked).toEqual([]);
  });

  it('tells what it would delete', async () => {
    const gone = add('gone', 'files:default');
    add('a', 'files:shop');
    expect((await prune({ dryRun: true })).out).toEqual([
      `${join(dir, 'a/workflow.yaml')}: would be updated`,
      `${gone} "gone": would be deleted`,
    ]);
    const { out } = await prune({ dryRun: true, json: true });
    expect(JSON.parse(out[0] ?? '')).toMatchObject({ data: [{}, { file: null, id: gone, state: 'deleted' }] });
    expect(changes()).toEqual([]);
  });

  it('deletes nothing after a failure', async () => {
    const a = add('a', null);
    const gone = add('gone', 'files:default');
    server.refused.set(`PUT /v1/workflows/${a}`, { status: 409, body: { error: 'busy', code: 'workflow_busy' } });
    expect((await prune({ yes: true })).exit).toBe(5);
    write('a/workflow.yaml', 'steps: 5\n');
    expect((await prune({ yes: true })).exit).toBe(6);
    expect(ids()).toContain(gone);
  });

  it('keeps what was changed meanwhile, and says so', async () => {
    add('a', 'files:default');
    const [one, two] = [add('one', 'files:default'), add('two', 'files:default')];
    const changed: Confirm = () => {
      server.add({ name: 'one', external_id: 'one', managed_by: null, steps: [] }, { id: one, revision: 2 });
      return Promise.resolve(true);
    };
    const { exit, out, err } = await prune({}, changed);
    expect([exit, out.length, err.at(-1)]).toEqual([5, 1, expect.stringContaining(`${one} "one": changed`)]);
    expect(ids()).toEqual(expect.arrayContaining([one, two]));
  });

  it('takes one that is gone already for deleted', async () => {
    add('a', 'files:default');
    const gone = add('gone', 'files:default');
    const deleted: Confirm = () => {
      for (const name of ['ext%3Agone', gone]) server.stored.delete(`/v1/workflows/${name}`);
      return Promise.resolve(true);
    };
    expect((await prune({}, deleted)).out).toContain(`${gone} "gone": deleted`);
  });

  it('must know the workspace', async () => {
    const orgs = (...of: readonly string[]) =>
      server.refused.set('GET /v1/users/me', {
        status: 200,
        body: { data: { ...USER, orgs: of.map((id) => ({ id })) } },
      });
    const gone = add('gone', 'files:default');
    orgs('o_1', 'o_2');
    const { exit, err } = await prune({ yes: true });
    expect([exit, err]).toEqual([2, [expect.stringContaining('name the workspace with --workspace')]]);
    orgs('o_1');
    expect((await prune({ dryRun: true })).out).toContain(`${gone} "gone": would be deleted`);
    write('b/workflow.yaml');
    add('a', 'files:default');
    add('b', 'files:default', { owner: 'o_2' });
    expect((await prune({ yes: true })).exit).toBe(2);
  });
});
