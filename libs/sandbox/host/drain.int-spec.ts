import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { detectIsolation } from '../jail/detect.js';
import { type Sandbox, SandboxGone } from '../sandbox.js';
import { ComponentSandboxes } from '../testing/component-sandboxes.js';

const RUNS = 10;
const HTTP = { props: { http: { kind: 'http', endpoint: 'http://h/1' } } } as const;

describe('a process that is drained', () => {
  let sandboxes: ComponentSandboxes;
  beforeAll(async () => {
    sandboxes = await ComponentSandboxes.open(await detectIsolation('auto'));
  });
  afterAll(() => sandboxes.close());

  /** Starts ten runs and calls `then` when the `nth` reports progress. Returns the result of each run. */
  const runTen = async (sandbox: Sandbox, nth: number, then: () => void): Promise<(string | number)[]> => {
    let heard = 0;
    const onImmediateResponse = (): void => {
      if (++heard === nth) then();
    };
    const ends = Array.from({ length: RUNS }, (_, n) =>
      sandbox.run({ invocationId: `inv_${n}`, event: '{}', timeoutMs: 10_000, onImmediateResponse }).then(
        // The code numbers its runs, so that a repeated or lost run shows.
        ({ status, emits }) => (status === 'ok' ? Number(emits[0]?.payload) : status),
        (error: unknown) => (error instanceof SandboxGone ? 'gone' : String(error)),
      ),
    );
    return Promise.all(ends);
  };

  it('finishes its started runs, gives back the others, and serves hooks meanwhile', async () => {
    const code = `let n = 0, release; const going = new Promise((resolve) => { release = resolve });
      export default { name: 't', version: '1', hooks: { async activate() { release() } }, async run() {
        this.$emit(++n); this.http.respond({ status: 200, immediate: true }); await going } }`;
    const start = (): Promise<Sandbox> => sandboxes.start(code, { ...HTTP, concurrency: 2 });
    const drained = await start();
    const ends = await runTen(drained, 2, () => {
      drained.drain();
      void drained.hook('activate', 5_000);
    });
    expect(ends).toEqual([1, 2, ...Array<string>(8).fill('gone')]);
    expect(drained.alive()).toBe(true);
    const other = await start();
    // Control: a process that is not drained does all its runs.
    const all = await runTen(other, 2, () => void other.hook('activate', 5_000));
    expect(all).toEqual(Array.from({ length: RUNS }, (_, n) => n + 1));
  });

  it('gives back runs that wait behind blocking runs, although each would start right after the one before', async () => {
    const code = `let n = 0; export default { name: 't', version: '1', run() {
      this.$emit(++n); this.http.respond({ status: 200, immediate: true }); for (const end = Date.now() + 300; Date.now() < end;); } }`;
    for (const concurrency of [1, 8]) {
      const sandbox = await sandboxes.start(code, { ...HTTP, concurrency });
      const ends = await runTen(sandbox, 1, () => sandbox.drain());
      const done = ends.filter((end) => end !== 'gone');
      // Only the first run, and runs that started before the child read the drop, are done.
      expect(done.length).toBeLessThanOrEqual(5);
      expect(ends.slice(0, done.length)).toEqual(done.map((_, n) => n + 1));
    }
  }, 20_000);
});
