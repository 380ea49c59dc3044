import { afterAll, describe, expect, it } from '@jest/globals';
import { type Data } from '#test/harness/api-client.js';
import { send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { S3Server } from '#test/harness/s3-server.js';
import { eventually } from '#test/harness/wait.js';

interface Send {
  readonly id: string;
  readonly state: string;
}
interface Run {
  readonly state: string;
  readonly error: { readonly message: string } | null;
  readonly steps: readonly {
    readonly sends: readonly Send[];
    readonly logs: readonly { readonly k: string; readonly msg: string }[];
  }[];
}
interface Workflow {
  readonly triggers: readonly { readonly endpoint_url: string }[];
}

/** Why there is no object storage here, if so. */
let missing = '';
// Started first, because the instance gets its address.
const storage = await S3Server.start('events', 'other').catch((error: unknown) => {
  missing = String(error);
  return undefined;
});
afterAll(() => storage?.stop());

const buckets = storage
  ? [
      storage.entry('events'),
      storage.entry('other', { workspaces: ['o_another'] }),
      storage.entry('gone'),
      storage.entry('locked', { secret_access_key: 'wrong' }),
    ]
  : [];
const instance = useInstance({ env: storage ? { SLUICE_S3: JSON.stringify(buckets) } : {} });
const { api } = instance;

/** Runs a step, and resolves with the run once it has ended and nothing is queued. */
const runOf = async (code: string): Promise<Run> => {
  const steps = [{ namespace: 'a', code: `export default { async run({ $ }) { ${code} } }` }];
  const body = { name: 'Objects', triggers: [{ type: 'http' }], steps };
  const { data } = await api.expect<Data<Workflow>>(200, 'POST', '/v1/workflows', { body });
  const { headers } = await send(data.triggers[0]?.endpoint_url ?? '', { body: {} });
  return eventually(
    'the run',
    async () => {
      const reply = await api.call<Partial<Data<Run>>>('GET', `/v1/runs/${String(headers['x-sluice-run-id'])}`);
      const run = reply.body.data;
      const isDone = run && ['succeeded', 'failed'].includes(run.state);
      return isDone && sendsOf(run).every(({ state }) => state !== 'queued') ? run : undefined;
    },
    60_000,
  );
};
const sendsOf = ({ steps }: Run): readonly Send[] => steps[0]?.sends ?? [];

const described = missing === '' ? describe : describe.skip;

// docs/reference/workflows.md#send-s3
described(`$.send.s3${missing === '' ? '' : ` (skipped: ${missing})`}`, () => {
  it('writes the payload to an object of the bucket, under a key of the day, with the id of the message', async () => {
    const prefix = "größe & (1)+*!~'/x=y/";
    const run = await runOf(`$.send.s3({ bucket: 'events', prefix: ${JSON.stringify(prefix)}, payload: { a: 'ü' } })`);
    const id = expect.stringMatching(/^snd_/);
    expect(sendsOf(run)).toEqual([{ id, kind: 's3', state: 'sent', attempts: 1, status: 200, error: null }]);
    const objects = await storage?.objects('events');
    expect(objects).toHaveLength(1);
    const { key = '', text, headers } = objects?.[0] ?? {};
    expect(key.startsWith(prefix)).toBe(true);
    expect(key.slice(prefix.length)).toMatch(/^\d{4}\/\d\d\/\d\d\/[0-9a-f-]{36}\.json$/);
    expect(text).toBe('{"a":"ü"}');
    expect([headers?.get('content-type'), headers?.get('x-amz-meta-pd-send-id')]).toEqual([
      'application/json',
      sendsOf(run)[0]?.id,
    ]);
  });

  it('writes what a step sent that then threw', async () => {
    const before = (await storage?.objects('events'))?.length ?? 0;
    const run = await runOf(`$.send.s3({ bucket: 'events', prefix: '', payload: 1 }); throw new Error('no')`);
    expect([run.state, sendsOf(run)[0]?.state]).toEqual(['failed', 'sent']);
    expect(await storage?.objects('events')).toHaveLength(before + 1);
  });

  it.each([
    ['gone', 404, 'status 404: NoSuchBucket'],
    ['locked', 403, 'status 403: SignatureDoesNotMatch'],
  ])('fails for the bucket %s with what the storage answers', async (bucket, status, error) => {
    const run = await runOf(`$.send.s3({ bucket: '${bucket}', prefix: 'a', payload: 1 })`);
    expect(sendsOf(run)).toMatchObject([{ kind: 's3', state: 'failed', attempts: 1, status, error }]);
  });

  it('sends nothing to a bucket that is not open to the workspace, and warns', async () => {
    const run = await runOf(`
      $.send.s3({ bucket: 'other', prefix: 'a', payload: 1 });
      $.send.s3({ bucket: 'none', prefix: 'a', payload: 1 });`);
    const why = (bucket: string): string =>
      `the bucket "${bucket}" is not open to this workspace: the operator of the server must open it in SLUICE_S3`;
    expect(sendsOf(run)).toMatchObject(
      ['other', 'none'].map((bucket) => ({ state: 'failed', attempts: 0, status: null, error: why(bucket) })),
    );
    expect(run.steps[0]?.logs.map(({ k, msg }) => [k, msg])).toEqual(
      ['other', 'none'].map((bucket) => ['warning', `$.send.s3: not sent, because ${why(bucket)}`]),
    );
    expect(await storage?.objects('other')).toEqual([]);
  });

  it('throws at the call for a prefix that names no folder', async () => {
    const run = await runOf(`$.send.s3({ bucket: 'events', prefix: '../a', payload: 1 })`);
    expect(run.error?.message).toBe('$send.s3: invalid value "../a" for prefix');
  });

  it('gives a step neither the key nor the address of a bucket', async () => {
    const { endpoint = '', secret_access_key: secret = '' } = storage?.entry('events') ?? {};
    const run = await runOf(`
      const { readFileSync } = await import('node:fs');
      const own = ['/proc/self/environ', '/proc/1/environ'].map((file) => {
        try { return readFileSync(file, 'utf8'); } catch (error) { return String(error); }
      });
      return { seen: JSON.stringify([process.env, own]) };`);
    const text = JSON.stringify(run);
    expect(text).toContain('seen');
    for (const kept of ['SLUICE_S3', String(endpoint), String(secret)]) expect(text).not.toContain(kept);
  });
});
