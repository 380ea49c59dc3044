import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { type Answer, inTerminal, type Screen, textOn } from '#test/harness/terminal.js';

const instance = useInstance();
const { api, server } = instance;
const dir = tempDir('deploy-prompts');
afterAll(() => removeDir(dir));

const deploy = (
  file: string,
  code: string,
  answers: readonly Answer[],
  ...more: readonly string[]
): Promise<Screen> => {
  writeFileSync(join(dir, file), code);
  const env = { PATH: process.env.PATH, HOME: dir, SLUICE_API_KEY: server.apiKey, SLUICE_URL: server.url };
  return inTerminal(['deploy', file, ...more], answers, { env, cwd: dir });
};
/** What the source that was deployed has. */
const deployed = async ({ status, shown }: Screen): Promise<Source['configured_props']> => {
  const text = textOn(shown);
  expect({ status, text }).toEqual({ status: 0, text: expect.stringContaining('deployed, active') });
  const [, id = ''] = /\((dc_\w+)\): deployed, active/.exec(text) ?? [];
  return (await api.expect<{ data: Source }>(200, 'GET', `/v1/sources/${id}`)).data.configured_props;
};
const DOWN = '\u001b[B';

/** The numbers are those of the checks of the command line. */
describe('sluice deploy on a terminal', () => {
  it('22: asks for a secret without showing it, and again for what is refused', async () => {
    const code = componentCode({
      props: `http: '$.interface.http', smallest: { type: 'integer', label: 'Smallest amount', max: 9 },
        token: { type: 'string', secret: true, label: 'Token that the shop sends' }`,
      members: `run() { this.$emit({ smallest: this.smallest, token: this.token === 'sesame' }); },`,
    });
    const screen = await deploy('orders.mjs', code, [
      { to: /Smallest amount/, type: '40\r' },
      { to: /Token that the shop sends/, type: 'sesame\r' },
      { to: /smallest.*at most 9[^]*Smallest amount/, type: '7\r' },
    ]);
    expect(screen.shown).not.toContain('sesame');
    expect(await deployed(screen)).toMatchObject({ smallest: 7, token: '********' });
  }, 120_000);

  it('25: searches in options of the component, and loads more of them', async () => {
    const code = componentCode({
      props: `city: { type: 'integer', label: 'City', options({ page }) {
        return Array.from({ length: page < 2 ? 50 : 20 }, (_, n) => ({ label: 'City ' + (page * 50 + n), value: page * 50 + n })).slice(0, page > 2 ? 0 : 50);
      } }`,
      members: 'run() {},',
    });
    const screen = await deploy('cities.mjs', code, [
      { to: /City 0\n[^]*City 6\n/, type: '7' },
      // "Load more" stands at the end whatever is typed.
      { to: /City 7\n[^]*City 17\n[^]*City 27\n[^]*Load more/, type: 'z' },
      { to: /❯ Load more/, type: '\r' },
      { to: /City 0\n[^]*City 6\n/, type: '99' },
      { to: /❯ City 99\n[^]*Load more/, type: '\r' },
    ]);
    expect(await deployed(screen)).toMatchObject({ city: 99 });
  }, 120_000);

  it('26: asks for the props that a value brings', async () => {
    const code = componentCode({
      props: `kind: { type: 'string', label: 'Kind', options: ['plain', 'repeated'], default: 'plain', reloadProps: true }`,
      members: `additionalProps() { return this.kind === 'repeated' ? { every: { type: 'integer', label: 'Days between' } } : {}; },
        run() {},`,
    });
    const asked = [
      { to: /❯ plain/, type: DOWN },
      { to: /❯ repeated/, type: '\r' },
      { to: /Days between/, type: '7\r' },
    ];
    expect(await deployed(await deploy('task.mjs', code, asked, '--prompt-all'))).toMatchObject({ every: 7 });
    const given = await deploy('task.mjs', code, [{ to: /Days between/, type: '3\r' }], '--prop', 'kind=repeated');
    expect(await deployed(given)).toMatchObject({ kind: 'repeated', every: 3 });
  }, 120_000);

  it('asks for timers, accounts and data stores, and shows when the timer runs', async () => {
    const code = componentCode({
      props: `timer: { type: '$.interface.timer', label: 'When' }, shop: { type: 'app', app: 'shop_y' },
        store: { type: 'data_store', label: 'Where' }, tags: { type: 'string[]', label: 'Tags', optional: true }`,
      members: 'run() {},',
    });
    const screen = await deploy('timer.mjs', code, [
      { to: /When/, type: 'never\r' },
      { to: /neither a time like 15m nor a cron pattern[^]*When/, type: '0 9 * * *\r' },
      { to: /Time zone/, type: `${'\u007f'.repeat(40)}Europe/Berlin\r` },
      { to: /❯ A new account of shop_y/, type: '\r' },
      { to: /Name of the account/, type: 'Mine\r' },
      { to: /Field 1/, type: 'token\r' },
      { to: /Value of token/, type: 'opensesame\r' },
      { to: /Field 2/, type: '\r' },
      { to: /❯ A new data store/, type: '\r' },
      { to: /Name of the data store/, type: 'seen\r' },
    ]);
    expect(textOn(screen.shown)).toMatch(/Next runs: (?:\d{4}-\d\d-\d\d \d\d:00:00 [+-]\d\d:\d\d(?:, )?){3}/);
    expect(screen.shown).not.toContain('opensesame');
    expect(await deployed(screen)).toMatchObject({
      timer: { cron: '0 9 * * *', timezone: 'Europe/Berlin' },
      shop: { authProvisionId: expect.stringMatching(/^apn_/) },
      store: expect.stringMatching(/^ds_/),
    });
  }, 120_000);
});
