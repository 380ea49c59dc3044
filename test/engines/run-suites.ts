import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { Commands, Interrupted } from './command.js';
import { runJest, specsOf } from './jest-run.js';
import { failed, reportOf, tableOf, type Row } from './report.js';
import { missingForOwnServers, openServers, type Server, type Servers } from './servers.js';
import {
  ATTACK_SPECS,
  COPY_SPECS,
  E2E_SPECS,
  ENGINES,
  FAULT_SPECS,
  ROLE_SPECS,
  SUITES,
  type EngineName,
} from './suites.js';

/** Parts that run every role on all three engines. */
const ON_ROLES = ['roles', 'e2e', 'attacks', 'copies'] as const;
const PARTS = [...ENGINES, ...ON_ROLES, 'faults'] as const;
type Part = (typeof PARTS)[number];

const ofEngine = (name: EngineName): readonly string[] => [SUITES[name].adapter, ...SUITES[name].ownServer];
const SPECS: Readonly<Record<Part, readonly string[]>> = {
  kafka: ofEngine('kafka'),
  mongodb: ofEngine('mongodb'),
  eventstoredb: ofEngine('eventstoredb'),
  roles: ROLE_SPECS,
  e2e: E2E_SPECS,
  attacks: ATTACK_SPECS,
  copies: COPY_SPECS,
  faults: FAULT_SPECS,
};

interface Options {
  readonly docker: boolean;
  readonly only: readonly Part[];
  readonly json?: boolean;
  readonly outputFile?: string;
  readonly runInBand?: boolean;
  readonly runTestsByPath?: readonly string[];
}

const parts = (text: string): readonly Part[] =>
  text.split(',').map((name) => {
    const known = PARTS.find((part) => part === name);
    if (known === undefined) throw new InvalidArgumentError(`"${name}" is none of ${PARTS.join(', ')}`);
    return known;
  });

const options = new Command('test:engines')
  .description(
    'Starts Kafka, FerretDB in the place of MongoDB, and the EventStoreDB of SLUICE_TEST_EVENTSTORE_HOME, runs the ' +
      'suites of the adapters and the black-box specs on them, and says what ran on what. A server given as ' +
      'SLUICE_KAFKA_BROKERS, SLUICE_MONGO_URL or SLUICE_EVENTSTORE_URL is used instead.',
  )
  .option('--docker', 'use the engines of docker-compose.yml', false)
  .option('--only <parts>', `some of ${PARTS.join(', ')}`, parts, PARTS)
  .option('--json', 'with --outputFile, as Jest has it')
  .option('--outputFile <file>', 'results of all specs, in the terms of Jest')
  .option('--runInBand', 'one spec after the other, as in any case, as Jest has it')
  .option('--runTestsByPath <files...>', 'only these specs, as Jest has it')
  .parse()
  .opts<Options>();

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const commands = new Commands();

/** The specs of the patterns, or those of them that were asked for. */
const chosen = (patterns: readonly string[]): readonly string[] =>
  options.runTestsByPath?.filter((file) => patterns.some((pattern) => new RegExp(pattern).test(file))) ?? patterns;

/** Runs the adapter's suites on one engine. */
const runEngine = async (name: EngineName, server: Server): Promise<Row> => {
  const { title, adapter, ownServer, variable } = SUITES[name];
  switch (server.on) {
    case 'broken':
      return { title, on: server.on, reason: server.reason };
    case 'not run':
      return {
        title,
        on: server.on,
        reason: server.reason,
        specs: specsOf({ tier: 'engines', patterns: chosen([adapter]) }),
      };
    case 'real server':
    case 'stand-in': {
      say(`\n${title}: suites on ${server.version} (${server.on})`);
      const env = { [variable]: server.address };
      const patterns = chosen(server.ours ? [adapter, ...ownServer] : [adapter]);
      const figures = await runJest(commands, { tier: 'engines', patterns, env });
      return { title, version: server.version, on: server.on, figures };
    }
  }
};

