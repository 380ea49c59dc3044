import { setTimeout as pause } from 'node:timers/promises';
import { type ApiClient, endpointOf, type Source } from './api-client.js';
import { componentCode, relayCode } from './component-code.js';
import { send } from './http.js';
import { type TestServer } from './server.js';

/** Hostile sources that pile up work, by behaviour. */
export interface HostileSources {
  /** Each event causes ten more for the same source, up to the hop limit. */
  readonly loop: Source;
  /** Each event causes 5,000 events for a listener that sleeps. */
  readonly burst: Source;
  /** An endpoint whose runs are so slow that a post waits longer for room than the server allows. */
  readonly slow: Source;
  /** A source whose webhook receiver never answers. */
  readonly hung: Source;
}

export const SLEEP_MS = 200;
/** Ten at once end two runs a second. So the last of eight waiting posts waits four seconds and is refused after two. */
const SLOW_RUN_MS = 5_000;
const BURST = 5_000;
const AT_ONCE = 8;

const emitting = (count: number): string =>
  componentCode({ members: `run() { for (let i = 0; i < ${count}; i++) this.$emit({ i }); },` });

const sleeping = (ms: number): string =>
  componentCode({ members: `async run() { await new Promise((resolve) => setTimeout(resolve, ${ms})); },` });

/** @param hangingUrl URL of a receiver that never answers. */
export const deployHostile = async (api: ApiClient, hangingUrl: string): Promise<HostileSources> => {
  const deploy = (code: string): Promise<Source> => api.createSource({ component_code: code });
  const loop = await deploy(emitting(10));
  await api.subscribe(loop.id, loop.id);
  const burst = await deploy(emitting(BURST));
  await api.subscribe(burst.id, (await deploy(sleeping(SLEEP_MS))).id);
  const slow = await deploy(sleeping(SLOW_RUN_MS));
  const hung = await deploy(relayCode());
  await api.subscribe(hung.id, (await api.createWebhook(hangingUrl)).id);
  return { loop, burst, slow, hung };
};

export interface Answers {
  readonly statuses: Record<number, number>;
  /** Codes of the answers that were refusals. */
  readonly refusals: Set<string>;
}

/**
 * Posts to each source, eight at a time, until `stop`. `perSecond` sets the rate of each. Then the measurement shows
 * the sources' work and not the cost of posting.
 */
export const attack = (
  server: TestServer,
  hostile: HostileSources,
  perSecond?: number,
): { readonly answers: Record<keyof HostileSources, Answers>; stop(): Promise<void> } => {
  const none = (): Answers => ({ statuses: {}, refusals: new Set() });
  const answers = { loop: none(), burst: none(), slow: none(), hung: none() };
  let going = true;
  const keepPosting = async (name: keyof HostileSources): Promise<void> => {
    const { statuses, refusals } = answers[name];
    const url = endpointOf(server, hostile[name]);
    while (going) {
      const { status, text } = await send(url, { body: { hostile: name } });
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== 200) refusals.add(text);
      if (perSecond !== undefined) await pause((AT_ONCE * 1_000) / perSecond);
    }
  };
  const names = Object.keys(answers) as (keyof HostileSources)[];
  const posting = names.flatMap((name) => Array.from({ length: AT_ONCE }, () => keepPosting(name)));
  return {
    answers,
    async stop() {
      going = false;
      await Promise.all(posting);
    },
  };
};
