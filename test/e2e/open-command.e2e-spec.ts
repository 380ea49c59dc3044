import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { CLI, runNode } from '#test/harness/command-line.js';
import { relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { inTerminal, textOn } from '#test/harness/terminal.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { server } = instance;
const dir = tempDir('open-command');
afterAll(() => removeDir(dir));
/** Stands for the program of a desktop that opens addresses. */
const opened = join(dir, 'opened.txt');
mkdirSync(join(dir, 'bin'));
writeFileSync(join(dir, 'bin/xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${opened}'\n`);
chmodSync(join(dir, 'bin/xdg-open'), 0o755);

const variables = () => ({
  PATH: `${join(dir, 'bin')}:${process.env.PATH ?? ''}`,
  HOME: dir,
  SLUICE_API_KEY: server.apiKey,
  SLUICE_URL: server.url,
  DISPLAY: ':0',
});
const sluice = (...args: readonly string[]) => runNode([CLI, ...args], variables(), dir);

// docs/reference/command-line.md#sluice-open
describe('sluice open', () => {
  it('prints the address of the page of a source or webhook, by id or name, and opens nothing in a pipe', async () => {
    const source = await instance.deploy(relayCode(), {}, 'shown');
    const webhook = await instance.listen(source.id);
    expect(await sluice('open')).toMatchObject({ status: 0, stdout: `${server.url}/#/\n`, stderr: '' });
    expect((await sluice('open', 'shown')).stdout).toBe(`${server.url}/#/sources/${source.id}\n`);
    expect((await sluice('open', webhook)).stdout).toBe(`${server.url}/#/webhooks/${webhook}\n`);
    const { stdout } = await sluice('open', source.id, '--json');
    expect(JSON.parse(stdout)).toEqual({ data: { url: `${server.url}/#/sources/${source.id}` } });
    expect(existsSync(opened)).toBe(false);
  }, 120_000);

  it('opens it on a terminal', async () => {
    const { status, shown } = await inTerminal(['open'], [], { env: variables(), cwd: dir });
    expect({ status, text: textOn(shown) }).toEqual({ status: 0, text: `${server.url}/#/\n` });
    const address = await eventually('the browser', () => {
      const text = existsSync(opened) ? readFileSync(opened, 'utf8') : '';
      return text === '' ? undefined : text;
    });
    expect(address).toBe(`${server.url}/#/\n`);
  }, 120_000);

  it('knows no page of a component, and nothing by a name that is not there', async () => {
    const { component_id: component } = await instance.deploy(relayCode());
    const none = await sluice('open', component);
    expect([none.status, none.stderr]).toEqual([
      2,
      `sluice: the console has pages of sources, webhooks and workflows, and not of ${component}\n`,
    ]);
    expect((await sluice('open', 'shwn')).status).toBe(4);
  }, 120_000);
});