/** Kafka's suites take as long as all others and mostly wait, so these run beside them. */
const runEngines = async (names: readonly EngineName[], { of }: Servers): Promise<Row[]> => {
  const runAll = async (some: readonly EngineName[]): Promise<Row[]> => {
    const rows: Row[] = [];
    for (const name of some) rows.push(await runEngine(name, of[name]));
    return rows;
  };
  const isKafka = (name: EngineName): boolean => name === 'kafka';
  const [kafka, others] = await Promise.all([
    runAll(names.filter(isKafka)),
    runAll(names.filter((name) => !isKafka(name))),
  ]);
  return [...kafka, ...others];
};

/** Runs the black-box specs with each role as a process on all three engines. */
const runRoles = async ({ of }: Servers, title: string, part: Part): Promise<Row> => {
  const patterns = chosen(SPECS[part]);
  const down = ENGINES.filter((name) => of[name].on === 'not run' || of[name].on === 'broken');
  if (down.length > 0) {
    const reason = `needs ${down.map((name) => SUITES[name].title).join(' and ')}`;
    return { title, on: 'not run', reason, specs: specsOf({ tier: 'e2e,engines', patterns }) };
  }
  say(`\n${title}: black-box specs`);
  const env: Record<string, string> = { SLUICE_TEST_DEPLOYMENT: 'roles' };
  for (const name of ENGINES) env[SUITES[name].variable] = addressOf(of[name]);
  const figures = await runJest(commands, { tier: 'e2e,engines', patterns, env });
  const standIns = ENGINES.some((name) => of[name].on === 'stand-in');
  return { title, version: 'all three', on: standIns ? 'with a stand-in' : 'real server', figures };
};

/** Runs the specs that kill roles and engines. */
const runFaults = async (servers: Servers): Promise<Row> => {
  const title = 'roles and engines that die';
  const missing = missingForOwnServers(servers);
  if (missing !== undefined) return { title, on: 'not run', reason: missing, specs: chosen(FAULT_SPECS).length };
  say(`\n${title}: on servers of their own`);
  const figures = await runJest(commands, { tier: 'engines', patterns: chosen(FAULT_SPECS), env: {} });
  return { title, version: 'all three', on: 'with a stand-in', figures };
};

const addressOf = (server: Server): string => ('address' in server ? server.address : '');

const run = async (): Promise<readonly Row[]> => {
  const asked = (part: Part): boolean => options.only.includes(part) && chosen(SPECS[part]).length > 0;
  const servers = await openServers({
    wanted: ON_ROLES.some(asked) ? ENGINES : ENGINES.filter(asked),
    docker: options.docker,
    commands,
    say,
  });
  try {
    const rows = await runEngines(ENGINES.filter(asked), servers);
    if (asked('roles')) rows.push(await runRoles(servers, 'every role a process', 'roles'));
    if (asked('e2e')) rows.push(await runRoles(servers, 'every role a process, all specs', 'e2e'));
    if (asked('attacks')) rows.push(await runRoles(servers, 'every role a process, attacked', 'attacks'));
    if (asked('copies')) rows.push(await runRoles(servers, 'two processes a role', 'copies'));
    if (asked('faults')) rows.push(await runFaults(servers));
    return rows;
  } finally {
    await servers.stop();
  }
};

commands.listen();
try {
  const rows = await run();
  process.stdout.write(`\n${tableOf(rows)}\n`);
  if (options.outputFile !== undefined) writeFileSync(options.outputFile, JSON.stringify(reportOf(rows)));
  process.exitCode = rows.some(failed) ? 1 : 0;
} catch (error) {
  say(error instanceof Interrupted ? 'interrupted: servers are stopped' : `test:engines: ${messageOf(error)}`);
  process.exitCode = error instanceof Interrupted ? 130 : 1;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
