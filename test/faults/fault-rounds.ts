import { setTimeout as pause } from 'node:timers/promises';
import { type Source } from '#test/harness/api-client.js';
import { type Deployment, type EngineAddresses, type RoleName } from '#test/harness/deployment.js';
import { type Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { type CutMode, EngineRelays } from './engine-relays.js';
import { type Answered, FaultProbes } from './fault-probes.js';
import { missingOf, problemsOf } from './kill9-checks.js';
import { RESPONDER } from './kill9-components.js';
import { randomOf } from './random.js';
import { allLedgers, finalProblems } from './roles-rounds.js';
import { onRolesScene, type RolesScene } from './roles-scene.js';
import { Supervisor } from './supervisor.js';

export const FAULTS = ['kill', 'stop', 'cut'] as const;
export type Fault = (typeof FAULTS)[number];

export interface FaultOptions {
  readonly engines: EngineAddresses;
  readonly rounds: number;
  /** Number of processes per role. */
  readonly copies: number;
  /** Each round uses the next of them. */
  readonly roles: readonly RoleName[];
  /** Faults of a round for its role, in this order. */
  readonly faults: readonly Fault[];
  /** The same seed gives the same victims and moments. */
  readonly seed: number;
  /** Time for which a process is stopped, or cut from its engines. */
  readonly stopMs: number;
  readonly cutMs: number;
  /** Time within which every process must answer again. */
  readonly withinMs: number;
  /** Settings of every process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly onFault: (figures: FaultFigures) => void;
  /** Called at the end of each round with its problems. */
  readonly onRound: (round: number, quietMs: number, problems: readonly string[]) => void;
}

/** Totals of all rounds so far. */
export interface FaultTotals {
  readonly acknowledged: number;
  readonly refused: number;
  readonly unanswered: number;
  /** Callers that waited in vain for the response to a stored event. */
  readonly late: number;
  readonly delivered: number;
  readonly repeats: number;
  readonly deployed: number;
}

export interface FaultFigures extends FaultTotals {
  readonly round: number;
  /** Role and number. */
  readonly process: string;
  readonly fault: Fault;
  /** How it was cut. */
  readonly mode?: CutMode;
  /** Time until every process answered everything, since the fault was over. Undefined: not in time. */
  readonly answersMs: number | undefined;
  /** The latest answer. */
  readonly slowest: string;
  /** Most lines of output of one process since the fault began, and which process. */
  readonly lines: string;
  /** Processes that ended on their own. */
  readonly ended: readonly string[];
  readonly problems: readonly string[];
}

export interface FaultReport extends FaultTotals {
  readonly faults: number;
  /** Slowest recovery. */
  readonly slowestMs: number;
  readonly problems: readonly string[];
}

const SHORTEST_LOAD_MS = 1_000;
const LONGEST_LOAD_MS = 3_000;
const DOWN_MS = 1_000;
const QUIET_MS = 120_000;
/**
 * A process that does not answer in time is asked for this many times as long, so that the report distinguishes late
 * from never.
 */
const PATIENCE = 4;
/** Enough lanes that every copy has some. */
const RESPONDERS = 4;
const WEBHOOKS = 4;
const KEPT_SOURCES = 12;
const DEPLOY_EVERY_MS = 1_000;

/**
 * Puts load on an installation by role, with callers that wait for responses and deployments. Does every fault to each role
 * in turn, asks every process whether it answers again, and checks that nothing was lost.
 */
export const runFaultRounds = async (options: FaultOptions): Promise<FaultReport> => {
  const relays = new Map<Server, EngineRelays>();
  const receiver = await WebhookReceiver.start();
  const prepare = async (deployment: Deployment): Promise<void> => {
    for (const server of deployment.all) {
      const own = await EngineRelays.start(options.engines);
      relays.set(server, own);
      for (const [name, value] of Object.entries(own.settings)) server.setting(name, value);
    }
  };
  const setting = { ...options, prepare, keep: KEPT_SOURCES, deployEveryMs: DEPLOY_EVERY_MS };
  try {
    return await onRolesScene(setting, (scene) => play(options, scene, receiver, relays));
  } finally {
    await receiver.close();
    await Promise.all([...relays.values()].map((each) => each.close()));
  }
};

const play = async (
  options: FaultOptions,
  scene: RolesScene,
  receiver: WebhookReceiver,
  relays: ReadonlyMap<Server, EngineRelays>,
): Promise<FaultReport> => {
  const { load, deployer, sources, gate, deployment } = scene;
  const probes = new FaultProbes(await probeScene(scene, receiver));
  load.start([
    { source: sources.relay, clients: 2, times: 1, pauseMs: 500 },
    { source: sources.counter, clients: 1, times: 1, pauseMs: 400 },
    { source: sources.unique, clients: 1, times: 2, pauseMs: 400 },
    { source: sources.greatest, clients: 1, times: 1, pauseMs: 400 },
    ...probes.responders.map((source) => ({ source, clients: 1, times: 1, pauseMs: 600, responds: true })),
  ]);
  const supervisor = new Supervisor(deployment);
  const rounds = new Rounds(options, scene, probes, supervisor, relays);
  gate.open();
  deployer.start();
  try {
    await rounds.settle();
    for (let round = 1; round <= options.rounds; round++) await rounds.round(round);
  } finally {
    await supervisor.stop();
    gate.open();
    await Promise.all([load.stop(), deployer.stop()]);
  }
  return { ...rounds.report(), problems: [...rounds.problems, ...(await finalProblems(scene))] };
};

const probeScene = async (
  scene: RolesScene,
  receiver: WebhookReceiver,
): Promise<ConstructorParameters<typeof FaultProbes>[0]> => {
  const { api, deployment, sources, webhookId } = scene;
  const responders: Source[] = [];
  for (let n = 0; n < RESPONDERS; n++) {
    const source = await eventually(
      'a responder',
      () => api.createSource({ component_code: RESPONDER }),
      120_000,
      1_000,
    );
    await api.subscribe(source.id, webhookId);
    responders.push(source);
  }
  const webhooks = [];
  for (let n = 0; n < WEBHOOKS; n++) webhooks.push(await api.createWebhook(`${receiver.url}/${n}`));
  for (const { id } of webhooks) await api.subscribe(sources.relay.id, id);
  for (const { id } of webhooks.slice(0, 1)) await api.subscribe(sources.ticker.id, id);
  return { deployment, responders, emitter: sources.relay, webhooks, receiver, ticker: sources.ticker };
};

class Rounds {
  readonly problems: string[] = [];
  private readonly random: () => number;
  private faults = 0;
  private slowestMs = 0;

  constructor(
    private readonly options: FaultOptions,
    private readonly scene: RolesScene,
    private readonly probes: FaultProbes,
    private readonly supervisor: Supervisor,
    private readonly relays: ReadonlyMap<Server, EngineRelays>,
  ) {
    this.random = randomOf(options.seed);
  }

  /** Rejects when not everything answers before the first fault. */
  async settle(): Promise<void> {
    const answers = await this.probes.run(QUIET_MS);
    const never = answers.filter(({ ms }) => ms === undefined);
    if (never.length > 0) throw new Error(`before the first fault: ${never.map(sentence).join('; ')}`);
    this.supervisor.endedSince();
  }

  async round(round: number): Promise<void> {
    const { roles, faults, onFault, onRound } = this.options;
    const role = roles[(round - 1) % roles.length];
    if (role === undefined) throw new Error('no role to take');
    for (const fault of faults) {
      const figures = await this.fault(round, role, fault);
      this.problems.push(...figures.problems);
      onFault(figures);
    }
    const { gate, receiver } = this.scene;
    gate.shut();
    const shutAt = performance.now();
    const late = await this.untilQuiet();
    const found = [...late, ...problemsOf(receiver, allLedgers(this.scene))].map((text) => `round ${round}: ${text}`);
    this.problems.push(...found);
    onRound(round, performance.now() - shutAt, found);
    gate.open();
  }

  report(): Omit<FaultReport, 'problems'> {
    return { ...this.totals(), faults: this.faults, slowestMs: this.slowestMs };
  }

  private async fault(round: number, role: RoleName, fault: Fault): Promise<FaultFigures> {
    const { deployment } = this.scene;
    const { withinMs } = this.options;
    await pause(SHORTEST_LOAD_MS + this.random() * (LONGEST_LOAD_MS - SHORTEST_LOAD_MS));
    const copies = deployment.processes[role];
    const victim = copies[Math.floor(this.random() * copies.length)] as Server;
    const lines = new Map(deployment.all.map((server) => [server, server.outputLines]));
    const mode: CutMode = this.random() < 0.5 ? 'silent' : 'refused';
    await this.apply(victim, fault, mode);
    this.faults++;
    const answers = await this.probes.run(PATIENCE * withinMs);
    const slowest = answers.reduce((a, b) => ((a.ms ?? Infinity) >= (b.ms ?? Infinity) ? a : b));
    const late = answers.filter(({ ms }) => ms === undefined || ms > withinMs);
    this.slowestMs = Math.max(this.slowestMs, slowest.ms ?? PATIENCE * withinMs);
    const name = deployment.nameOf(victim);
    const told = fault === 'cut' ? `${fault} (${mode})` : fault;
    return {
      ...this.totals(),
      round,
      process: name,
      fault,
      ...(fault === 'cut' && { mode }),
      answersMs: slowest.ms,
      slowest: slowest.what,
      lines: mostLines(deployment, lines),
      ended: this.supervisor.endedSince(),
      problems: late.map(sentence).map((text) => `round ${round}, ${told} of ${name}: ${text}`),
    };
  }

  /** Resolves once the fault is over. */
  private async apply(victim: Server, fault: Fault, mode: CutMode): Promise<void> {
    const { stopMs, cutMs } = this.options;
    switch (fault) {
      case 'kill': {
        await victim.kill9();
        await pause(DOWN_MS);
        // The time of its start is part of the time until it answers.
        void victim.start().catch(() => undefined);
        return;
      }
      case 'stop': {
        const { pid } = victim;
        process.kill(pid, 'SIGSTOP');
        await pause(stopMs);
        // The process ended in the meantime, and the supervisor has started another.
        if (victim.isRunning && victim.pid === pid && !victim.hasEnded) process.kill(pid, 'SIGCONT');
        return;
      }
      case 'cut': {
        const relays = this.relays.get(victim);
        if (!relays) throw new Error('a process without relays');
        await relays.cut(mode);
        await pause(cutMs);
        await relays.restore();
        return;
      }
    }
  }

  private totals(): FaultTotals {
    const { load, receiver, deployer } = this.scene;
    const sum = (of: (ledger: (typeof load.ledgers)[number]) => number): number =>
      load.ledgers.reduce((total, each) => total + of(each), 0);
    return {
      acknowledged: sum(({ acknowledged }) => acknowledged.size),
      refused: sum(({ refused }) => refused),
      unanswered: load.unanswered,
      late: load.late,
      delivered: new Set(receiver.accepted.map(({ webhookId }) => webhookId)).size,
      repeats: receiver.duplicates,
      deployed: deployer.count,
    };
  }

  private async untilQuiet(): Promise<string[]> {
    const { receiver } = this.scene;
    const isWhole = (): boolean => allLedgers(this.scene).every((ledger) => missingOf(receiver, ledger).length === 0);
    return eventually('everything acknowledged is delivered', () => (isWhole() ? [] : undefined), QUIET_MS, 500).catch(
      (error: unknown) => [String(error)],
    );
  }
}

const sentence = ({ what, ms, last }: Answered): string =>
  ms === undefined ? `${what} did not come: ${last ?? ''}` : `${what} came after ${Math.round(ms)} ms`;

const mostLines = (deployment: Deployment, before: ReadonlyMap<Server, number>): string => {
  const grown = deployment.all.map((server) => ({ server, lines: server.outputLines - (before.get(server) ?? 0) }));
  const most = grown.reduce((a, b) => (a.lines >= b.lines ? a : b));
  return `${most.lines} ${deployment.nameOf(most.server)}`;
};
