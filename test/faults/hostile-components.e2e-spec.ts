import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type EventSummary, type Source } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP, relayCode } from '#test/harness/component-code.js';
import { jsonOf } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

/** Short, so that the endless runs end soon. Long enough for the greedy ones to meet their own limit first. */
const instance = useInstance({ env: { SLUICE_RUN_TIMEOUT_S: '8' } });
let neighbour: Source;
let heard: string;
let count = 0;

beforeAll(async () => {
  neighbour = await instance.deploy(relayCode('Neighbour'));
  heard = await instance.listen(neighbour.id);
}, 30_000);

/** After each of them the server is the same process, and another source's event still reaches its webhook. */
afterEach(async () => {
  const n = ++count;
  expect((await instance.post(neighbour, { n })).status).toBe(200);
  await instance.receiver.until(`event ${n} of the neighbour`, () => instance.arrived(heard).length >= n);
  expect(instance.arrived(heard)).toHaveLength(n);
  expect((await instance.api.call('GET', '/readyz')).status).toBe(200);
}, 30_000);

const hostile = (statements: string): string =>
  componentCode({
    members: `async run(event) { if (event.body.mild) { this.$emit('mild'); return; } ${statements} },`,
  });

/** Its run fails and shows in `$errors`, and the next run of the same source works. */
const failsAlone = async (statements: string): Promise<EventSummary> => {
  const source = await instance.deploy(hostile(statements));
  expect((await instance.post(source, {})).status).toBe(200);
  const [error] = await instance.history(source, 1, '$errors');
  await instance.post(source, { mild: true });
  await eventually('its next run', async () =>
    (await instance.payloads(source, 0)).includes('mild') ? true : undefined,
  );
  return error as EventSummary;
};

/** True when its run has emitted or failed. */
const ended = (source: Source): Promise<boolean> =>
  eventually(`the end of a run of ${source.id}`, async () => {
    const said = [...(await instance.payloads(source, 0)), ...(await instance.payloads(source, 0, '$errors'))];
    return said.length > 0 ? true : undefined;
  });

const codeOf = (error: EventSummary): unknown => (error.event as { error: { code: unknown } }).error.code;

describe('a component that', () => {
  it('throws', async () => {
    const error = await failsAlone(`throw new Error('on purpose');`);
    expect(error.event).toMatchObject({ error: { message: 'on purpose', code: 'Error' } });
  });

  it.each(['undefined', 'null', '"text"', '{ toString() { throw 1; } }', 'Object.create(null)'])(
    'throws %s',
    async (what) => {
      await failsAlone(`throw ${what};`);
    },
  );

  it('throws outside of its run', async () => {
    const source = await instance.deploy(
      hostile(`setImmediate(() => { throw new Error('later'); }); await new Promise((r) => setTimeout(r, 200));`),
    );
    await instance.post(source, {});
    const [error] = await instance.history(source, 1, '$errors');
    expect(JSON.stringify(error?.event)).toContain('later');
  });

  it('exits the process', async () => {
    expect(codeOf(await failsAlone('this.$emit("before"); process.exit(3);'))).toBe('ProcessExited');
  });

  it('kills its own process, as the kernel does when memory runs out', async () => {
    const error = await failsAlone('process.kill(process.pid, "SIGKILL"); await new Promise(() => {});');
    expect(codeOf(error)).toMatch(/OutOfMemory|ProcessExited/);
  });

  it('allocates without end', async () => {
    const error = await failsAlone('const all = []; for (;;) all.push(new Array(100_000).fill(Math.random()));');
    expect(codeOf(error)).toMatch(/OutOfMemory|ProcessExited/);
  }, 90_000);

  it('allocates buffers without end', async () => {
    const source = await instance.deploy(hostile('const all = []; for (;;) all.push(Buffer.alloc(32_000_000, 1));'));
    await instance.post(source, {});
    expect(await instance.history(source, 1, '$errors')).toHaveLength(1);
  }, 90_000);

  it('floods emits: the run ends with an error that names the limit', async () => {
    const source = await instance.deploy(
      hostile(`const big = 'x'.repeat(100_000); for (let n = 0; n < 1_000; n++) this.$emit({ n, big });`),
    );
    await instance.post(source, {});
    const [error] = await instance.history(source, 1, '$errors');
    expect(JSON.stringify(error?.event)).toMatch(/6 ?MB|6291456|6,291,456|6000000|limit/i);
  }, 90_000);

  it('floods logs: its logs stay bounded', async () => {
    const source = await instance.deploy(
      hostile(
        `for (let n = 0; n < 200_000; n++) console.log('line ' + n + ' ' + 'y'.repeat(200)); this.$emit('done');`,
      ),
    );
    await instance.post(source, {});
    await ended(source);
    expect((await instance.payloads(source, 1, '$logs')).length).toBeLessThanOrEqual(100);
  }, 90_000);

  it('writes to the socket of its own sandbox', async () => {
    const source = await instance.deploy(
      hostile(`
        const { readdirSync, writeSync } = await import('node:fs');
        for (const fd of readdirSync('/proc/self/fd').map(Number)) { if (fd > 2) try { writeSync(fd, 'garbage'.repeat(1000)); } catch {} }
        this.$emit('tried');`),
    );
    await instance.post(source, {});
    await ended(source);
  });

  it('reads or reaches resources of others', async () => {
    const code = componentCode({
      props: CUSTOM_HTTP,
      members: `async run() {
        const fs = await import('node:fs');
        const { execSync } = await import('node:child_process');
        const tried = {};
        const attempt = async (name, work) => { try { tried[name] = String(await work()).slice(0, 200); } catch (error) { tried[name] = 'refused'; } };
        await attempt('data', () => fs.readdirSync(${JSON.stringify('DATA_DIR')}));
        await attempt('parent', () => fs.readFileSync('/proc/' + process.ppid + '/environ', 'utf8'));
        await attempt('spawn', () => execSync('id'));
        await attempt('metadata', () => fetch('http://169.254.169.254/').then((r) => r.status));
        this.http.respond({ status: 200, body: tried });
      },`,
    }).replace('DATA_DIR', instance.server.dataDir);
    const answer = await instance.post(await instance.deploy(code), {});
    expect(answer.text).not.toContain(instance.server.apiKey);
    expect(jsonOf(answer)).toMatchObject({ data: 'refused', spawn: 'refused', metadata: 'refused' });
  });

  it('hangs: its run is ended at the limit, and its other runs go on meanwhile', async () => {
    const source = await instance.deploy(hostile('await new Promise(() => {});'));
    await instance.post(source, {});
    await instance.post(source, { mild: true });
    expect(await instance.payloads(source, 1)).toEqual(['mild']);
  });
});

describe('a limit of time', () => {
  it('ends an endless loop, answers its caller 504, and shows as Timeout', async () => {
    const source = await instance.deploy(componentCode({ props: CUSTOM_HTTP, members: 'run() { for (;;); },' }));
    const answer = await instance.post(source, {});
    expect(answer.status).toBe(504);
    const [error] = await instance.history(source, 1, '$errors');
    expect(codeOf(error as EventSummary)).toBe('Timeout');
  }, 120_000);
});
