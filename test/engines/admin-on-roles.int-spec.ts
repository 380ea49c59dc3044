import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Data, type Paged } from '#test/harness/api-client.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { Deployment } from '#test/harness/deployment.js';
import { Instance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = new Instance(new Deployment());
const { server } = instance;
beforeAll(() => instance.start(), 400_000);
afterAll(() => instance.close(), 120_000);

const admin = (...args: readonly string[]): Promise<Told> => {
  const folder = join(server.dataDir, 'cli');
  mkdirSync(folder, { recursive: true });
  const env = { ...server.settings, PATH: process.env.PATH, SLUICE_DATA_DIR: folder };
  return runNode([CLI, 'admin', ...args], env, server.dataDir);
};
const json = async <T>(...args: readonly string[]): Promise<T> => {
  const { status, stdout, stderr } = await admin(...args, '--json');
  if (status !== 0) throw new Error(`admin ${args.join(' ')} failed: ${stderr}`);
  return JSON.parse(stdout) as T;
};

interface Created {
  readonly id: string;
  readonly workspace_id: string;
  readonly key: string;
}
interface Workspace {
  readonly id: string;
  readonly name: string;
}

describe('sluice admin beside running processes', () => {
  it('makes users, workspaces, members and keys that they know at once', async () => {
    const { api } = instance;
    const ada = await json<Created>('user', 'create', '--email', 'ada@example.com', '--workspace', 'Lab');
    const research = await json<Workspace>('workspace', 'create', '--name', 'Research', '--owner', 'owner');
    await json('member', 'add', '--workspace', 'Research', '--email', 'ada@example.com', '--role', 'read_only');
    await json('workspace', 'rename', '--workspace', 'Research', '--name', 'Studies');
    const { id, key } = await json<{ id: string; key: string }>('key', 'issue', '--user', 'ada', '--expires-in', '1d');

    const names = async (): Promise<readonly string[]> => {
      const { status, body } = await api.call<Data<Workspace[]>>('GET', '/v1/users/me/workspaces', { key });
      return status === 200 ? body.data.map(({ name }) => name).sort() : [];
    };
    await eventually('the names', async () => {
      expect(await names()).toEqual(['Lab', 'Studies']);
      return true;
    });
    const audit = await api.expect<Paged<{ actor: { user_id: string } }>>(
      200,
      'GET',
      `/v1/workspaces/${research.id}/audit`,
      { key },
    );
    expect(new Set(audit.data.map(({ actor }) => actor.user_id))).toEqual(new Set(['operator']));

    await json('member', 'remove', '--workspace', 'Studies', '--email', 'ada@example.com');
    await json('key', 'revoke', id);
    await eventually('the end of the key', async () => {
      expect((await api.call('GET', '/v1/users/me', { key })).status).toBe(401);
      const { body } = await api.call<Data<Workspace[]>>('GET', '/v1/users/me/workspaces', { key: ada.key });
      expect(body.data.map(({ name }) => name)).toEqual(['Lab']);
      return true;
    });
  }, 240_000);

  it('deletes a workspace only once no process runs', async () => {
    const told = await admin('workspace', 'delete', '--workspace', 'Studies');
    expect(told).toMatchObject({ status: 1, stdout: '' });
    expect(told.stderr).toMatch(/stop the servers first: \d+ processes live/);
    await server.stop();
    expect((await admin('workspace', 'delete', '--workspace', 'Studies')).stdout).toMatch(
      /^workspace o_\w+ is deleted\n$/,
    );
  }, 240_000);
});
