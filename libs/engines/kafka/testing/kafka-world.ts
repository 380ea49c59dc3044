import { randomUUID } from 'node:crypto';
import { afterEach } from '@jest/globals';
import { TOPIC_NEWS } from '../lane-names.js';
import { type KafkaOptions, type KafkaSecurity, type KafkaStreamLog } from '../index.js';
import { openPatiently } from './open-patiently.js';
import { testBrokers } from './test-brokers.js';

/**
 * Logs of one test as if from several processes, under one prefix. They are closed and their topics removed after the
 * test.
 */
export class KafkaWorld {
  readonly prefix = `kafka-spec-${randomUUID().slice(0, 8)}.`;
  readonly warnings: string[] = [];
  private readonly logs: KafkaStreamLog[] = [];

  constructor(
    private readonly brokers: () => readonly string[],
    private readonly security: KafkaSecurity = {},
  ) {}

  async open(options: Partial<KafkaOptions> = {}): Promise<KafkaStreamLog> {
    const log = await openPatiently({
      brokers: this.brokers(),
      prefix: this.prefix,
      clientId: 'spec',
      security: this.security,
      replicationFactor: 1,
      onWarning: (text, fields) => this.warnings.push(`${text} ${JSON.stringify(fields)}`),
      ...options,
    });
    this.logs.push(log);
    return log;
  }

  /** Closes the logs and deletes the topics. Topics on brokers that the test throws away may stay: `keepTopics`. */
  async close({ keepTopics = false } = {}): Promise<void> {
    if (this.logs.length === 0) return;
    await Promise.all(this.logs.splice(0).map((log) => log.close()));
    if (keepTopics) return;
    // Opens another log, because those of the test may have been cut off.
    const log = await this.open({ durability: 'best_effort' });
    try {
      await Promise.all((await log.topics('')).map((topic) => log.deleteTopic(topic)));
      await log.deleteTopic(TOPIC_NEWS);
    } finally {
      // A connection that stays open would keep the test run from ending.
      await log.close();
    }
  }
}

/** A world for each test of the file. */
export const worldForEach = (brokers: () => readonly string[] = testBrokers): (() => KafkaWorld) => {
  let world: KafkaWorld | undefined;
  afterEach(async () => {
    await world?.close();
    world = undefined;
  });
  return () => (world ??= new KafkaWorld(brokers));
};
