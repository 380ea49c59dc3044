import { describe, expect, it } from '@jest/globals';
import { type ErrorBody } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();
const { api } = instance;

const withSample = (sample: string, members = ''): string =>
  componentCode({ members: `${members} sampleEmit: ${sample}, run(event) { this.$emit(event.body); },` });

describe('POST /v1/sources/{id}/sample_emit', () => {
  // docs/reference/rest-api.md#source-sample-emit
  it('emits the sample, marked as a test, to the events and listeners of the source', async () => {
    const source = await instance.deploy(withSample(`{ id: 7, name: 'A sample' }`));
    const webhook = await instance.listen(source.id);
    const reply = await api.expect(200, 'POST', `/v1/sources/${source.name_slug}/sample_emit`);
    expect(reply).toEqual({ data: { emitter_id: source.id, event_name: '', test: true } });
    await instance.post(source, { real: true });
    const [sample, real] = await instance.history(source, 2);
    expect(sample?.event).toEqual({ id: 7, name: 'A sample' });
    expect(sample?.metadata).toMatchObject({ name: '', emitter_id: source.id, test: true });
    expect(real?.metadata).not.toHaveProperty('test');
    await eventually('the sample at the webhook', () => {
      const bodies = instance.arrived(webhook);
      return Promise.resolve(bodies.length >= 2 ? bodies : undefined);
    });
    expect(instance.arrived(webhook)).toContainEqual({ id: 7, name: 'A sample' });
  });

  it('passes by dedupe, and runs neither run nor a hook', async () => {
    const source = await instance.deploy(withSample(`{ id: 1 }`, `dedupe: 'unique', hooks: { deploy() {} },`));
    for (let i = 0; i < 2; i++) await api.expect(200, 'POST', `/v1/sources/${source.id}/sample_emit`);
    expect(await instance.payloads(source, 2)).toEqual([{ id: 1 }, { id: 1 }]);
    const logs = await instance.history(source, 1, '$logs');
    expect(logs.map(({ event }) => event)).toEqual([expect.objectContaining({ k: 'hook', h: 'deploy' })]);
  });

  it.each([
    ['nothing', '', 'nothing'],
    ['a function', 'sampleEmit() {},', 'a function'],
  ])('is 409 for a component that exports %s, and leaves no error', async (_title, member, found) => {
    const source = await instance.deploy(componentCode({ members: `${member} run() {},` }));
    const reply = await api.call<ErrorBody>('POST', `/v1/sources/${source.id}/sample_emit`);
    expect([reply.status, reply.body.code]).toEqual([409, 'no_sample']);
    expect(reply.body.error).toContain(`must export an event as sampleEmit; it exports ${found}`);
    expect((await api.summaries(source.id, { event_name: '$errors' })).data).toEqual([]);
  });

  it('is 422 for a sample that is not JSON, 409 for an inactive source, 404 for an unknown one', async () => {
    const source = await instance.deploy(withSample('{ big: 1n }'));
    const broken = await api.call<ErrorBody>('POST', `/v1/sources/${source.id}/sample_emit`);
    expect([broken.status, broken.body.code]).toEqual([422, 'sample_failed']);
    expect(broken.body.error).toMatch(/cannot be written as JSON/);
    await api.expect(200, 'PUT', `/v1/sources/${source.id}`, { body: { active: false } });
    const inactive = await api.call<ErrorBody>('POST', `/v1/sources/${source.id}/sample_emit`);
    expect([inactive.status, inactive.body.code]).toEqual([409, 'source_inactive']);
    const unknown = await api.call<ErrorBody>('POST', '/v1/sources/dc_nothing/sample_emit');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'source_not_found']);
    expect((await api.call('POST', `/v1/sources/${source.id}/sample_emit`, { key: null })).status).toBe(401);
  });
});

describe('what is not built yet', () => {
  // docs/reference/rest-api.md#endpoint-uploads
  it.each(['x-pd-upload-body'])('is refused at endpoints: %s', async (header) => {
    const source = await instance.deploy(componentCode({ members: 'run(event) { this.$emit(event.body); },' }));
    const answer = await instance.post(source, { a: 1 }, { [header]: '1' });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(`header ${header} is not supported yet`);
    expect((await api.summaries(source.id)).data).toEqual([]);
  });
});
