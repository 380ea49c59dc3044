import { Kafka, logLevel } from 'kafkajs';
import { MongoClient, type Db } from 'mongodb';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { type Source } from '#test/harness/api-client.js';
import { Deployment, type RoleName } from '#test/harness/deployment.js';
import { Instance } from '#test/harness/instance.js';
import { type Server } from '#test/harness/server.js';
import { eventually } from '#test/harness/wait.js';

/**
 * Things that a process created at its start are deleted: by an administrator, or by other processes while it is
 * stopped (SIGSTOP). What maintenance and the registry do after minutes is done here at once.
 */
const WITHIN_MS = 30_000;
const instance = new Instance(new Deployment());
let kafka: Kafka;
let mongo: MongoClient;
let db: Db;
let answering: Source;

const HOOKS = `hooks: { async deploy() {}, async activate() {}, async deactivate() {} },`;
const RESPONDS = `run(event) { this.http.respond({ status: 201, body: 'made' }); },`;
const code = (): string => componentCode({ props: CUSTOM_HTTP, members: HOOKS + RESPONDS });
const settings = (): Readonly<Record<string, string>> => instance.server.settings;
const prefix = (): string => `${settings()['SLUICE_PREFIX'] ?? ''}.`;

beforeAll(async () => {
  await instance.start();
  kafka = new Kafka({
    clientId: 'spec',
    brokers: (settings()['SLUICE_KAFKA_BROKERS'] ?? '').split(','),
    logLevel: logLevel.NOTHING,
  });
  mongo = await MongoClient.connect(settings()['SLUICE_MONGO_URL'] ?? '');
  db = mongo.db();
  answering = await instance.deploy(code());
  await works();
}, 400_000);
afterAll(async () => {
  await mongo?.close();
  await instance.close();
}, 400_000);

/** A custom response and a deployment with hooks. */
const works = async (): Promise<void> => {
  const until = (what: string, act: () => Promise<boolean>): Promise<true> =>
    eventually(what, async () => ((await act()) ? true : undefined), WITHIN_MS, 250);
  await until('a custom response', async () => (await instance.post(answering, {})).status === 201);
  await until('a deployment', async () => (await instance.deploy(code())).id !== '');
};

const deleteTopics = async (topics: readonly string[]): Promise<void> => {
  const admin = kafka.admin();
  await admin.connect();
  try {
    await admin.deleteTopics({ topics: [...topics] });
  } finally {
    await admin.disconnect();
  }
};
const replyTopics = async (): Promise<readonly string[]> => {
  const admin = kafka.admin();
  await admin.connect();
  try {
    return (await admin.listTopics()).filter((topic) => topic.startsWith(`${prefix()}replies.`)).sort();
  } finally {
    await admin.disconnect();
  }
};

const roleOf = (name: RoleName): Server => {
  const [role] = instance.server.processes[name];
  if (!role) throw new Error(`there is no ${name}`);
  return role;
};
const idOf = (role: Server): string => /"id":"(proc_\w+)"/.exec(role.lastOutput)?.[1] ?? '';
const lines = (role: Server, text: string): number =>
  role.lastOutput.split('\n').filter((line) => line.includes(text)).length;
const readyOf = async (role: Server): Promise<string> => (await fetch(`${role.url}/readyz`)).text();

// docs/adr/0011
describe('what a process made at its start', () => {
  it('is made anew when an administrator deletes the topics of answers, with one line and one more at the end', async () => {
    const before = await replyTopics();
    expect(before).toHaveLength(2);
    await deleteTopics(before);
    await works();
    await eventually('both said so', () => {
      const roles = [roleOf('command-api'), roleOf('ingress')];
      return roles.every((role) => lines(role, '"msg":"over: reply.topic_gone') === 1) || undefined;
    });
    expect(await replyTopics()).toEqual(before);
    for (const role of ['command-api', 'ingress'] as const) {
      expect(lines(roleOf(role), '"msg":"reply.topic_gone')).toBe(1);
      expect(JSON.parse(await readyOf(roleOf(role)))).toMatchObject({ status: 'ready', checks: { answers: 'ok' } });
    }
  }, 120_000);

  it('answers a caller whose answer came while the topic was away', async () => {
    const slow = await instance.deploy(
      componentCode({
        props: CUSTOM_HTTP,
        members: `async run() { await new Promise((r) => setTimeout(r, 1_500)); this.http.respond({ status: 201 }); },`,
      }),
    );
    const waiting = instance.post(slow, {});
    await deleteTopics([`${prefix()}replies.${idOf(roleOf('ingress'))}`]);
    expect((await waiting).status).toBe(201);
  }, 120_000);

  it.each(['command-api', 'ingress', 'query-api', 'runner', 'router'] as const)(
    'is made anew by %s, which was stopped while others swept what it had',
    async (name) => {
      const role = roleOf(name);
      const id = idOf(role);
      process.kill(role.pid, 'SIGSTOP');
      try {
        // Longer than the session of its groups and than its leases.
        await pause(8_000);
        await db.collection<{ _id: string }>('processes').deleteOne({ _id: id });
        await deleteTopics((await replyTopics()).filter((topic) => topic.endsWith(id)));
      } finally {
        process.kill(role.pid, 'SIGCONT');
      }
      await works();
      await eventually('it is registered', async () => {
        return (await db.collection<{ _id: string }>('processes').findOne({ _id: id })) ?? undefined;
      });
      await eventually(
        'it is ready',
        async () => ((await readyOf(role)).includes('"ready"') ? true : undefined),
        WITHIN_MS,
      );
    },
    180_000,
  );

  it('is kept by the sweep of every process that begins to sweep, and a fixed topic is made anew', async () => {
    const before = await replyTopics();
    // The lease moves without any stop: its holder loses the document.
    for (let moves = 0; moves < 3; moves++) {
      await db.collection<{ _id: string }>('leases').deleteOne({ _id: 'maintenance' });
      await pause(2_000);
    }
    await deleteTopics([`${prefix()}attempts`]);
    await eventually(
      'the topic of attempts is there again',
      async () => {
        return instance.server.lastOutput.includes('topic.gone') || undefined;
      },
      60_000,
    );
    await works();
    expect(await replyTopics()).toEqual(before);
  }, 180_000);
});
