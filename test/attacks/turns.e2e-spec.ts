import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { endpointOf, type ApiClient, type Source } from '#test/harness/api-client.js';
import { componentCode, relayCode } from '#test/harness/component-code.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { addWorkspace } from '#test/harness/second-workspace.js';
import { eventually } from '#test/harness/wait.js';

const SLOTS = 4;
const instance = useInstance({ env: { SLUICE_SANDBOXES: String(SLOTS), SLUICE_RUN_TIMEOUT_S: '5' } });
let stranger: ApiClient;
const hogs: Source[] = [];

beforeAll(async () => {
  stranger = (await addWorkspace(instance, 'mallory')).api;
}, 120_000);

afterAll(() => stranger.close());

describe('a workspace that keeps every process busy', () => {
  // They would continue for minutes, and occupy the processes of the next spec.
  afterAll(() => Promise.all(hogs.map(({ id }) => stranger.deleteSource(id))), 60_000);

  it('gives one back to a waiting neighbour, whose events run meanwhile', async () => {
    const code = componentCode({
      props: `http: '$.interface.http', db: '$.service.db'`,
      members: 'async run() { await new Promise((resolve) => setTimeout(resolve, 1_000)); this.$emit({}); },',
    });
    for (let n = 0; n < 2 * SLOTS; n++) hogs.push(await stranger.createSource({ component_code: code }));
    const neighbour = await instance.deploy(relayCode());
    // A minute of work for each, all sent at once, so that no process is ever idle.
    await Promise.all(
      hogs.flatMap((hog) => Array.from({ length: 60 }, () => send(endpointOf(instance.server, hog), { body: {} }))),
    );
    // A neighbour that came before the processes are busy would not have to wait for one.
    const done = async (): Promise<number> =>
      Math.max(...(await Promise.all(hogs.map(async ({ id }) => (await stranger.summaries(id)).data.length))));
    await eventually(
      'a run of the busy workspace has ended',
      async () => ((await done()) > 0 ? true : undefined),
      60_000,
    );
    const webhookId = await instance.listen(neighbour.id);
    for (let n = 0; n < 5; n++) expect((await instance.post(neighbour, { n })).status).toBe(200);
    await instance.receiver.until('the events of the neighbour', () => instance.arrived(webhookId).length >= 5, 60_000);
    // Control: none of the others is done, so the neighbour would still wait for a process to finish its work.
    expect(await done()).toBeLessThan(60);
  }, 180_000);
});

describe('code that spins after its run', () => {
  it('is ended and reported in $logs, and its next run starts afresh', async () => {
    const code = (after: string): string =>
      componentCode({
        head: 'let runs = 0;',
        members: `run() { this.$emit({ runs: ++runs }); ${after} },`,
      });
    const spinning = await instance.deploy(code('setInterval(() => { for (;;); }, 10);'));
    const quiet = await instance.deploy(code('setInterval(() => undefined, 10_000);'));
    for (const source of [spinning, quiet]) await instance.post(source);
    const [log] = await instance.payloads(spinning, 1, '$logs');
    expect(JSON.stringify(log)).toMatch(/its process was ended: it used \d+ ms of the processor/);
    for (const source of [spinning, quiet]) await instance.post(source);
    expect(await instance.payloads(spinning, 2)).toEqual([{ runs: 1 }, { runs: 1 }]);
    // Control: code that only leaves a timer behind keeps its process.
    expect(await instance.payloads(quiet, 2)).toEqual([{ runs: 1 }, { runs: 2 }]);
  }, 60_000);
});
