import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { componentCode } from '#test/harness/component-code.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

const instance = useInstance();
const { api, server } = instance;
const dir = tempDir('reading-commands');
afterAll(() => removeDir(dir));

const variables = () => ({
  PATH: process.env.PATH ?? '',
  HOME: dir,
  SLUICE_API_KEY: server.apiKey,
  SLUICE_URL: server.url,
});
const sluice = (...args: readonly string[]): Promise<Told> => runNode([CLI, ...args], variables(), dir);
/** The document of a command, which is all that it prints. */
const json = async (...args: readonly string[]) => {
  const { status, stdout, stderr } = await sluice(...args, '--json');
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return JSON.parse(stdout) as { data: Record<string, unknown>[]; page_info?: Record<string, unknown> };
};

describe('list components', () => {
  it('lists them without code, and finds one by a part of its name or key', async () => {
    const { id } = await api.createComponent(componentCode({ key: 'shown-once', members: 'run() {},' }));
    const { data, page_info } = await json('list', 'components', '--q', 'SHOWN');
    expect(data).toMatchObject([{ id, key: 'shown-once', type: 'source' }]);
    expect(data[0]).not.toHaveProperty('code');
    expect(page_info).toMatchObject({ total_count: 1, count: 1 });
    const { stdout } = await sluice('list', 'components');
    expect(stdout).toMatch(/^NAME +KEY +ID +TYPE +VERSION +SAVED\n/);
    expect(stdout).toContain(id);
  });
});

describe('members', () => {
  let ada: SecondWorkspace;
  beforeAll(async () => {
    ada = await addWorkspace(instance, 'ada');
  }, 120_000);
  afterAll(() => ada.api.close());

  it('are listed, added by address, and removed after a question', async () => {
    const user = (await ada.api.expect<{ data: { id: string; email: string } }>(200, 'GET', '/v1/users/me')).data;
    const added = await sluice('members', 'add', user.email.toUpperCase(), '--role', 'read_only');
    expect(added).toMatchObject({ status: 0, stdout: `ada (${user.email}): read_only\n` });
    expect((await json('members')).data).toContainEqual(
      expect.objectContaining({ user_id: user.id, role: 'read_only', username: 'ada' }),
    );
    expect((await sluice('members', 'remove', 'ada')).status).toBe(2);
    expect((await sluice('members', 'remove', 'bob', '--yes')).status).toBe(4);
    expect(await sluice('members', 'remove', user.email, '--yes')).toMatchObject({ status: 0 });
    expect((await json('members')).data).toHaveLength(1);
    expect((await sluice('members', 'add', 'nobody@example.com')).status).toBe(4);
    expect((await sluice('members', 'add', 'ada', '--role', 'king')).status).toBe(2);
  });
});

describe('audit', () => {
  it('lists what happened in the workspace or to one resource, and writes all as lines of JSON', async () => {
    const source = await instance.deploy(componentCode({ members: 'run() {},' }), {}, 'audited');
    const { data } = await json('audit', '--kind', 'source', '--since', '1h');
    expect(new Set(data.map(({ kind }) => kind))).toEqual(new Set(['source']));
    expect(data[0]).toMatchObject({ resource_id: source.id });
    const { data: own } = await json('audit', source.id);
    expect(own.length).toBeGreaterThan(0);
    expect(own[0]).toMatchObject({ revision: 0 });
    const { stdout } = await sluice('audit', '-n', '1');
    expect(stdout).toMatch(/^TIME +WHAT +RESOURCE +WHO +CHANGED\n\S+Z +\w+ +dc_\w+ +u_\w+/);
    const exported = await sluice('audit', '--export');
    const lines = exported.stdout.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(data.length);
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('resource_id');
    expect((await sluice('audit', source.id, '--export')).status).toBe(2);
    expect((await sluice('audit', '--since', 'yesterday')).status).toBe(2);
  });
});
