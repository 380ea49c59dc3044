import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { ROOT } from '#test/harness/paths.js';
import { type Commands, has, outputOf } from './command.js';
import { composeUp } from './compose-engines.js';
import { eventStoreHome, NO_EVENT_STORE, startEventStore } from './eventstore-server.js';
import { startFerretDb } from './ferretdb.js';
import { startKafkaBroker } from './kafka-broker.js';
import { ENGINES, SUITES, type EngineName } from './suites.js';

/** The server for an engine's suites. */
export type Server =
  | {
      readonly on: 'real server' | 'stand-in';
      readonly version: string;
      readonly address: string;
      /** Started by this run. */
      readonly ours: boolean;
    }
  | { readonly on: 'not run'; readonly reason: string }
  /** It failed to start. */
  | { readonly on: 'broken'; readonly reason: string };

export interface Servers {
  readonly of: Readonly<Record<EngineName, Server>>;
  stop(): Promise<void>;
}

type Stop = () => Promise<void>;

export interface ServersOptions {
  readonly wanted: readonly EngineName[];
  readonly docker: boolean;
  readonly commands: Commands;
  readonly say: (line: string) => void;
}

const NOT_WANTED: Server = { on: 'not run', reason: 'not asked for' };

/** Servers from settings, from Compose, or started here, in this order. `stop` stops the ones started here. */
export const openServers = async ({ wanted, docker, commands, say }: ServersOptions): Promise<Servers> => {
  const stops: Stop[] = [];
  const stop = async (): Promise<void> => {
    const ended = await Promise.allSettled(stops.splice(0).map((each) => each()));
    const failed = ended.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  };
  const opened = new Map<EngineName, Server>();
  try {
    const compose = docker ? await composeUp(commands) : undefined;
    if (compose) stops.push(() => compose.down());
    for (const name of ENGINES.filter((each) => wanted.includes(each))) {
      commands.throwIfInterrupted();
      const address = process.env[SUITES[name].given] ?? compose?.addresses[name];
      if (address !== undefined && address !== '') {
        opened.set(name, await started(none, () => describeGiven(name, address, compose?.images[name])));
      } else {
        say(`${SUITES[name].title}: ${PREPARING[name]}`);
        opened.set(name, await START[name](stops));
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const of = (name: EngineName): Server => opened.get(name) ?? NOT_WANTED;
  return { of: { kafka: of('kafka'), mongodb: of('mongodb'), eventstoredb: of('eventstoredb') }, stop };
};

const PREPARING: Readonly<Record<EngineName, string>> = {
  kafka: 'starting a broker (the first time, Maven fetches 100 MB of jars into the cache) …',
  mongodb: 'starting FerretDB (the first time, Go builds it, some minutes) …',
  eventstoredb: 'starting the server of SLUICE_TEST_EVENTSTORE_HOME …',
};

const START: Readonly<Record<EngineName, (stops: Stop[]) => Promise<Server>>> = {
  kafka: (stops) =>
    started(missingForKafka, async () => {
      const broker = await startKafkaBroker();
      stops.push(() => broker.stop());
      return { on: 'real server', version: `Apache Kafka ${broker.version}`, address: broker.brokers, ours: true };
    }),
  mongodb: (stops) =>
    started(missingForFerretDb, async () => {
      const ferret = await startFerretDb();
      stops.push(() => ferret.stop());
      return { on: 'stand-in', version: `FerretDB ${ferretDbVersion()}`, address: ferret.url, ours: true };
    }),
  eventstoredb: (stops) =>
    started(missingForEventStore, async () => {
      const server = await startEventStore();
      stops.push(() => server.stop());
      return { on: 'real server', version: await eventStoreVersion(server.url), address: server.url, ours: true };
    }),
};

/** A missing program counts as "not run". Any other problem is a failure. */
const started = async (missing: () => string | undefined, start: () => Promise<Server>): Promise<Server> => {
  try {
    return await start();
  } catch (error) {
    const cause = missing();
    if (cause !== undefined) return { on: 'not run', reason: cause };
    return { on: 'broken', reason: error instanceof Error ? error.message : String(error) };
  }
};

/** Reason why servers cannot be started here, for specs that start and kill their own. Undefined when they can. */
export const missingForOwnServers = ({ of }: Servers): string | undefined => {
  const startable = (server: Server): boolean => 'ours' in server && server.ours;
  const missing = [
    startable(of.kafka) ? undefined : missingForKafka(),
    startable(of.mongodb) ? undefined : missingForFerretDb(),
    missingForEventStore(),
  ].filter((reason) => reason !== undefined);
  return missing.length === 0 ? undefined : missing.join('; ');
};

const none = (): undefined => undefined;

const missingForKafka = (): string | undefined => {
  if (!has('java', '-version')) return 'java is missing (package openjdk-17-jre-headless)';
  if (!has('openssl', 'version')) return 'openssl is missing, which makes the certificates of the tests';
  return has('mvn', '-version') ? undefined : 'mvn is missing (package maven), and the jars are not in the cache';
};

const missingForFerretDb = (): string | undefined => {
  if (!has('go', 'version')) return 'go is missing (1.21 or later), and FerretDB is not in the cache';
  const version = /go1\.(\d+)/.exec(outputOf('go', 'version'));
  // Later versions fetch the required version automatically.
  return version && Number(version[1]) < 21
    ? `go ${version[0].slice(2)} is too old to build FerretDB (1.21 or later)`
    : undefined;
};

const missingForEventStore = (): string | undefined => (eventStoreHome() === undefined ? NO_EVENT_STORE : undefined);

/** The build that go.mod requires, because FerretDB as a library does not know its own version. */
const ferretDbVersion = (): string =>
  /FerretDB\/FerretDB v(\S+)/.exec(readFileSync(join(ROOT, 'test/engines/ferretdb/go.mod'), 'utf8'))?.[1] ?? 'unknown';

const describeGiven = async (name: EngineName, address: string, image: string | undefined): Promise<Server> => {
  const given = { address, ours: false } as const;
  switch (name) {
    case 'kafka':
      return { on: 'real server', version: image ?? 'as given', ...given };
    case 'mongodb':
      return { ...(await mongoServer(address)), ...given };
    case 'eventstoredb':
      return { on: 'real server', version: image ?? (await eventStoreVersion(address)), ...given };
  }
};

/** Asks the server itself, because FerretDB identifies itself however it was started. */
const mongoServer = async (url: string): Promise<{ on: 'real server' | 'stand-in'; version: string }> => {
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 10_000 });
  try {
    const { version, ferretdbVersion } = await client.db('admin').command({ buildInfo: 1 });
    return typeof ferretdbVersion === 'string'
      ? { on: 'stand-in', version: `FerretDB ${ferretdbVersion}` }
      : { on: 'real server', version: `MongoDB ${String(version)}` };
  } finally {
    await client.close();
  }
};

/**
 * Version from the server's HTTP side. A server that does not report it fails its suites with its own error, if any.
 */
const eventStoreVersion = async (url: string): Promise<string> => {
  const { host } = new URL(url.replace(/^[a-z]+(\+discover)?:/, 'http:'));
  const scheme = url.includes('tls=false') ? 'http' : 'https';
  try {
    const answer = await fetch(`${scheme}://${host}/info`, { signal: AbortSignal.timeout(5_000) });
    const { esVersion, dbVersion } = (await answer.json()) as { esVersion?: string; dbVersion?: string };
    return `EventStoreDB ${esVersion ?? dbVersion ?? 'of unknown version'}`;
  } catch (error) {
    return `as given (/info: ${error instanceof Error ? error.message : String(error)})`;
  }
};
