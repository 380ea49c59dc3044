import { setTimeout as pause } from 'node:timers/promises';
import { type EngineAddresses, ROLES, type RoleName } from '#test/harness/deployment.js';
import { type Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { type Killable } from './engine-servers.js';
import { counterIsWhole, counterProblems, historyProblems, missingOf, problemsOf } from './kill9-checks.js';
import { emptyLedger, type Ledger } from './kill9-load.js';
import { randomOf } from './random.js';
import { rebuildProblems } from './rebuild-roles.js';
import { onRolesScene, type RolesScene } from './roles-scene.js';

export interface RolesKillOptions {
  readonly engines: EngineAddresses;
  /** undefined: the broker is shared and stays up. */
  readonly broker?: Killable;
  /** Kill the broker in every nth round. */
  readonly brokerEvery: number;
  readonly rounds: number;
  /** Number of processes per role. */
  readonly copies: number;
  /** Settings of every process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The same seed gives the same kill times. */
  readonly seed: number;
  readonly onRound: (round: RoundFigures) => void;
}

export interface RoundFigures {
  readonly round: number;
  readonly kills: number;
  readonly brokerKills: number;
  /** Total of all rounds so far. */
  readonly acknowledged: number;
  readonly refused: number;
  readonly delivered: number;
  readonly duplicates: number;
  readonly ticks: number;
  /** Time from the last request to the last delivery. */
  readonly quietMs: number;
  /** Slowest start of a killed process. */
  readonly slowestStartMs: number;
  readonly slowestRole: string;
  readonly problems: readonly string[];
}

export interface RolesKillReport extends Pick<
  RoundFigures,
  'kills' | 'brokerKills' | 'acknowledged' | 'refused' | 'delivered' | 'duplicates' | 'ticks'
> {
  readonly sourcesDeployed: number;
  /** Empty when every rule held. */
  readonly problems: readonly string[];
}

const SHORTEST_LOAD_MS = 300;
const LONGEST_LOAD_MS = 1_200;
const DOWN_MS = 1_000;
const QUIET_TIMEOUT_MS = 120_000;
/** An id above those of the load. */
const BARRIER = 100_000_000_000;

/**
 * Puts load on an installation by role, kills each role with -9 in turn and the broker now and then, and checks the
 * results.
 */
export const runRolesRounds = (options: RolesKillOptions): Promise<RolesKillReport> =>
  onRolesScene(options, async (scene) => {
    const { load, deployer, sources, gate } = scene;
    load.start([
      { source: sources.relay, clients: 3, times: 1, pauseMs: 150 },
      { source: sources.counter, clients: 2, times: 1, pauseMs: 200 },
      { source: sources.unique, clients: 1, times: 2, pauseMs: 100 },
      { source: sources.greatest, clients: 1, times: 1, pauseMs: 150 },
    ]);
    deployer.start();
    const rounds: RoundFigures[] = [];
    const killer = new Killer(options, scene);
    for (let round = 1; round <= options.rounds; round++) {
      const figures = await killer.round(round);
      rounds.push(figures);
      options.onRound(figures);
    }
    gate.open();
    await Promise.all([load.stop(), deployer.stop()]);
    const problems = [...rounds.flatMap((round) => round.problems), ...(await finalProblems(scene))];
    return { ...killer.figures(), sourcesDeployed: deployer.count, problems };
  });

class Killer {
  private readonly random: () => number;
  private kills = 0;
  private brokerKills = 0;

  constructor(
    private readonly options: RolesKillOptions,
    private readonly scene: RolesScene,
  ) {
    this.random = randomOf(options.seed);
  }

  async round(round: number): Promise<RoundFigures> {
    const { gate, deployment, receiver } = this.scene;
    const { broker, brokerEvery } = this.options;
    gate.open();
    const starts: { role: RoleName; ms: number }[] = [];
    for (const role of ROLES) {
      await this.loadAWhile();
      const copies = deployment.processes[role];
      const victim = copies[Math.floor(this.random() * copies.length)] as Server;
      await victim.kill9();
      this.kills++;
      await pause(DOWN_MS);
      await victim.start();
      starts.push({ role, ms: victim.readyMs });
    }
    if (broker && round % brokerEvery === 0) {
      await this.loadAWhile();
      await broker.kill9();
      this.brokerKills++;
      await pause(DOWN_MS);
      await broker.start();
    }
    await this.loadAWhile();
    gate.shut();
    const shutAt = performance.now();
    const late = await this.untilQuiet();
    const slowest = starts.reduce((a, b) => (a.ms >= b.ms ? a : b));
    return {
      ...this.figures(),
      round,
      quietMs: performance.now() - shutAt,
      slowestStartMs: slowest.ms,
      slowestRole: slowest.role,
      problems: [...late, ...problemsOf(receiver, allLedgers(this.scene))].map((text) => `round ${round}: ${text}`),
    };
  }

  figures(): Omit<RoundFigures, 'round' | 'quietMs' | 'slowestStartMs' | 'slowestRole' | 'problems'> {
    const { load, receiver, sources } = this.scene;
    const total = (of: (ledger: Ledger) => number): number => load.ledgers.reduce((sum, each) => sum + of(each), 0);
    const { accepted } = receiver;
    return {
      kills: this.kills,
      brokerKills: this.brokerKills,
      acknowledged: total(({ acknowledged }) => acknowledged.size),
      refused: total(({ refused }) => refused),
      delivered: new Set(accepted.map(({ webhookId }) => webhookId)).size,
      duplicates: receiver.duplicates,
      ticks: new Set(accepted.filter(({ emitterId }) => emitterId === sources.ticker.id).map(({ emitId }) => emitId))
        .size,
    };
  }

  private loadAWhile(): Promise<unknown> {
    return pause(SHORTEST_LOAD_MS + this.random() * (LONGEST_LOAD_MS - SHORTEST_LOAD_MS));
  }

  private async untilQuiet(): Promise<string[]> {
    const missing = (): number =>
      allLedgers(this.scene).reduce((sum, ledger) => sum + missingOf(this.scene.receiver, ledger).length, 0);
    return holdsOrLate('everything acknowledged is delivered', () => missing() === 0);
  }
}

const holdsOrLate = (what: string, holds: () => boolean): Promise<string[]> =>
  eventually(what, () => (holds() ? [] : undefined), QUIET_TIMEOUT_MS, 100).catch((error: unknown) => [String(error)]);

/** Adds to the load's ledgers the events that the chain must emit for those that the relay accepted. */
export const allLedgers = ({ load, sources }: RolesScene): readonly Ledger[] => {
  const relayed = load.ledgers.find(({ source }) => source.id === sources.relay.id);
  return relayed ? [...load.ledgers, { ...relayed, source: sources.chain, unexpected: new Map() }] : load.ledgers;
};

export const finalProblems = async (scene: RolesScene): Promise<string[]> => {
  const { api, deployment, receiver, load, sources, deployer, webhookId } = scene;
  // A last event after all others shows how many runs each counter has had.
  await eventually('the last event is taken', async () =>
    (await load.post(sources.counter, BARRIER)) === 200 ? true : undefined,
  );
  await api.runNow(sources.ticker.id, { timestamp: BARRIER });
  await api.expect(200, 'PUT', `/v1/sources/${sources.ticker.id}`, { body: { active: false } });
  const counters = [sources.counter, sources.ticker];
  const late = await holdsOrLate(
    'everything acknowledged is delivered, and the counters are whole',
    () =>
      allLedgers(scene).every((ledger) => missingOf(receiver, ledger).length === 0) &&
      counters.every((source) => counterIsWhole(receiver, source, BARRIER)),
  );
  const all = Object.values(sources) as (typeof sources.relay)[];
  const histories = await Promise.all(all.map((source) => historyProblems(api, source)));
  const ticks = emptyLedger(sources.ticker);
  return [
    ...late,
    ...problemsOf(receiver, [...allLedgers(scene), ticks]),
    ...counters.flatMap((source) => counterProblems(receiver, source)),
    ...histories.flat(),
    ...(await deployer.problems()),
    ...(await rebuildProblems(deployment, api, all, [webhookId])),
  ];
};
