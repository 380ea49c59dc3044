import { join } from 'node:path';
import { adoptSecretKey, type Config, previousKeyOf, secretKeyOf } from '#libs/config/index.js';
import { CommonClock } from '#libs/kernel/common-clock.js';
import { messageOf } from '#libs/kernel/error-message.js';
import { Faults } from '#libs/kernel/faults.js';
import { type Retention } from '#libs/stream-log/stream-log.js';
import { eventStoreFault, LargeData, openEventStoreDb } from '../eventstoredb/index.js';
import { faultOf } from '../faults.js';
import { kafkaFault, openKafka } from '../kafka/index.js';
import { mongoFault, openMongo } from '../mongodb/index.js';
import { followServerTime } from './follow-server-time.js';
import { kafkaSecurityOf } from './kafka-security.js';

export interface DistributedOptions {
  readonly config: Config;
  /** Identifies this process to the servers. */
  readonly clientId: string;
  readonly onWarning: (text: string, fields: object) => void;
  /** Set when this process runs sources. It then publishes the outboxes of dead processes. */
  readonly relaysLeftOutboxes?: boolean;
  /** Retention by the name of a topic. Without it, this process drops only what every group has read. */
  readonly retentionOf?: ((topic: string) => Retention | undefined) | undefined;
  /** Opens an engine and retries in the caller's way while it is not reachable. */
  readonly awaiting: <T>(engine: string, open: () => Promise<T>) => Promise<T>;
}

/**
 * Reports a warning with an error once while the error lasts. Kafka's adapter does so itself, because it knows the
 * broker.
 */
const onceFor =
  (faults: Faults, say: DistributedOptions['onWarning']): DistributedOptions['onWarning'] =>
  (text, fields) => {
    const error = 'error' in fields ? fields.error : 'err' in fields ? fields.err : undefined;
    if (error === undefined) say(text, fields);
    else faults.met(`${text}: ${messageOf(error)}`, text, fields);
  };

/**
 * Opens every port on EventStoreDB, MongoDB and Kafka in parallel. `awaiting` decides how to wait for a server. From then
 * on `clock` is that of MongoDB, which all processes share.
 */
export const openDistributed = async (options: DistributedOptions) => {
  const { config, awaiting, relaysLeftOutboxes = false } = options;
  const clock = new CommonClock();
  const faults = new Faults({ say: options.onWarning });
  const onWarning = onceFor(faults, options.onWarning);
  const { dataDir } = config;
  const secretKey = secretKeyOf(dataDir, config.secretKey, config.secretKeyPrevious);
  // The secrets are not in this directory, so it need not wait for their rotation.
  adoptSecretKey(dataDir, secretKey);
  const events = awaiting('EventStoreDB', () =>
    openEventStoreDb({ url: given(config.eventStoreUrl), prefix: config.prefix, onWarning }),
  );
  const log = awaiting('Kafka', () => openLog(options, clock));
  const mongo = awaiting('MongoDB', () =>
    openMongo({
      url: given(config.mongoUrl),
      secretKey,
      previousKey: previousKeyOf(config.secretKeyPrevious),
      clock,
      onWarning,
      cacheDir: join(dataDir, 'blobs'),
    }),
  );
  const [eventStore, kafka, documents] = await Promise.all([events, log, mongo]);
  const following = await awaiting('MongoDB', () => followServerTime(clock, () => documents.serverTime()));
  const journal = await awaiting('MongoDB', () => documents.openJournal(kafka, { relaysLeftOutboxes }));
  const { readModels, lanes, due, delayed, ticks, vault, blobs, usage, records, runHistory, leases, registry } =
    documents;
  return {
    events: new LargeData(eventStore, blobs),
    log: kafka,
    readModels,
    lanes,
    journal,
    due,
    delayed,
    ticks,
    vault,
    blobs,
    usage,
    records,
    runHistory,
    leases,
    registry,
    clock,
    faultOf: faultOf(kafkaFault, mongoFault, eventStoreFault),
    skipped: () => kafka.skipped(),
    inHand: () => kafka.inHand(),
    checks: [checked('EventStoreDB', eventStore), checked('MongoDB', documents), checked('Kafka', kafka)],
    async close(): Promise<void> {
      following.stop();
      faults.close();
      // The journal's relay still publishes its records.
      await documents.close();
      await kafka.close();
      await eventStore.close();
    },
  };
};

const checked = (name: string, engine: { ping(): Promise<void> }) => ({ name, ping: () => engine.ping() });

const openLog = (
  { config, clientId, retentionOf, onWarning }: DistributedOptions,
  clock: CommonClock,
): ReturnType<typeof openKafka> =>
  openKafka({
    clock,
    brokers: config.kafkaBrokers,
    prefix: `${config.prefix}.`,
    clientId,
    security: kafkaSecurityOf(config),
    replicationFactor: config.kafkaReplication,
    durability: config.kafkaDurability,
    stateDir: join(config.dataDir, 'kafka'),
    retentionOf,
    keptMs: config.emitsRetentionDays * 86_400_000,
    onWarning,
  });

/** Never null here: reading the settings already checked that SLUICE_ENGINE=distributed has them. */
const given = (url: string | null): string => {
  if (url === null) throw new Error('the URL of an engine is missing');
  return url;
};
