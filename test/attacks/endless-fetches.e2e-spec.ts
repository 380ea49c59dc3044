import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { relayCode } from '#test/harness/component-code.js';
import { endsWithUs } from '#test/harness/ends-with-us.js';
import { useStandalone } from '#test/harness/instance.js';
import { addWorkspace, type SecondWorkspace } from '#test/harness/second-workspace.js';
import { tempDir } from '#test/harness/temp-dir.js';
import { eventually } from '#test/harness/wait.js';
import { measured, rssMb } from './cost-to-others.js';

const ATTACKS = 900;
const GROWN_MB = 250;
/** Fetches of a user at once. */
const SLOTS = 4;
/** The next fetch may arrive before the end of the former is noticed here. Each lasts for 10 s. */
const UNHEARD_MS = 3_000;
/** A component of a neighbour is fetched, and built in a jail, on a slow machine. */
const DELAY_MS = 15_000;
/** Just below the limit of a file. Each piece is a chunk of its own. */
const [PIECES, PIECE] = [500, 'x'.repeat(2_000)];

const instance = useStandalone();
let mallory: SecondWorkspace;
let web: Server;
let base: string;
let open = 0;
let mostOpen = 0;
/** Start of the time with more open fetches than slots, and the longest such time. */
let overSince: number | undefined;
let longestOverMs = 0;
const agent = new Agent({ connections: ATTACKS });

const overMs = (): number => (overSince === undefined ? 0 : performance.now() - overSince);
const opened = (change: 1 | -1): void => {
  open += change;
  mostOpen = Math.max(mostOpen, open);
  longestOverMs = Math.max(longestOverMs, overMs());
  if (open <= SLOTS) overSince = undefined;
  else overSince ??= performance.now();
};

beforeAll(async () => {
  mallory = await addWorkspace(instance, 'mallory');
  web = createServer((req, res) => {
    if (req.url?.startsWith('/code') === true) return void res.end(relayCode());
    opened(1);
    res.on('close', () => opened(-1));
    if (req.url?.startsWith('/silent') === true) return;
    res.write('//');
    void (async () => {
      for (let n = 0; n < PIECES && !res.destroyed; n++) {
        res.write(PIECE);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
  });
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
}, 60_000);
afterAll(async () => {
  await agent.destroy();
  web.closeAllConnections();
  web.close();
  await mallory.api.close();
});

const save = async (apiKey: string, componentUrl: string): Promise<{ status: number; body: unknown }> => {
  const reply = await request(`${instance.server.url}/v1/components`, {
    method: 'POST',
    dispatcher: agent,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ component_url: componentUrl }),
    headersTimeout: 0,
  });
  return { status: reply.statusCode, body: await reply.body.json() };
};

/** A program that makes a given number of fetches at once, and keeps the arrived pieces. */
const unbounded = (): ChildProcess => {
  const file = join(tempDir('unbounded'), 'fetch.mjs');
  writeFileSync(
    file,
    `import { get } from 'node:http';
    const all = [];
    process.on('message', ({ base, count }) => {
      for (let n = 0; n < count; n++)
        get(base + '/endless/' + n, (reply) => { const parts = []; all.push(parts); reply.on('data', (part) => parts.push(part)); });
    });
    process.send('ready');`,
  );
  const child = fork(file, { stdio: 'ignore' });
  endsWithUs(child);
  return child;
};

// docs/reference/component-model.md#fetch-turns
describe(`${ATTACKS} component_url that never end`, () => {
  it.each(['endless', 'silent'])(
    `cost less than ${GROWN_MB} MB, are refused with the limit, and delay no component of others: %s`,
    async (kind) => {
      longestOverMs = 0;
      const refused: { status: number; body: unknown }[] = [];
      let answered = 0;
      let n = 0;
      const attack = async (): Promise<void> => {
        for (let i = 0; i < ATTACKS; i++)
          void save(mallory.apiKey, `${base}/${kind}/${i}.mjs`)
            .then((reply) => {
              answered++;
              if (reply.status === 429) refused.push(reply);
            })
            .catch(() => undefined);
        await eventually('the refusals', () => (refused.length > ATTACKS - 100 ? true : undefined), 60_000);
      };
      const { grownMb, delayMs } = await measured(instance.server, attack, 2_000, async () => {
        const reply = await save(instance.server.apiKey, `${base}/code-${kind}-${n++}.mjs`);
        expect([reply.status, reply.body]).toMatchObject([200, { data: { id: expect.any(String) } }]);
      });
      expect(grownMb).toBeLessThan(GROWN_MB);
      expect(delayMs).toBeLessThan(DELAY_MS);
      // Four fetches run and fifty wait, so the user's slots are used up, and another one is refused (the control).
      await eventually('four fetches', () => (open === SLOTS ? true : undefined), 30_000);
      expect(Math.max(longestOverMs, overMs())).toBeLessThan(UNHEARD_MS);
      expect(answered).toBeLessThan(ATTACKS);
      expect(refused[0]?.body).toMatchObject({ code: 'too_many_fetches', details: { limit: 50, actual: 51 } });
      expect(await save(mallory.apiKey, `${base}/code.mjs`)).toMatchObject({ status: 429 });
      // Code that comes with its request waits for none of them.
      expect((await mallory.api.createSource({ component_code: relayCode() })).id).toMatch(/^dc_/);
      await instance.server.restart();
    },
    120_000,
  );

  it('cost more where nothing stops them (the control)', async () => {
    const child = unbounded();
    try {
      await once(child, 'message');
      const pid = child.pid ?? 0;
      const before = rssMb(pid);
      child.send({ base, count: ATTACKS });
      const costs = async (): Promise<true | undefined> => (rssMb(pid) - before > GROWN_MB ? true : undefined);
      await eventually(`a process that holds more than ${GROWN_MB} MB`, costs, 150_000);
      expect(mostOpen).toBeGreaterThan(ATTACKS / 2);
    } finally {
      child.kill();
    }
  }, 180_000);
});
