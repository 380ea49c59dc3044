import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DevSession } from '#test/harness/dev-session.js';
import { send } from '#test/harness/http.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';

/** Of processes that still run. */
const runs = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

const source = (text: string): string => `export default {
  name: 'Hello', version: '0.0.1',
  props: { http: { type: '$.interface.http', customResponse: true }, db: '$.service.db' },
  run() {
    const runs = (this.db.get('runs') ?? 0) + 1;
    this.db.set('runs', runs);
    console.log('run ' + runs);
    this.$emit({ runs });
    this.http.respond({ status: 200, body: ${JSON.stringify(text)} + runs });
  },
};
`;

/** The numbers are those of the checks of the command line. */
describe('sluice dev', () => {
  const dir = tempDir('dev-command');
  afterAll(() => removeDir(dir));
  beforeEach(() => {
    writeFileSync(join(dir, 'package.json'), '{}');
    writeFileSync(join(dir, 'hello.mjs'), source('first '));
  });
  const sessions: DevSession[] = [];
  const open = (...args: readonly string[]): DevSession => {
    const session = new DevSession(dir, args);
    sessions.push(session);
    return session;
  };
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.end('SIGKILL');
    rmSync(join(dir, '.sluice'), { recursive: true, force: true });
  });
  const pidOf = (): number =>
    (JSON.parse(readFileSync(join(dir, '.sluice/dev/server.json'), 'utf8')) as { pid: number }).pid;
  const answer = async (url: unknown): Promise<string> => (await send(String(url), { body: {} })).text;

  const save = (text: string): void => writeFileSync(join(dir, 'hello.mjs'), text);

  it('50: deploys on a server of its own, and tells each run', async () => {
    const session = open('hello.mjs');
    const ready = await session.next('ready');
    expect(ready).toMatchObject({
      source_id: expect.stringMatching(/^dc_/),
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:/),
    });
    expect(await answer(ready['url'])).toBe('first 1');
    expect(await session.next('run')).toMatchObject({ kind: 'http', status: 'ok', ms: expect.any(Number) });
    expect(await session.next('reply')).toMatchObject({ http_status: 200 });
    expect(session.of('emit')).toMatchObject([{ event: { runs: 1 } }]);
    expect(session.of('log')).toMatchObject([{ k: 'console.log', msg: 'run 1' }]);
    const pid = pidOf();
    expect(await session.end()).toBe(0);
    expect(runs(pid)).toBe(false);
  }, 120_000);

  it('51, 56: puts each of 20 saves in force, and leaves no component that is not used', async () => {
    const session = open('hello.mjs');
    const { url, server } = await session.next('ready');
    for (let n = 1; n <= 20; n++) {
      save(source(`save ${n}, `));
      await session.next('updated', n);
      expect(await answer(url)).toBe(`save ${n}, ${n}`);
    }
    const headers = { authorization: `Bearer ${readFileSync(join(dir, '.sluice/dev.key'), 'utf8').trim()}` };
    const read = async <T>(path: string): Promise<T> =>
      (JSON.parse((await send(`${String(server)}${path}`, { method: 'GET', headers })).text) as { data: T }).data;
    const { orgs } = await read<{ orgs: readonly { id: string }[] }>('/v1/users/me');
    const components = `/v1/workspaces/${orgs[0]?.id ?? ''}/components`;
    await eventually('one component', async () =>
      (await read<readonly unknown[]>(components)).length === 1 ? true : undefined,
    );
    expect(session.of('updated')).toHaveLength(20);
  }, 180_000);

  it('52: tells the line of a save that is refused, and the former code goes on', async () => {
    const session = open('hello.mjs');
    const { url } = await session.next('ready');
    save(source('second ').replace('run() {', 'run( {'));
    expect(await session.next('rejected')).toMatchObject({
      code: 'invalid_component',
      file: 'hello.mjs',
      line: expect.any(Number),
      column: expect.any(Number),
    });
    expect(await answer(url)).toBe('first 1');
    // A change that writes nothing tells nothing.
    chmodSync(join(dir, 'hello.mjs'), 0o600);
    save(`import './more.mjs';\n${source('second ')}`);
    expect(await session.next('rejected', 2)).toMatchObject({
      code: 'usage',
      error: expect.stringContaining('hello.mjs:1:8'),
    });
    writeFileSync(join(dir, 'more.mjs'), '');
    await session.next('updated');
    expect(await answer(url)).toBe('second 2');
  }, 120_000);

  it('54: attaches again to the same source, address and db', async () => {
    const first = open('hello.mjs');
    const ready = await first.next('ready');
    expect(await answer(ready['url'])).toBe('first 1');
    expect(await first.end()).toBe(0);
    save(source('second '));
    const second = open('hello.mjs');
    expect(await second.next('ready')).toMatchObject({ source_id: ready['source_id'], url: ready['url'] });
    expect(await answer(ready['url'])).toBe('second 2');
    expect(await second.end('SIGTERM')).toBe(0);
  }, 180_000);

  it('53: leaves no process behind when it is killed', async () => {
    const session = open('hello.mjs');
    const { url } = await session.next('ready');
    await answer(url);
    const pid = pidOf();
    const all = [pid, ...childrenOf(pid)];
    await session.end('SIGKILL');
    const last = performance.now() + 5_000;
    while (all.some(runs) && performance.now() < last) await pause(50);
    expect(all.filter(runs)).toEqual([]);
  }, 120_000);

  it('55: runs an action at each save, and prints what it returns', async () => {
    const action = (ret: string): string => `export default { type: 'action', key: 'act', name: 'Act', version: '0.0.1',
  props: { who: 'string' },
  run({ $ }) { console.log('asked'); $.export('who', this.who); if (${ret} === 0) throw new Error('nothing'); return ${ret}; } };\n`;
    writeFileSync(join(dir, 'action.mjs'), action('1'));
    const session = open('action.mjs', '--prop', 'who=Ada');
    expect(await session.next('run')).toMatchObject({ ret: 1, exports: { who: 'Ada' }, status: 'ok' });
    expect(session.of('log')).toMatchObject([{ msg: 'asked' }]);
    writeFileSync(join(dir, 'action.mjs'), action('2'));
    expect(await session.next('run', 2)).toMatchObject({ ret: 2 });
    writeFileSync(join(dir, 'action.mjs'), action('0'));
    expect(await session.next('run', 3)).toMatchObject({ status: 'threw', error: expect.stringContaining('nothing') });
    expect(await session.end()).toBe(0);
  }, 120_000);
});

/** Processes that a process started, and those that these did. */
const childrenOf = (pid: number): readonly number[] => {
  const read = (): string => {
    try {
      return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    } catch {
      return '';
    }
  };
  const own = read()
    .trim()
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);
  return [...own, ...own.flatMap(childrenOf)];
};
