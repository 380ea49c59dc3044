import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openEventStoreDb } from '#libs/engines/eventstoredb/index.js';
import { openMongo } from '#libs/engines/mongodb/index.js';
import { systemClock } from '#libs/kernel/clock.js';
import { START, type Position } from '#libs/kernel/events.js';
import { commandHandler } from '#libs/kernel/handle-command.js';
import { newCommandId } from '#libs/kernel/ids.js';
import { Upcasters } from '#libs/kernel/upcasting.js';
import { subscription, subscriptionIdOf } from '#libs/subscriptions/domain/subscription.js';
import { type ApiClient, type Data } from '#test/harness/api-client.js';
import { type Deployment, type EngineAddresses } from '#test/harness/deployment.js';
import { eventually } from '#test/harness/wait.js';
import { onRolesScene, type RolesScene } from './roles-scene.js';

const SUBSCRIPTIONS = 10_000;
const EMITTERS = 500;
const AT_ONCE = 32;
const TIMES = 5;
const DOWN_MS = 1_000;
const LIMIT_MS = 5_000;
const SEEDED_MS = 300_000;
const APPLIED_EVERY_MS = 1_000;

/**
 * Kills the router with -9, posts an event, restarts the router, and measures from the spawn to the event's delivery,
 * several times. Resolves with the exit code: 1 when one took longer than 5 s.
 */
export const measureRouterStart = (engines: EngineAddresses, say: (line: string) => void): Promise<number> =>
  onRolesScene({ engines, copies: 1 }, async (scene) => {
    const seedingAt = performance.now();
    await seedSubscriptions(scene);
    say(`${SUBSCRIPTIONS} subscriptions seeded in ${Math.round(performance.now() - seedingAt)} ms`);
    const all: number[] = [];
    for (let n = 1; n <= TIMES; n++) {
      const { readyMs, deliveredMs } = await killAndTime(scene, n);
      all.push(deliveredMs);
      say(`start ${n}: ready after ${Math.round(readyMs)} ms, first delivery after ${Math.round(deliveredMs)} ms`);
    }
    const slowest = Math.max(...all);
    say(`slowest: ${Math.round(slowest)} ms; the limit is ${LIMIT_MS} ms`);
    return slowest <= LIMIT_MS ? 0 : 1;
  });

export interface RouterStart {
  /** Time from spawn to the first 200 of /readyz. */
  readonly readyMs: number;
  /** Time from spawn to the delivery of an event that was posted while the router was down. */
  readonly deliveredMs: number;
}

export const killAndTime = async (
  { deployment, load, receiver, sources }: RolesScene,
  id: number,
): Promise<RouterStart> => {
  const [router] = deployment.processes.router;
  if (!router) throw new Error('there is no router');
  await router.kill9();
  await pause(DOWN_MS);
  const status = await load.post(sources.relay, id);
  if (status !== 200) throw new Error(`the event was answered ${status}`);
  const isHere = (): boolean =>
    receiver.accepted.some(
      ({ emitterId, body }) => emitterId === sources.relay.id && (body as { id: number }).id === id,
    );
  const spawnedAt = performance.now();
  let deliveredAt = 0;
  const delivered = receiver.until(`event ${id}`, isHere, 60_000).then(() => (deliveredAt = performance.now()));
  await Promise.all([router.start(), delivered]);
  return { readyMs: router.readyMs, deliveredMs: deliveredAt - spawnedAt };
};

/**
 * Creates them through the command's decider and the event store, past HTTP. Resolves when every process has applied
 * them.
 */
export const seedSubscriptions = async (
  { deployment, api, webhookId }: RolesScene,
  count = SUBSCRIPTIONS,
): Promise<void> => {
  const { settings } = deployment;
  const store = await openEventStoreDb({
    url: settings['SLUICE_EVENTSTORE_URL'] ?? '',
    prefix: settings['SLUICE_PREFIX'] ?? 'sluice',
    onWarning: () => undefined,
  });
  try {
    const handle = commandHandler({ store, upcasters: new Upcasters() });
    const { userId, workspaceId } = await ownerOf(api);
    let last: Position = START;
    let next = 0;
    const seed = async (): Promise<void> => {
      for (let n = next++; n < count; n = next++) {
        const triple = { emitterId: `dc_seeded${n % EMITTERS}`, listenerId: webhookId, eventName: `channel${n}` };
        const id = subscriptionIdOf(workspaceId, triple);
        const commandId = newCommandId();
        const { position = START } = await handle(
          subscription,
          id,
          { type: 'create', subscriptionId: id, userId, now: Date.now(), ...triple },
          {
            commandId,
            correlationId: commandId,
            causationId: commandId,
            workspaceId,
            actor: { userId, apiKeyId: null },
          },
        );
        if (position > last) last = position;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, seed));
    await everywhereApplied(deployment, last);
  } finally {
    await store.close();
  }
};

/** Resolves when no process is busy with the seeded events any more. */
const everywhereApplied = async ({ settings, dataDir }: Deployment, position: Position): Promise<void> => {
  const mongo = await openMongo({
    url: settings['SLUICE_MONGO_URL'] ?? '',
    secretKey: Buffer.from(settings['SLUICE_SECRET_KEY'] ?? '', 'hex'),
    clock: systemClock,
    leaseMs: 5_000,
    cacheDir: join(dataDir, 'seeding'),
    onWarning: () => undefined,
  });
  try {
    await eventually(
      'every process has applied what was seeded',
      async () => ((await mongo.registry.live()).every((each) => each.position >= position) ? true : undefined),
      SEEDED_MS,
      APPLIED_EVERY_MS,
    );
  } finally {
    await mongo.close();
  }
};

const ownerOf = async (api: ApiClient): Promise<{ userId: string; workspaceId: string }> => {
  const { data } = await api.expect<Data<{ id: string; orgs: readonly { id: string }[] }>>(200, 'GET', '/v1/users/me');
  const workspaceId = data.orgs[0]?.id;
  if (workspaceId === undefined) throw new Error('the owner is in no workspace');
  return { userId: data.id, workspaceId };
};
