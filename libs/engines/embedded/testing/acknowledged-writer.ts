import { randomUUID } from 'node:crypto';
import { openEngines } from './open-engines.js';

/**
 * A process that writes endlessly and prints a line for each acknowledged write: `append <stream> <n>`, `publish <n>`,
 * `commit <source> <version>`. The kill -9 test runs it and compares the lines with the stored data.
 */
const [dataDir = ''] = process.argv.slice(2);

const engines = await openEngines(dataDir);
const said = (line: string): boolean => process.stdout.write(`${line}\n`);

await engines.log.createTopic('published', {});
const run = randomUUID();

const append = async (stream: string): Promise<void> => {
  for (let n = 0; ; n++) {
    const event = {
      id: randomUUID(),
      type: 'Counted',
      data: { n },
      metadata: {
        $correlationId: run,
        $causationId: run,
        commandId: run,
        actor: { userId: 'u_1', apiKeyId: null },
        workspaceId: 'o_1',
        schemaVersion: 1,
      },
    };
    await engines.events.append(stream, [event], n === 0 ? 'no_stream' : BigInt(n - 1));
    said(`append ${stream} ${n}`);
  }
};

let published = 0;
const publish = async (): Promise<void> => {
  for (;;) {
    const id = `${run}/${published++}`;
    await engines.log.publish([{ topic: 'published', key: 'k', headers: { id }, value: 'x'.repeat(500) }]);
    said(`publish ${id}`);
  }
};

/** Keeps three commits in flight, each with one emit and the number of emits so far as a part of the state. */
const commit = async (sourceId: string): Promise<void> => {
  const topic = `emits.${sourceId}`;
  await engines.log.createTopic(topic, {});
  const { version: first } = await engines.journal.load({ executable: sourceId });
  const pending: Promise<unknown>[] = [];
  for (let version = first; ; version++) {
    const done = engines.journal.commit({
      executable: sourceId,
      expectedVersion: version,
      head: String(version),
      parts: { emitted: String(version + 1) },
      inbox: [`inv_${version}`],
      records: [{ topic, key: sourceId, headers: { id: String(version) }, value: '{}' }],
    });
    pending.push(done.then(() => said(`commit ${sourceId} ${version + 1}`)));
    if (pending.length >= 3) await pending.shift();
  }
};

await Promise.all([
  ...Array.from({ length: 4 }, (_, i) => append(`count-${run}-${i}`)),
  ...Array.from({ length: 4 }, publish),
  ...Array.from({ length: 4 }, (_, i) => commit(`dc_${i}`)),
]);
