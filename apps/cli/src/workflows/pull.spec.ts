import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { WorkflowsServer } from '#test/harness/workflows-server.js';
import { type Globals } from '../author/globals.js';
import { ranHere } from '../author/testing/ran-here.js';
import { apply } from './apply.js';
import { pull as act } from './pull.js';

let top = '';
let dir = '';
let server: WorkflowsServer;
let url = '';
beforeEach(async () => {
  top = tempDir('workflows-pull');
  dir = join(top, 'set');
  server = new WorkflowsServer();
  url = await server.listen();
});
afterEach(async () => {
  removeDir(top);
  await server.close();
});

const pull = (options: Parameters<typeof act>[2] & Globals = {}) => ranHere(act, [dir], { url, ...options });
const CODE = "import './one.mjs';\nexport default { run: () => 1 };\n";
const orders = (more = {}) => ({
  name: 'Orders',
  external_id: 'orders',
  managed_by: 'files:default',
  triggers: [{ type: 'http', auth: { type: 'bearer', token: '********' } }],
  steps: [{ namespace: 'x', uses: './x/entry.js' }],
  files: { 'x/entry.js': CODE, 'x/one.mjs': '1;\n' },
  ...more,
});

describe('sluice workflows pull', () => {
  it('writes each workflow with its code, of which apply changes nothing', async () => {
    const id = server.add(orders());
    const other = server.add({ name: 'No id', managed_by: 'files:default', steps: [] });
    const [a, b] = [join(dir, `orders-${id}`), join(dir, `no-id-${other}`)];
    const out = [`${a}/workflow.yaml: written`, `${b}/workflow.yaml: written`];
    expect(await pull()).toEqual({ exit: 0, out, err: [] });
    expect(readdirSync(a, { recursive: true }).sort()).toEqual([
      '.workflow.state',
      'workflow.yaml',
      'x',
      'x/entry.js',
      'x/one.mjs',
    ]);
    expect(readFileSync(join(a, 'workflow.yaml'), 'utf8')).toBe(`schema: sluice.workflow/1
name: Orders
external_id: orders
triggers:
  - type: http
    auth:
      type: bearer
      token: "********"
steps:
  - namespace: x
    uses: "./x/entry.js"
`);
    expect(readFileSync(join(a, '.workflow.state'), 'utf8')).toBe(`id: ${id}\n`);
    const again = await pull({ json: true });
    expect(JSON.parse(again.out[0] ?? '')).toEqual({
      data: [
        { file: `${a}/workflow.yaml`, id, state: 'unchanged' },
        { file: `${b}/workflow.yaml`, id: other, state: 'unchanged' },
      ],
    });
    const dryRun = await ranHere(apply, [dir], { url, dryRun: true });
    expect(dryRun.out.every((line) => line.endsWith(': would be unchanged'))).toBe(true);
  });

  it('reads all pages', async () => {
    for (let i = 0; i < 201; i++) server.add({ name: `W ${i}`, steps: [] });
    expect((await pull()).out).toHaveLength(201);
    expect(server.asked.filter((route) => route.startsWith('GET /v1/workflows?'))).toHaveLength(3);
  });

  it('writes nothing when a file differs, unless it is forced', async () => {
    const id = server.add(orders());
    await pull();
    server.add({ name: 'Another', steps: [] });
    const file = join(dir, `orders-${id}`, 'x/one.mjs');
    writeFileSync(file, '2;\n');
    const { exit, out, err } = await pull();
    expect([exit, out]).toEqual([1, []]);
    expect(err).toEqual([
      `${file}: differs from the server`,
      'sluice: nothing was written, because 1 file differs. Replace with --force.',
    ]);
    expect(readdirSync(dir)).toEqual([`orders-${id}`]);
    expect(readFileSync(file, 'utf8')).toBe('2;\n');
    expect((await pull({ force: true })).exit).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('1;\n');
    expect(readdirSync(dir)).toHaveLength(2);
  });

  it('keeps a workflow in the folder that it has, and the words of its author', async () => {
    mkdirSync(join(dir, 'mine'), { recursive: true });
    const file = join(dir, 'mine/workflow.json');
    const text = '{"external_id": "orders", "name": "Orders", "steps": []}';
    writeFileSync(file, text);
    const id = server.add({ name: 'Orders', external_id: 'orders', steps: [] });
    expect((await pull()).out).toEqual([`${file}: unchanged`]);
    server.add({ name: 'Renamed', external_id: 'orders', steps: [] }, { id });
    expect((await pull()).exit).toBe(1);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect((await pull({ force: true })).out).toEqual([`${file}: written`]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ name: 'Renamed' });
    // By the id of its state file now.
    server.add({ name: 'Renamed', external_id: 'other', steps: [] }, { id });
    renameSync(join(dir, 'mine'), join(dir, 'ours'));
    await pull({ force: true });
    expect(readdirSync(dir)).toEqual(['ours']);
  });

  it('follows no link out of the folder', async () => {
    const id = server.add(orders());
    mkdirSync(dir);
    mkdirSync(join(top, 'elsewhere'));
    symlinkSync(join(top, 'elsewhere'), join(dir, `orders-${id}`));
    for (const force of [false, true]) {
      const { exit, err } = await pull({ force });
      expect([exit, err]).toEqual([1, [expect.stringContaining(`orders-${id} is a symbolic link`)]]);
    }
    removeDir(join(dir, `orders-${id}`));
    mkdirSync(join(dir, `orders-${id}`));
    symlinkSync(join(top, 'elsewhere/new'), join(dir, `orders-${id}`, 'workflow.yaml'));
    expect((await pull({ force: true })).exit).toBe(1);
    expect(readdirSync(join(top, 'elsewhere'))).toEqual([]);
  });

  it('leaves out what was never deployed, and says so', async () => {
    const id = server.add({ name: 'Draft', steps: [] }, { isDeployed: false });
    expect(await pull()).toEqual({
      exit: 0,
      out: [],
      err: [`warning: "Draft" (${id}) was never deployed, so it is left out`],
    });
    expect(JSON.parse((await pull({ json: true })).out[0] ?? '')).toMatchObject({ warnings: [{ id }] });
  });

  it('asks for a workspace where there are several', async () => {
    server.add({ name: 'A', steps: [] }, { owner: 'o_1' });
    server.add({ name: 'B', steps: [] }, { owner: 'o_2' });
    const { exit, err } = await pull();
    expect([exit, err]).toEqual([2, [expect.stringContaining('name one of o_1, o_2 with --workspace')]]);
    expect(existsSync(dir)).toBe(false);
  });

  it('keeps the schema of imported files where an account is not here', async () => {
    const props = { slack: { authProvisionId: 'apn_abc' } };
    const id = server.add({ name: 'A', steps: [{ namespace: 'x', uses: 'slack-send', if: '1', props }] });
    const text = (): string => readFileSync(join(dir, `a-${id}`, 'workflow.yaml'), 'utf8');
    await pull();
    expect(text()).toContain('schema: sluice.workflow/1\n');
    removeDir(dir);
    const errors = [{ path: 'steps[0].props.slack', code: 'unresolved', message: 'no such account' }];
    const body = { error: 'wrong', code: 'invalid_definition', details: { errors } };
    server.refused.set('POST /v1/workflows/validate', { status: 400, body });
    await pull();
    expect(text()).toContain('schema: workflow/2022.04\n');
  });

  it('takes no id from a server that would be part of a path', async () => {
    const row = { id: '../../x', name: 'A', owner_id: 'o_1', managed_by: null, revision: 1, version: 1 };
    server.refused.set('GET /v1/workflows?limit=100', { status: 200, body: { data: [row], page_info: {} } });
    expect((await pull()).exit).toBe(1);
    expect(existsSync(dir)).toBe(false);
  });
});
