import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Source } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useStandalone();

/** Stands in for a run that ends its host: the spec kills the server while the run is in flight. */
const KILLER = componentCode({
  members: `async run(event) { if (event.body.kill) await new Promise((r) => setTimeout(r, 25000)); this.$emit(event.body); },`,
});

const noteOf = (): string => {
  const folder = path.join(instance.server.dataDir, 'runs-in-flight');
  return readdirSync(folder)
    .filter((name) => name.startsWith('started.'))
    .map((name) => readFileSync(path.join(folder, name), 'utf8'))
    .join('');
};

/** Kills the server while the run is in flight, and restarts it. */
const killDuring = async (invocation: RegExp): Promise<void> => {
  await eventually('the run in flight', async () => (invocation.test(noteOf()) ? true : undefined), 30_000);
  await instance.server.kill9();
  await instance.server.start();
};

const errors = (source: Source): Promise<readonly unknown[]> => instance.payloads(source, 0, '$errors');

describe('a run during which the server is killed', () => {
  it('is repeated at first, then run alone, and finally given up, and no event of others is lost', async () => {
    const killer = await instance.deploy(KILLER);
    const neighbour = await instance.deploy(relayCode('Neighbour'));
    const heard = await instance.listen(neighbour.id);
    await instance.post(neighbour, { n: 0 });
    await instance.receiver.until('the first of the neighbour', () => instance.arrived(heard).length === 1);

    // An orderly restart removes the notes of all earlier runs.
    await instance.server.restart();
    await instance.post(killer, { kill: true });
    for (let death = 1; death <= 2; death++) await killDuring(/^\+ inv_/m);
    await instance.post(neighbour, { n: 1 });
    for (let death = 3; death <= 5; death++) {
      expect(await errors(killer)).toEqual([]);
      await killDuring(/^! inv_/m);
    }
    const [error] = await instance.payloads(killer, 1, '$errors');
    expect(error).toMatchObject({ original_event: { body: { kill: true } }, error: { code: 'HostEnded' } });

    await instance.post(killer, { kill: false });
    expect(await instance.payloads(killer, 1)).toEqual([{ kill: false }]);
    await instance.post(neighbour, { n: 2 });
    await instance.receiver.until('all of the neighbour', () => new Set(sentBy(heard)).size === 3);
    expect([...new Set(sentBy(heard))].sort()).toEqual([0, 1, 2]);
    expect(await errors(killer)).toHaveLength(1);
  }, 180_000);
});

const sentBy = (heard: string): number[] => instance.arrived(heard).map((body) => (body as { n: number }).n);
