import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { send } from '#test/harness/http.js';
import { useStandalone } from '#test/harness/instance.js';
import { ROOT } from '#test/harness/paths.js';
import { waitingRun } from '#test/harness/waiting-run.js';

const instance = useStandalone();
const { server } = instance;

const rotateKey = (): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [join(ROOT, 'dist/apps/cli/src/main.js'), 'rotate-key'], {
    env: { ...process.env, SLUICE_DATA_DIR: server.dataDir },
  });
const keyFile = (): string => readFileSync(join(server.dataDir, 'secret.key'), 'utf8');

interface Waiting {
  readonly exports: { readonly $return_value: { readonly resume_url: string } };
}

describe('sluice rotate-key', () => {
  it('78: keeps secret props, signing keys, variables and URLs of runs working under a new key', async () => {
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
    const { id: run } = await waitingRun(instance.api);
    const { data: step } = await instance.api.expect<Data<Waiting>>(200, 'GET', `/v1/runs/${run}/steps/a`);
    const { pathname: resume } = new URL(step.exports.$return_value.resume_url);
    const before = keyFile();
    await expect(rotateKey()).rejects.toThrow(/in use by the process with pid/);

    await server.stop();
    expect((await rotateKey()).stdout).toMatch(/^4 secrets are encrypted with the new key/);
    expect(keyFile()).not.toBe(before);
    await server.start();
    await instance.post(source, {});
    await instance.receiver.until('the delivery', () => instance.arrived(webhook).length > 0);
    expect(instance.arrived(webhook)).toEqual([{ reversed: 'emases' }]);
    const resumed = await send(server.url + resume, { body: {} });
    expect([resumed.status, resumed.text]).toEqual([200, '{"success":true}']);
  }, 120_000);
});
