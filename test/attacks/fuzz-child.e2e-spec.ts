import { describe, expect, it } from '@jest/globals';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance({ env: { SLUICE_RUN_TIMEOUT_S: '5' } });

const RUNS = 24;

/** Writes records to its process's socket to the server, valid at first, then with more and more faults. */
const FUZZER = componentCode({
  head: `const fs = require('node:fs');
    const randomOf = (seed) => () => { seed = (seed + 0x6d2b79f5) >>> 0; let t = Math.imul(seed ^ (seed >>> 15), seed | 1); t ^= t + Math.imul(t ^ (t >>> 7), t | 61); return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32; };
    const record = (index, json, raw) => { const head = Buffer.alloc(12); const a = Buffer.from(json); const b = Buffer.from(raw); head.writeUInt32LE(index >>> 0, 0); head.writeUInt32LE(a.length, 4); head.writeUInt32LE(b.length, 8); return Buffer.concat([head, a, b]); };
    const write = (bytes) => { for (let at = 0; at < bytes.length;) try { at += fs.writeSync(4, bytes, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; } };`,
  members: `async run(event) {
    if (event.body.mild) return this.$emit('mild');
    const { seed, faults } = event.body;
    const random = randomOf(seed);
    const pick = (from) => from[Math.floor(random() * from.length)];
    // The process has sent its own records by then.
    await new Promise((r) => setTimeout(r, 30));
    const words = ['', 'x', '$errors', '__proto__', 'half\\ud800', 'a\\u0000', 'i'.repeat(8192), 's'.repeat(16385), 'c'.repeat(1025), '\\u{1F600}'];
    const any = () => pick([...words, 0, -1, 1e308, null, true, [], {}, [[]], { a: 1 }]);
    for (let index = 2, sent = 0; sent < 450; sent++, index++) {
      const good = [['e', 1, 'c' + (index % 50), 'id' + index, 'sum', 5], ['l', 1, 'console.log', 5], ['b', 1, 'key', 0]];
      const isFault = random() * 450 < faults;
      const message = isFault ? [pick(['e', 'l', 'b', 'r', 'd', 'x', 's', 'ready', 'zz']), pick([1, 1, 2, -1, any()]), any(), any(), any(), any()].slice(0, pick([6, 6, 4, 3])) : pick(good);
      const bytes = record(isFault ? pick([index, index, index + 1, 0]) : index, JSON.stringify(message), isFault ? pick(['1', '{', '['.repeat(400), 'x'.repeat(70000)]) : '1');
      if (isFault && random() < 0.3) bytes.writeUInt32LE(pick([0, 7000000, 4294967295]), pick([4, 8]));
      write(bytes);
    }
    await new Promise((r) => setTimeout(r, 30));
  },`,
});

describe(`${RUNS * 450} records, written by a component itself`, () => {
  it("end only its own runs, and the server and another source's events are unaffected", async () => {
    const neighbour = await instance.deploy(relayCode('Neighbour'));
    const heard = await instance.listen(neighbour.id);
    const fuzzer = await instance.deploy(FUZZER);
    const startedAt = await startTime();
    // Control: valid records are taken as the component's own. It runs alone, because other runs would break the order.
    await instance.post(fuzzer, { seed: 0, faults: 0 });
    const [first] = await instance.history(fuzzer, 1, 'c2');
    expect(first?.event).toBe(1);
    for (let n = 0; n < RUNS; n++) {
      expect((await instance.post(fuzzer, { seed: n, faults: 2 ** (n % 6) })).status).toBe(200);
      expect((await instance.post(neighbour, { n })).status).toBe(200);
    }
    await instance.receiver.until('all of the neighbour', () => instance.arrived(heard).length >= RUNS);
    // Deliveries use several connections, so they arrive in any order.
    const numbers = instance.arrived(heard).map((body) => (body as { n: number }).n);
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: RUNS }, (_, n) => n));
    await instance.post(fuzzer, { mild: true });
    await eventually('the run after them', async () =>
      (await instance.payloads(fuzzer, 0)).includes('mild') ? true : undefined,
    );
    expect((await instance.payloads(fuzzer, 10, '$errors')).length).toBeGreaterThanOrEqual(10);
    expect((await instance.api.call('GET', '/readyz')).status).toBe(200);
    expect(await startTime()).toBe(startedAt);
  }, 120_000);
});

/** Another value would mean another process. */
const startTime = async (): Promise<string | undefined> => {
  const { text } = await instance.api.call('GET', '/metrics');
  return /^process_start_time_seconds (\S+)$/m.exec(text)?.[1];
};
