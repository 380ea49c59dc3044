import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DevSession } from '#test/harness/dev-session.js';
import { send } from '#test/harness/http.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

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

  it('50 to 52, 54: deploys on a server of its own, updates at each save, and attaches again', async () => {
    const first = open('hello.mjs');
    const ready = await first.next('ready');
    expect(ready).toMatchObject({
      source_id: expect.stringMatching(/^dc_/),
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:/),
    });
    expect(await answer(ready['url'])).toBe('first 1');
    expect(await first.next('run')).toMatchObject({ kind: 'http', status: 'ok', ms: expect.any(Number) });
    expect(await first.next('reply')).toMatchObject({ http_status: 200 });
    expect(first.of('emit')).toMatchObject([{ event: { runs: 1 } }]);
    expect(first.of('log')).toMatchObject([{ k: 'console.log', msg: 'run 1' }]);

    writeFileSync(join(dir, 'hello.mjs'), source('second '));
    await first.next('updated');
    expect(await answer(ready['url'])).toBe('second 2');

    writeFileSync(join(dir, 'hello.mjs'), source('third ').replace('run() {', 'run( {'));
    const rejected = await first.next('rejected');
    expect(rejected).toMatchObject({
      code: 'invalid_component',
      file: 'hello.mjs',
      line: expect.any(Number),
      column: expect.any(Number),
    });
    expect(await answer(ready['url'])).toBe('second 3');
    writeFileSync(join(dir, 'hello.mjs'), `import './more.mjs';\n${source('third ')}`);
    expect(await first.next('rejected', 2)).toMatchObject({
      code: 'usage',
      error: expect.stringContaining('hello.mjs:1:8'),
    });
    writeFileSync(join(dir, 'more.mjs'), '');
    await first.next('updated', 2);
    expect(await answer(ready['url'])).toBe('third 4');
    const pid = pidOf();
    expect(await first.end()).toBe(0);
    expect(runs(pid)).toBe(false);

    const second = open('hello.mjs');
    expect(await second.next('ready')).toMatchObject({ source_id: ready['source_id'], url: ready['url'] });
    expect(await answer(ready['url'])).toBe('third 5');
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
