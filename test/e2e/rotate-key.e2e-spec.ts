import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';

const instance = useStandalone();
const { server } = instance;

const rotateKey = (): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [join(ROOT, 'dist/apps/cli/src/main.js'), 'rotate-key'], {
    env: { ...process.env, SLUICE_DATA_DIR: server.dataDir },
  });
const keyFile = (): string => readFileSync(join(server.dataDir, 'secret.key'), 'utf8');

describe('sluice rotate-key', () => {
  it('keeps secret props and signing keys working, and variables, under a new key', async () => {
    const code = componentCode({
      props: `http: '$.interface.http', token: { type: 'string', secret: true }`,
      members: `run() { this.$emit({ reversed: [...this.token].reverse().join('') }); },`,
    });
    const source = await instance.deploy(code, { token: 'sesame' });
    // The receiver accepts only deliveries with a valid signature.
    const webhook = await instance.listen(source.id);
    const { data: me } = await instance.api.expect<Data<{ orgs: { id: string }[] }>>(200, 'GET', '/v1/users/me');
    const variable = `/v1/workspaces/${me.orgs[0]?.id}/variables/A`;
    await instance.api.expect(200, 'PUT', variable, { body: { value: 'open' } });
    const before = keyFile();
    await expect(rotateKey()).rejects.toThrow(/in use by the process with pid/);

    await server.stop();
    expect((await rotateKey()).stdout).toMatch(/^3 secrets are encrypted with the new key/);
    expect(keyFile()).not.toBe(before);
    await server.start();
    await instance.post(source, {});
    await instance.receiver.until('the delivery', () => instance.arrived(webhook).length > 0);
    expect(instance.arrived(webhook)).toEqual([{ reversed: 'emases' }]);
  }, 120_000);
});
