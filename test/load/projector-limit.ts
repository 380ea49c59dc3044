import { setTimeout as pause } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { type Rig, measure, type LoadShape } from './measure.js';
import { cpuSince, usageOf } from './part-usage.js';
import { type RolesTarget } from './roles-target.js';

/** Speed at which the only owner of a read model over the stream log works off its backlog. */
export interface ProjectorFigures {
  readonly events: number;
  readonly summaries: CatchUp;
  readonly attempts: CatchUp;
  /** CPU time per event until both read models had caught up, of the projector and of FerretDB. */
  readonly projectorCpuUs: number;
  readonly ferretDbCpuUs: number;
}

interface CatchUp {
  readonly seconds: number;
  readonly perSecond: number;
}

const LIMIT_MS = 300_000;
const POLL_MS = 100;
const READY_PART = 0.02;

/** Puts load on without the projector and starts it afterwards, so that it catches up without other work. */
export const measureProjector = async (rig: Rig, roles: RolesTarget, shape: LoadShape): Promise<ProjectorFigures> => {
  const [projector] = roles.deployment.processes.projector;
  if (!projector) throw new Error('there is no projector');
  await projector.stop();
  const withoutProjector = { ...roles, parts: () => [] };
  const { delivered } = await measure(rig, withoutProjector, shape);
  const lags = await LagReader.open(roles);
  try {
    const missed = await lags.of('summaries');
    await projector.start();
    const before = usageOf(roles.parts());
    const [summaries, attempts] = await Promise.all([caughtUp(lags, 'summaries'), caughtUp(lags, 'attempts')]);
    const used = cpuSince(before, usageOf(roles.parts()));
    const cpuOf = (name: string): number => (used.find((part) => part.name === name)?.cpuUs ?? 0) / missed;
    return {
      events: Math.min(missed, delivered),
      summaries,
      attempts,
      projectorCpuUs: cpuOf('projector'),
      ferretDbCpuUs: cpuOf('FerretDB'),
    };
  } finally {
    await lags.close();
  }
};

type Followed = 'summaries' | 'attempts';

/** Measures from the first progress to the end, so that taking over the lanes is excluded. */
const caughtUp = async (lags: LagReader, model: Followed): Promise<CatchUp> => {
  const until = performance.now() + LIMIT_MS;
  const missed = await lags.of(model);
  let began: number | undefined;
  let atBegin = missed;
  for (;;) {
    const left = await lags.of(model);
    const now = performance.now();
    if (began === undefined && left < missed * (1 - READY_PART)) [began, atBegin] = [now, left];
    if (left === 0 || now > until) {
      const seconds = (now - (began ?? now)) / 1_000;
      return { seconds, perSecond: (atBegin - left) / seconds };
    }
    await pause(POLL_MS);
  }
};

const FOLLOWED: Readonly<Record<Followed, { readonly group: string; readonly topics: string }>> = {
  summaries: { group: 'projector.events.summaries.v2', topics: 'emits.' },
  attempts: { group: 'projector.webhooks.attempts.v1', topics: 'attempts' },
};

/** Lag as the broker reports it. */
class LagReader {
  private constructor(
    private readonly admin: ReturnType<Kafka['admin']>,
    private readonly prefix: string,
  ) {}

  static async open({ deployment }: RolesTarget): Promise<LagReader> {
    const { SLUICE_KAFKA_BROKERS: brokers = '', SLUICE_KAFKA_PREFIX: prefix = '' } = deployment.settings;
    const admin = new Kafka({ clientId: 'bench', brokers: [brokers], logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    return new LagReader(admin, prefix);
  }

  async of(model: Followed): Promise<number> {
    const { group, topics: selected } = FOLLOWED[model];
    const topics = (await this.admin.listTopics()).filter((name) => name.startsWith(this.prefix + selected));
    const committed = await this.admin.fetchOffsets({ groupId: this.prefix + group, topics });
    const reads = new Map<string, number>();
    for (const { topic, partitions } of committed) {
      for (const { partition, offset } of partitions) reads.set(`${topic}/${partition}`, Math.max(0, Number(offset)));
    }
    let lag = 0;
    for (const topic of topics) {
      for (const { partition, high } of await this.admin.fetchTopicOffsets(topic)) {
        lag += Number(high) - (reads.get(`${topic}/${partition}`) ?? 0);
      }
    }
    return lag;
  }

  close(): Promise<void> {
    return this.admin.disconnect();
  }
}
