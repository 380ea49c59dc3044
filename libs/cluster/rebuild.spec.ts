import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { PoisonEvent } from '#libs/kernel/projector.js';
import { type ApplyBatch, type PageQuery, type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { recorded } from '#libs/kernel/testing/recorded.js';
import { everyReadModel } from '#libs/composition/read-models.js';
import { rebuildReadModels, type Rebuilt } from './rebuild.js';
import { openEngines } from '#libs/engines/embedded/testing/open-engines.js';
import { fill, perEmitter } from '#libs/archive/testing/moved-installation.js';

let dataDir: string;
let engines: EmbeddedEngines;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'sluice-rebuild-'));
  engines = await openEngines(dataDir);
  await fill(engines);
});
afterEach(async () => {
  await engines.close();
  rmSync(dataDir, { recursive: true });
});

const AWAY = new Error('connection 8 timed out');
const models = everyReadModel(perEmitter);
const every = [...models.projections, ...models.streamProjections];

type Apply = ReadModelStore['apply'];

/** The store with another way to apply batches. */
const around = (readModels: ReadModelStore, wrapped: (apply: Apply) => Apply): ReadModelStore => {
  const apply = wrapped((batch) => readModels.apply(batch));
  return new Proxy(readModels, {
    get: (target, name) => {
      if (name === 'apply') return apply;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
};

/** Above what a rebuild of the few records here needs. */
const MOST_WRITES = 300;

/** A store in which some batches fail, before or after the write. */
const failing = (fails: (batch: ApplyBatch) => 'before' | 'after' | undefined): ReadModelStore => {
  return around(engines.readModels, (apply) => async (batch) => {
    const when = fails(batch);
    if (when === 'before') throw AWAY;
    await apply(batch);
    if (when === 'after') throw AWAY;
  });
};

const rebuilding = async (
  readModels: ReadModelStore,
): Promise<{ rebuilt: readonly Rebuilt[] | Error; retries: string[] }> => {
  const retries: string[] = [];
  const observer = {
    onProgress: () => undefined,
    onRetry: (name: string, error: Error) => void retries.push(`${name}: ${error.message}`),
  };
  const rebuilt = await rebuildReadModels({ ...engines, readModels }, models, observer, 0).catch(
    (error: unknown) => error as Error,
  );
  return { rebuilt, retries };
};

const FIRST: PageQuery = { where: {}, limit: 100 };
const documents = () =>
  Promise.all(every.map(async ({ schema }) => (await engines.readModels.page(schema, FIRST)).docs));

describe('rebuildReadModels', () => {
  it('rebuilds each read model from every record in the logs', async () => {
    const { rebuilt, retries } = await rebuilding(engines.readModels);
    expect(retries).toEqual([]);
    expect(rebuilt).toEqual(
      every.map(({ name }) => expect.objectContaining({ name, events: expect.any(Number) as unknown })),
    );
    expect((await documents()).flat().length).toBeGreaterThan(3);
  });

  it.each(['before', 'after'] as const)(
    'restarts a read model whose engine failed %s the write, and reports it',
    async (when) => {
      await rebuilding(engines.readModels);
      const whole = await documents();
      const failed = new Set<string>();
      const { rebuilt, retries } = await rebuilding(
        failing(({ schema: { name } }) => {
          if (failed.has(name)) return undefined;
          failed.add(name);
          return when;
        }),
      );
      expect(rebuilt).toHaveLength(every.length);
      expect(retries).toHaveLength(failed.size);
      expect(new Set(retries)).toEqual(new Set([...failed].map((name) => `${name}: ${AWAY.message}`)));
      expect(failed.size).toBeGreaterThan(1);
      expect(await documents()).toEqual(whole);
    },
  );

  it('gives up when an engine stays unavailable, and leaves the read model unchanged', async () => {
    await rebuilding(engines.readModels);
    const whole = await documents();
    const { rebuilt, retries } = await rebuilding(failing(() => 'before'));
    expect(rebuilt).toBe(AWAY);
    expect(retries).toHaveLength(4);
    expect(await documents()).toEqual(whole);
  });

  it('ends while the logs grow at every write', async () => {
    const topic = 'emits.dc_b';
    const [sample] = await engines.log.read((await engines.log.lanes(topic))[0] ?? topic, -1, 1);
    let written = 0;
    const growing = (apply: Apply): Apply => {
      return async (batch) => {
        if (++written > MOST_WRITES) throw new Error('the rebuild follows the writers');
        const { id, metadata } = recorded(`webhook-wh_n${written}`, { type: 'Unknown', data: {} });
        await engines.events.append(
          `webhook-wh_n${written}`,
          [{ id, type: 'Unknown', data: {}, metadata }],
          'no_stream',
        );
        const headers = { ...sample!.headers, id: `9-${written}`, emit: `grown${written}` };
        await engines.log.publish([{ topic, key: sample!.key, headers, value: sample!.value }]);
        await apply(batch);
      };
    };
    const { rebuilt, retries } = await rebuilding(around(engines.readModels, growing));
    expect(retries).toEqual([]);
    expect(rebuilt).toHaveLength(every.length);
    expect(written).toBeGreaterThan(every.length);
  });

  it('does not retry an event that cannot be applied', async () => {
    // An update without its new values.
    const bad = ['SourceUpdateStarted', 'SourceUpdated'].map((type, n) => {
      const { id, metadata } = recorded('source-dc_a', { type, data: {} }, { revision: n + 2 });
      return { id, type, data: {}, metadata };
    });
    await engines.events.append('source-dc_a', bad, 1n);
    const { rebuilt, retries } = await rebuilding(engines.readModels);
    expect(rebuilt).toBeInstanceOf(PoisonEvent);
    expect((rebuilt as Error).message).toMatch(/cannot apply SourceUpdated at position \d+ \(source-dc_a@3\)/);
    expect(retries).toEqual([]);
  });
});
