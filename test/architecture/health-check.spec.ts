import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

describe('deploy/health-check.mjs', () => {
  const dirs: string[] = [];
  afterAll(() => dirs.forEach(removeDir));

  /** A process that listens like an app, and answers with the status from its standard input. */
  const started = async () => {
    const dir = tempDir('health');
    dirs.push(dir);
    const app = `const http = require('node:http');
      const server = http.createServer((_, answer) => answer.writeHead(503).end('engines are away'));
      server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
    const child = spawn(process.execPath, ['-e', app], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    writeFileSync(join(dir, 'sluice.pid'), String(child.pid));
    const env = { PATH: process.env['PATH'], TMPDIR: dir, SLUICE_PORT: line.toString().trim() };
    const check = (...options: string[]) =>
      promisify(execFile)(process.execPath, [join(ROOT, 'deploy/health-check.mjs'), '/readyz', ...options], {
        env,
      }).then(
        () => '',
        ({ stderr }: { stderr: string }) => stderr,
      );
    return { child, check };
  };

  it('ends a process that has not answered for as many checks as told, and no sooner', async () => {
    const { child, check } = await started();
    const gone = once(child, 'exit');
    child.kill('SIGSTOP');
    expect(await check('--end-after=2')).toMatch(/does not answer/);
    expect(child.signalCode).toBeNull();
    expect(await check('--end-after=2')).toMatch(/is killed/);
    expect(await gone).toEqual([null, 'SIGKILL']);
  }, 60_000);

  it('finds the process that deploy/start-role.sh started, and counts anew for it', () => {
    const dir = tempDir('health');
    dirs.push(dir);
    const script = join(dir, 'start-role.sh');
    writeFileSync(
      script,
      readFileSync(join(ROOT, 'deploy/start-role.sh'), 'utf8').replaceAll('/app/dist', join(ROOT, 'dist')),
    );
    writeFileSync(join(dir, 'node'), '#!/bin/sh\necho "pid $$"\n', { mode: 0o755 });
    writeFileSync(join(dir, 'sluice.unanswered'), '11');
    const env = { PATH: `${dir}:${process.env['PATH'] ?? ''}`, TMPDIR: dir };
    const { stdout } = spawnSync('sh', [script, 'router'], { encoding: 'utf8', env });
    expect(stdout).toContain(`pid ${readFileSync(join(dir, 'sluice.pid'), 'utf8')}`);
    expect(existsSync(join(dir, 'sluice.unanswered'))).toBe(false);
  });

  it('ends none that answers, ready or not, and counts anew after an answer', async () => {
    const { child, check } = await started();
    for (let n = 0; n < 3; n++) expect(await check('--end-after=2')).toMatch(/answered 503: engines are away/);
    child.kill('SIGSTOP');
    await check('--end-after=2');
    child.kill('SIGCONT');
    await check('--end-after=2');
    child.kill('SIGSTOP');
    expect(await check('--end-after=2')).not.toMatch(/is killed/);
    expect(child.signalCode).toBeNull();
    child.kill('SIGKILL');
  }, 60_000);
});
