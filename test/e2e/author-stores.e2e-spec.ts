import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { PAGE_BYTES } from '#libs/component-model/data-store-calls.js';
import { CLI, runNode, type Told } from '#test/harness/command-line.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

const { server, api } = useInstance();
const dir = tempDir('author-stores');
afterAll(() => removeDir(dir));

const sluice = (...args: readonly string[]): Promise<Told> => {
  const env = { PATH: process.env.PATH, HOME: dir, SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url, T: 'sesame' };
  return runNode([CLI, ...args], env, dir);
};
const dataOf = async <T = Record<string, unknown>>(...args: readonly string[]): Promise<T> => {
  const { status, stdout, stderr } = await sluice(...args, '--json');
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return (JSON.parse(stdout) as { data: T }).data;
};

describe('sluice stores', () => {
  it('makes a store, and writes, reads and deletes records by its name', async () => {
    const { id } = await dataOf('stores', 'create', 'Orders');
    expect(id).toMatch(/^ds_/);
    expect(await sluice('stores', 'set', 'Orders', 'a/1', '{"n":1.5}')).toMatchObject({
      status: 0,
      stdout: 'a/1: written\n',
    });
    expect((await sluice('stores', 'get', 'Orders', 'a/1')).stdout).toBe('{"n":1.5}\n');
    const { expires_at: end } = await dataOf('stores', 'set', String(id), 'b', '"x"', '--ttl', '1h');
    expect(Number(end) - Date.now() / 1_000).toBeGreaterThan(3_500);
    const listed = await dataOf<{ key: string }[]>('stores', 'records', 'Orders', '--all');
    expect(listed.map(({ key }) => key).sort()).toEqual(['a/1', 'b']);
    expect(await dataOf('stores', 'unset', 'Orders', 'b')).toEqual({ key: 'b', deleted: true });
    expect(await sluice('stores', 'get', 'Orders', 'b')).toMatchObject({ status: 4, stdout: '' });
  }, 120_000);

  it('lists all records, also where a page of large ones is shorter than its limit', async () => {
    await dataOf('stores', 'create', 'Large');
    writeFileSync(join(dir, 'large.json'), JSON.stringify('x'.repeat(PAGE_BYTES / 2)));
    for (const key of ['a', 'b', 'c', 'd', 'e']) await sluice('stores', 'set', 'Large', key, '@large.json');
    const script = `'${process.execPath}' '${CLI}' stores records Large --all | cut -c1-30`;
    const env = { PATH: process.env.PATH, HOME: dir, SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url };
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { env, cwd: dir });
    expect(stdout.match(/^[a-e] +never +"x/gm)).toHaveLength(5);
  }, 240_000);

  it('refuses wrong command lines before a request, and asks before it deletes', async () => {
    expect((await sluice('stores', 'set', 'Orders', 'a', '{')).stderr).toMatch(
      /^sluice: the value must be JSON, @FILE/,
    );
    expect((await sluice('stores', 'set', 'Orders', 'a', '1', '--ttl', 'soon')).stderr).toContain(
      '--ttl must be a time',
    );
    expect(await sluice('stores', 'get', 'Orders', '..')).toMatchObject({ status: 2 });
    expect(await sluice('stores', 'records', 'Ordrs')).toMatchObject({
      status: 4,
      stderr: 'sluice: no data store is called "Ordrs". "sluice list stores" shows all.\n',
    });
    expect(await sluice('stores', 'delete', 'Orders')).toMatchObject({ status: 2, stdout: '' });
    expect(await dataOf('stores', 'delete', 'Orders', '--yes')).toMatchObject({ deleted: true });
    expect(await sluice('stores', 'delete', 'Orders', '--yes')).toMatchObject({ status: 4 });
  }, 120_000);
});

describe('sluice accounts', () => {
  it('connects an account with fields of variables and files, and shows none of them', async () => {
    writeFileSync(join(dir, 'token'), 'of-a-file');
    const args = ['accounts', 'create', 'ledger', '--name', 'Ours', '--field', 'key=env:T', '--field', 'token=@token'];
    const told = await sluice(...args, '--json');
    expect(told).toMatchObject({ status: 0, stderr: '' });
    expect(told.stdout).not.toMatch(/sesame|of-a-file/);
    const { id } = (JSON.parse(told.stdout) as { data: { id: string } }).data;
    const shown = await api.call('GET', `/v1/accounts/${id}?include_credentials=true`);
    expect(shown.body).toMatchObject({ data: { credentials: { key: 'sesame', token: 'of-a-file' } } });
    expect(await dataOf('accounts', 'update', 'Ours', '--field', 'n:=3')).toMatchObject({ id });
    const changed = await api.call('GET', `/v1/accounts/${id}?include_credentials=true`);
    expect(changed.body).toMatchObject({ data: { name: 'Ours', credentials: { n: 3 } } });
    expect(await dataOf('accounts', 'delete', 'Ours', '--yes')).toEqual({ id, deleted: true });
    expect(await sluice('accounts', 'delete', 'Ours', '--yes')).toMatchObject({ status: 4 });
  }, 120_000);

  it('refuses what it cannot send', async () => {
    expect((await sluice('accounts', 'create', 'ledger', '--field', 'key')).stderr).toMatch(/^sluice: --field must be/);
    expect((await sluice('accounts', 'update', 'x')).stderr).toMatch(/^sluice: nothing to change/);
    expect((await sluice('accounts', 'create', 'ledger', '--oauth', '3')).stderr).toContain(
      '--oauth must be an object',
    );
  }, 60_000);
});
