import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Deployment } from '#test/harness/deployment.js';
import {
  type Answers,
  makeRetriesDue,
  MoveScene,
  secretKeyIn,
  type Settings,
  sluice,
  withStopped,
} from '#test/harness/move-scene.js';
import { Server } from '#test/harness/server.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { MoveFeatures } from '#test/harness/move-features.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';

/**
 * Moves from the embedded engine to EventStoreDB, MongoDB and Kafka, and back. Each test continues where the former
 * ended.
 */
const scratch = tempDir('move');
const [away, home] = [join(scratch, 'away'), join(scratch, 'home')];
const before = new Server({ readyTimeoutMs: 120_000 });
const after = new Server({ env: { SLUICE_API_KEY: before.apiKey }, readyTimeoutMs: 120_000 });
let roles: Deployment;
let receiver: WebhookReceiver;
let scene: MoveScene;
let features: MoveFeatures;
let answers: Answers;
let at: { readonly url: string } = before;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  const target = {
    get url() {
      return at.url;
    },
    apiKey: before.apiKey,
  };
  scene = new MoveScene(target, receiver);
  features = await MoveFeatures.start(target);
  for (const [name, value] of Object.entries(features.first)) before.setting(name, value);
  for (const [name, value] of Object.entries(features.later)) after.setting(name, value);
  await before.start();
  await scene.build();
  await features.build();
}, 300_000);
afterAll(async () => {
  await scene.close();
  await features.close();
  await before.close();
  await roles.close();
  await after.close();
  await receiver.close();
  removeDir(scratch);
}, 120_000);

const allAnswers = async (): Promise<Answers> => ({ ...(await scene.answers()), ...(await features.answers()) });
const secretKey = (): string => secretKeyIn(before.dataDir);
const ofRoles = (): Settings => ({ SLUICE_DATA_DIR: join(roles.dataDir, 'cli'), ...roles.settings });

describe('an installation that is moved', () => {
  it('to the distributed engines answers the same there', async () => {
    answers = await allAnswers();
    await before.stop();
    await withStopped(before.dataDir, async (engines) => {
      await makeRetriesDue(engines);
      await features.makeDue(engines);
    });
    await sluice({ SLUICE_DATA_DIR: before.dataDir }, 'export', '--out', away);
    roles = new Deployment({
      env: { ...features.later, SLUICE_API_KEY: before.apiKey, SLUICE_SECRET_KEY: secretKey() },
    });
    await sluice(ofRoles(), 'import', '--in', away);
    scene.letThrough();
    await roles.start();
    at = roles;
    expect(await allAnswers()).toEqual(answers);
  }, 300_000);

  it('continues there, repeats nothing, and delivers waiting events', async () => {
    const [got, expected] = await scene.countOn();
    expect(got).toBe(expected);
    expect(await scene.secretBackwards()).toBe('difficulty');
    await scene.emit(['first again', { id: 1 }], ['third', { id: 4 }]);
    await scene.untilArrived(3);
    expect(scene.arrived).toEqual(['first', 'second', 'third']);
    expect((await scene.delivered()).size).toBe(1);
    const [used, expectedUse] = await features.use();
    expect(used).toEqual(expectedUse);
    expect(await features.outAndWaiting()).toEqual([['soon'], ['far']]);
  }, 120_000);

  it('is neither exported nor rebuilt while processes use it, and the refusal names them', async () => {
    const out = join(scratch, 'refused');
    await expect(sluice(ofRoles(), 'export', '--out', out)).rejects.toThrow(
      /stop the servers first: 8 processes live \(command-api proc_/,
    );
    await expect(sluice(ofRoles(), 'rebuild')).rejects.toThrow(
      /stop the projector processes \(proc_\w+\) first: they hold projection\./,
    );
  }, 120_000);

  it('and moved back answers the same and continues', async () => {
    answers = await allAnswers();
    await roles.stop();
    await sluice(ofRoles(), 'export', '--out', home);
    const settings = { SLUICE_DATA_DIR: after.dataDir, SLUICE_SECRET_KEY: secretKey() };
    await sluice(settings, 'import', '--in', home);
    after.setting('SLUICE_SECRET_KEY', secretKey());
    await after.start();
    at = after;
    expect(await allAnswers()).toEqual(answers);
    const [got, expected] = await scene.countOn();
    expect(got).toBe(expected);
    await scene.emit(['third again', { id: 4 }], ['fourth', { id: 5 }]);
    await scene.untilArrived(4);
    expect(scene.arrived).toEqual(['first', 'second', 'third', 'fourth']);
    const [used, expectedUse] = await features.use();
    expect(used).toEqual(expectedUse);
    expect(await features.outAndWaiting()).toEqual([['soon'], ['far']]);
  }, 300_000);
});
