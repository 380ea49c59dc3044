import { existsSync } from 'node:fs';
import { request } from 'undici';
import { ApiClient } from '#test/harness/api-client.js';
import { Server } from '#test/harness/server.js';
import { WebhookReceiver } from '#test/harness/webhook-receiver.js';
import { runFeedPart, type FeedFigures } from './feed-part.js';
import { allGithubDeliveries } from './github-payloads.js';
import { runGithubPart, type GithubFigures, type Stage } from './github-part.js';

/** `npm run demo`: runs the main job on a new instance and checks its figures. Leaves nothing behind. */
const demo = async (): Promise<number> => {
  const server = new Server();
  const receiver = await WebhookReceiver.start();
  const api = new ApiClient(server);
  const wrong: string[] = [];
  try {
    await server.start();
    say(`Sluice is ready at ${server.url} after ${Math.round(server.readyMs)} ms, data in ${server.dataDir}`);
    say(`A webhook receiver listens at ${receiver.url}`);
    const stage: Stage = { server, api, receiver };
    wrong.push(...(await showGithub(stage)), ...(await showFeed(stage)));
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error));
    say(`\nLast output of the server:\n${server.lastOutput.slice(-4_000)}`);
  } finally {
    wrong.push(...(await cleanUp(server, api, receiver)));
  }
  if (wrong.length === 0) {
    say('\nAll figures are right; process, port and files are gone.');
    return 0;
  }
  say(`\nNOT as it should be:\n${wrong.map((line) => `  - ${line}`).join('\n')}`);
  return 1;
};

const showGithub = async (stage: Stage): Promise<string[]> => {
  const deliveries = allGithubDeliveries();
  say(
    `\n1. GitHub webhook source: ${deliveries.length} payloads of @octokit/webhooks-examples, every fourth sent twice`,
  );
  const startedAt = performance.now();
  const figures = await runGithubPart(stage, deliveries);
  table([
    ['sent', figures.sent, `${figures.payloads} payloads + ${figures.repeats} repeats under the same delivery id`],
    ['emitted', figures.emitted, 'in the history of the source'],
    ['deduped', figures.deduped, 'repeats that were not emitted again'],
    ['delivered', figures.delivered, 'at the webhook receiver, both signatures checked'],
    ['lost', figures.lost, ''],
    ['duplicates', figures.duplicates, 'deliveries that arrived twice'],
    ['refused', figures.refused, `of ${figures.forged} with a forged signature, answered 401`],
  ]);
  say(`   took ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return checkGithub(figures);
};

const checkGithub = (f: GithubFigures): string[] => [
  ...equal('GitHub: emitted', f.emitted, f.payloads),
  ...equal('GitHub: deduped', f.deduped, f.repeats),
  ...equal('GitHub: delivered', f.delivered, f.payloads),
  ...equal('GitHub: lost', f.lost, 0),
  ...equal('GitHub: duplicates', f.duplicates, 0),
  ...equal('GitHub: deliveries with a bad signature', f.badSignatures, 0),
  ...equal('GitHub: altered payloads', f.altered, 0),
  ...equal('GitHub: forged requests refused', f.refused, f.forged),
];

const showFeed = async (stage: Stage): Promise<string[]> => {
  say('\n2. Feed source: polls a growing Atom feed, on request and by its timer (every 15 s, so this takes a moment)');
  const figures = await runFeedPart(stage, { awaitTick: true });
  table([
    ['published', figures.published, 'items in the feed at the end'],
    ['polls', figures.polls, `of which ${figures.notModified} answered "not modified"`],
    ['read', figures.read, 'items in all polls together'],
    ['emitted', figures.emitted, 'in the history of the source'],
    ['deduped', figures.deduped, 'items that were known already'],
    ['delivered', figures.delivered, 'at the webhook receiver'],
    ['lost', figures.lost, ''],
    ['duplicates', figures.duplicates, ''],
  ]);
  return checkFeed(figures);
};

const checkFeed = (f: FeedFigures): string[] => [
  ...equal('Feed: emitted', f.emitted, f.published),
  ...equal('Feed: delivered', f.delivered, f.published),
  ...equal('Feed: lost', f.lost, 0),
  ...equal('Feed: duplicates', f.duplicates, 0),
  ...equal('Feed: deliveries out of order', f.disordered, 0),
  ...(f.notModified > 0 ? [] : ['Feed: no poll was answered 304, so ETag was not kept between runs']),
  ...(f.deduped > 0 ? [] : ['Feed: no item was deduped']),
];

/** Stops everything, then verifies that it is gone. */
const cleanUp = async (server: Server, api: ApiClient, receiver: WebhookReceiver): Promise<string[]> => {
  const left: string[] = [];
  const url = server.isRunning ? server.url : undefined;
  await api.close();
  try {
    await server.close();
  } catch (error) {
    left.push(error instanceof Error ? error.message : String(error));
  }
  await receiver.close();
  if (existsSync(server.dataDir)) left.push(`${server.dataDir} was left behind`);
  if (url !== undefined && (await answers(url))) left.push(`${url} still answers`);
  return left;
};

const answers = async (url: string): Promise<boolean> => {
  try {
    await (await request(`${url}/healthz`, { reset: true })).body.dump();
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
};

const equal = (what: string, actual: number, expected: number): string[] =>
  actual === expected ? [] : [`${what}: ${actual}, expected ${expected}`];

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const table = (rows: readonly (readonly [string, number, string])[]): void => {
  for (const [name, value, note] of rows) say(`   ${name.padEnd(11)}${String(value).padStart(6)}   ${note}`.trimEnd());
};

process.exitCode = await demo();
