import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { RefusedStart } from '#libs/config/refused-start.js';
import { START, type NewEvent } from '#libs/kernel/events.js';
import { makeCertificates, type Certificates } from '#test/engines/eventstore-certificates.js';
import { eventStoreHome, startSecureEventStore, type EventStoreServer } from '#test/engines/eventstore-server.js';
import { ROOT } from '#test/harness/paths.js';
import { removeDir, tempDir } from '#test/harness/temp-dir.js';
import { openEventStoreDb, type EventStoreDbEventStore } from '#libs/engines/eventstoredb/index.js';

const run = promisify(execFile);

const event = (n: number): NewEvent => ({
  id: randomUUID(),
  type: 'Counted',
  data: { n },
  metadata: {
    $correlationId: 'c1',
    $causationId: 'c0',
    commandId: `command-${n}`,
    workspaceId: 'o_1',
    schemaVersion: 1,
    actor: { userId: 'u_1', apiKeyId: null },
  },
});

(eventStoreHome() === undefined ? describe.skip : describe)('a real server with TLS and users', () => {
  let dir: string;
  let certificates: Certificates;
  let server: EventStoreServer;
  const stores: EventStoreDbEventStore[] = [];
  beforeAll(async () => {
    dir = tempDir('eventstoredb-certificates');
    certificates = await makeCertificates(dir);
    server = await startSecureEventStore(certificates);
  }, 300_000);
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
  afterAll(async () => {
    await server.stop();
    removeDir(dir);
  }, 60_000);

  const urlOf = (credentials: string, ca = certificates.ca): string =>
    `esdb://${credentials}127.0.0.1:${server.port}?tls=true&tlsCaFile=${ca}`;

  const open = async (url: string): Promise<EventStoreDbEventStore> => {
    const store = await openEventStoreDb({
      url,
      prefix: 'sluice',
      onWarning: () => undefined,
    });
    stores.push(store);
    return store;
  };

  const worksWith = async (store: EventStoreDbEventStore): Promise<void> => {
    const stream = `count-${randomUUID()}`;
    const { position } = await store.append(stream, [event(1), event(2)], 'no_stream');
    expect(await store.lastPosition()).toBe(position);
    for await (const { data } of store.read(stream, { limit: 1 })) expect(data).toEqual({ n: 1 });
    const stop = new AbortController();
    for await (const batch of store.subscribe(START, stop.signal)) {
      if (batch.position === position) stop.abort();
    }
    expect((await store.readAll(START, 1_000)).at(-1)?.position).toBe(position);
  };

  it('serves an administrator over TLS', async () => {
    await worksWith(await open(server.url));
  }, 60_000);

  it('serves an ordinary user once it may read $all, and says so before', async () => {
    const url = urlOf('sluice:a-long-password@');
    await expect(open(url)).rejects.toThrow('denies');
    const script = join(ROOT, 'deploy/eventstore-user.mjs');
    const env = { ...process.env, PASSWORD: 'a-long-password' };
    for (const _ of ['first', 'repeat']) {
      const { stdout } = await run(process.execPath, [script, server.url, 'sluice'], { env });
      expect(stdout).toBe('sluice may read $all\n');
    }
    await worksWith(await open(url));
    await worksWith(await open(server.url));
  }, 120_000);

  it('refuses another password, no user, and clients that do not know its authority', async () => {
    for (const credentials of ['admin:wrong@', '']) {
      const refused = await open(urlOf(credentials)).catch((error: unknown) => error);
      // A process ends at this error instead of waiting for the server.
      expect(refused).toBeInstanceOf(RefusedStart);
      expect(String(refused)).toMatch(/denies .* the user or password of SLUICE_EVENTSTORE_URL is wrong/);
    }
    const other = await makeCertificates(join(dir, 'other'));
    await expect(open(urlOf('admin:changeit@', other.ca))).rejects.toThrow('does not answer');
    await expect(open(urlOf('admin:changeit@').replace('tls=true', 'tls=false'))).rejects.toThrow('does not answer');
  }, 120_000);
});
