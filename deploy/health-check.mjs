// For HEALTHCHECK: exits 0 when this container's process answers 200 on the path given (default /healthz). With
// --end-after=N it kills the process after N checks in a row without any answer, so that the container ends and its restart
// policy starts it again: an engine of containers may mark it unhealthy and leave it at that. Any answer counts, also "not
// ready", because a process whose engines are away is right to wait for them.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const options = process.argv.slice(2);
const path = options.find((option) => option.startsWith('/')) ?? '/healthz';
const endAfter = Number(/^--end-after=(\d+)$/.exec(options.at(-1) ?? '')?.[1] ?? Infinity);
const port = process.env.SLUICE_PORT || '3000';
// Both belong to the process that deploy/start-role.sh started last.
const [pidFile, countFile] = ['sluice.pid', 'sluice.unanswered'].map((name) => join(tmpdir(), name));

const numberIn = (file) => {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
};

const unanswered = () => {
  const count = numberIn(countFile) + 1;
  writeFileSync(countFile, String(count));
  const pid = numberIn(pidFile);
  if (count < endAfter || pid <= 1) return;
  process.stderr.write(`no answer ${count} times in a row: process ${pid} is killed\n`);
  rmSync(countFile, { force: true });
  process.kill(pid, 'SIGKILL');
};

try {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(4_000) });
  const body = await answer.text();
  rmSync(countFile, { force: true });
  if (!answer.ok) {
    process.stderr.write(`${path} answered ${answer.status}: ${body.slice(0, 1000)}\n`);
    process.exitCode = 1;
  }
} catch (error) {
  process.stderr.write(`${path} does not answer: ${error}\n`);
  process.exitCode = 1;
  if (endAfter !== Infinity) unanswered();
}
