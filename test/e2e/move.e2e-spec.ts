import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { makeRetriesDue, MoveScene, secretKeyIn, sluice, withStopped } from '#test/harness/move-scene.js';
import { Server } from '#test/harness/server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { MoveFeatures } from '#test/harness/move-features.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';

const scratch = tempDir('move');
const archive = join(scratch, 'archive');
const first = new Server({ readyTimeoutMs: 120_000 });
const second = new Server({ env: { SLUICE_API_KEY: first.apiKey }, readyTimeoutMs: 120_000 });
let receiver: WebhookReceiver;
let scene: MoveScene;
let features: MoveFeatures;
let at = first;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  const target = {
    get url() {
      return at.url;
    },
    apiKey: first.apiKey,
  };
  scene = new MoveScene(target, receiver);
  features = await MoveFeatures.start(target);
  for (const [name, value] of Object.entries(features.first)) first.setting(name, value);
  for (const [name, value] of Object.entries(features.later)) second.setting(name, value);
  await first.start();
  await scene.build();
  await features.build();
}, 300_000);
afterAll(async () => {
  await scene.close();
  await features.close();
  await first.close();
  await second.close();
  await receiver.close();
  removeDir(scratch);
}, 60_000);

/** Leaves an emit unrouted, as if the router had been killed before it. */
const leaveUnrouted = async (log: StreamLog, value: string): Promise<void> => {
  const { unique, counting } = scene.made;
  const [record] = await log.read(`emits.${unique.id}`, -1, 1);
  if (!record) throw new Error('there is no emit to copy');
  const own = { emitter: counting.id, id: `${Date.now()}-0`, emit: '3'.repeat(27) };
  const copied = Object.entries(record.headers).filter(([name]) => name !== 'routed');
  const headers = { ...Object.fromEntries(copied), ...own };
  await log.publish([{ topic: `emits.${counting.id}`, key: counting.id, headers, value }]);
};

describe('sluice export and import', () => {
  it('refuse a data directory in use by a server', async () => {
    await expect(sluice({ SLUICE_DATA_DIR: first.dataDir }, 'export', '--out', archive)).rejects.toThrow(/in use by/);
  }, 120_000);

  it('give an installation that answers the same and continues where the former one stopped', async () => {
    const before = { ...(await scene.answers()), ...(await features.answers()) };
    await first.stop();
    await withStopped(first.dataDir, async (engines) => {
      await leaveUnrouted(engines.log, '"not yet routed"');
      await makeRetriesDue(engines);
      await features.makeDue(engines);
    });
    const told = await sluice({ SLUICE_DATA_DIR: first.dataDir }, 'export', '--out', archive);
    expect(told).toMatch(/archive [0-9a-f-]{36}: \d+ records/);
    expect(told).toContain(`${first.dataDir}/secret.key`);

    const into = { SLUICE_DATA_DIR: second.dataDir };
    await expect(sluice(into, 'import', '--in', archive)).rejects.toThrow(/SLUICE_SECRET_KEY is not given/);
    const wrong = { ...into, SLUICE_SECRET_KEY: '0'.repeat(64) };
    await expect(sluice(wrong, 'import', '--in', archive)).rejects.toThrow(/SLUICE_SECRET_KEY is not the key/);
    expect(await sluice({ ...into, SLUICE_SECRET_KEY: secretKeyIn(first.dataDir) }, 'import', '--in', archive)).toMatch(
      /19 read models +\d+ events/,
    );
    second.setting('SLUICE_SECRET_KEY', secretKeyIn(first.dataDir));
    scene.letThrough();
    await second.start();
    at = second;

    expect({ ...(await scene.answers()), ...(await features.answers()) }).toEqual(before);
    const [got, expected] = await scene.countOn();
    expect(got).toBe(expected);
    expect(await scene.secretBackwards()).toBe('difficulty');
    await scene.emit(['first again', { id: 1 }], ['third', { id: 4 }]);
    await scene.untilArrived(4);
    expect([...scene.arrived].sort()).toEqual(['first', 'not yet routed', 'second', 'third']);
    expect((await scene.delivered()).size).toBe(1);
    expect(receiver.unsigned).toBe(0);
    const [used, asExpected] = await features.use();
    expect(used).toEqual(asExpected);
    expect(await features.outAndWaiting()).toEqual([['soon'], ['far']]);
  }, 400_000);
});
