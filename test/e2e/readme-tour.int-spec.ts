import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { useInstance } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';

/** The commands of "Five minutes" that talk to the server. They need bash and curl, as for a reader. */
const tour = (): readonly string[] => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const section = /## Five minutes\n([\s\S]*?)\n## /.exec(readme)?.[1] ?? '';
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  return blocks.filter((block) => !/npm start|createServer/.test(block));
};

describe('the five-minute tour of the README', () => {
  const instance = useInstance();

  it('works as written', async () => {
    const scratch = tempDir('tour');
    const script = tour()
      .join('\n')
      .replaceAll('http://127.0.0.1:3000', instance.server.url)
      .replaceAll('http://127.0.0.1:4000/', instance.receiver.url)
      .replaceAll('my-first-api-key', instance.server.apiKey)
      .replaceAll('/tmp/', `${scratch}/`);
    expect(script).toContain('curl');
    // A reader pauses between the steps. The history is written in parallel to the answer, so wait for it.
    const written = 'until curl -s -H "$AUTH" "$API/sources/$SOURCE/event_summaries" | grep -q greeting; do :; done';
    const steps = script.replace(/(curl [^\n]*\$ENDPOINT)/, `$1\n${written.replaceAll('$', '$$$$')}`);
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', steps], { cwd: ROOT });
    removeDir(scratch);
    await instance.receiver.untilAccepted(1);
    expect(instance.receiver.accepted[0]?.body).toEqual({ greeting: 'Hello, Ada!', received: { name: 'Ada' } });
    expect(stdout).toContain('Hello, Ada!');
    expect(stdout).toContain('SourceDeployed');
    expect(stdout).not.toMatch(/"error":"/);
  }, 60_000);
});
