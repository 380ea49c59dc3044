import { describe, expect, it } from '@jest/globals';
import { type HttpAnswer, jsonOf, send } from '#test/harness/http.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

interface Urls {
  readonly resume_url: string;
  readonly cancel_url: string;
  readonly confirm_url: string;
}
interface Run {
  readonly id: string;
  readonly state: string;
  readonly cancel_reason: string | null;
  readonly resumed_by: object | null;
  readonly steps: readonly { readonly namespace: string; readonly exports: Readonly<Record<string, unknown>> | null }[];
}
interface Data<T> {
  readonly data: T;
}

const { api, server } = useInstance();

const ENDED = ['succeeded', 'exited', 'failed', 'cancelled'];
const code = (body: string): string => `export default { async run({ steps, $ }) { ${body} } }`;
const SHOWS = { namespace: 'b', code: code('return steps.a.$resume_data ?? null') };

const runIn = (id: string, states: readonly string[]): Promise<Run> =>
  eventually(`run ${id} in ${states.join()}`, async () => {
    const { body } = await api.call<Partial<Data<Run>>>('GET', `/v1/runs/${id}?expand=data`);
    return body.data && states.includes(body.data.state) ? body.data : undefined;
  });
const stateOf = async (id: string): Promise<string> =>
  (await api.expect<Data<Run>>(200, 'GET', `/v1/runs/${id}`)).data.state;
const exportsOf = ({ steps }: Run, namespace: string): Readonly<Record<string, unknown>> | null | undefined =>
  steps.find((step) => step.namespace === namespace)?.exports;

/** Starts a run of a new workflow. `name` is shown on the page that confirms. */
const started = async (steps: readonly object[], name = 'w'): Promise<string> => {
  const body = { name, triggers: [{ type: 'http' }], steps };
  const { data } = await api.expect<Data<{ readonly triggers: readonly { readonly endpoint_url: string }[] }>>(
    200,
    'POST',
    '/v1/workflows',
    { body },
  );
  return String((await send(data.triggers[0]?.endpoint_url ?? '', { body: {} })).headers['x-sluice-run-id']);
};

/** A run that waits, with the addresses that its first step got. */
const waiting = async (wait: string, name?: string): Promise<Urls & { readonly id: string }> => {
  const id = await started([{ namespace: 'a', code: code(`return ${wait}`) }, SHOWS], name);
  return { id, ...(exportsOf(await runIn(id, ['waiting']), 'a')?.['$return_value'] as Urls) };
};

const told = (answer: HttpAnswer): readonly unknown[] => [answer.status, (jsonOf(answer) as { code?: string }).code];
const SUCCEEDED = [200, undefined];
const OVER = [410, 'no_longer_waiting'];

// docs/reference/workflows.md#run-urls
describe('the URLs of a waiting run', () => {
  it('39: resume it with the request, once', async () => {
    const { id, resume_url } = await waiting('$.flow.suspend()');
    expect(resume_url.startsWith(`${server.url}/r/`)).toBe(true);
    const answer = await send(`${resume_url}?a=1`, { body: { ok: 1 } });
    expect([...told(answer), answer.text]).toEqual([...SUCCEEDED, '{"success":true}']);
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    const run = await runIn(id, ENDED);
    expect([run.state, run.resumed_by]).toEqual(['succeeded', null]);
    expect(exportsOf(run, 'b')).toMatchObject({
      $return_value: { method: 'POST', query: { a: '1' }, body: { ok: 1 }, client_ip: '127.0.0.1' },
    });
    expect(told(await send(resume_url, { body: { ok: 2 } }))).toEqual(OVER);
  });

  it('40: do nothing by HEAD or by the page that confirms, and are unknown when changed', async () => {
    const { id, resume_url, confirm_url } = await waiting('$.flow.suspend()', '<i>R&D</i>');
    for (const [method, status] of [
      ['HEAD', 200],
      ['OPTIONS', 204],
    ] as const) {
      const answer = await send(resume_url, { method });
      expect([answer.status, answer.text]).toEqual([status, '']);
    }
    const page = await send(confirm_url, { method: 'GET' });
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toBe(
      "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(page.text).toContain('&lt;i&gt;R&amp;D&lt;/i&gt;');
    expect(told(await send(resume_url.replace('/resume', 'A/resume')))).toEqual([404, 'not_found']);
    expect(await stateOf(id)).toBe('waiting');

    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const action = / action="(\w+)">/.exec(page.text)?.[1] ?? '';
    expect(told(await send(new URL(action, confirm_url).href, { headers, body: '' }))).toEqual(SUCCEEDED);
    // Whoever is told that the wait has ended finds it over.
    expect((await send(confirm_url, { method: 'GET' })).status).toBe(410);
    expect((await send(resume_url, { method: 'HEAD' })).status).toBe(410);
    await runIn(id, ['succeeded']);
  });

  it('40: keep a resume that comes while the step runs', async () => {
    const body = `const { resume_url } = $.flow.suspend();
      return (await fetch(resume_url, { method: 'POST', body: 'early' })).status`;
    const run = await runIn(await started([{ namespace: 'a', code: code(body) }, SHOWS]), ENDED);
    expect(run.state).toBe('succeeded');
    expect(exportsOf(run, 'a')).toMatchObject({ $return_value: 202, $resume_data: { body: 'early' } });
  });

  it('41: cancel it by GET, and end with the time of a suspension', async () => {
    const { id, cancel_url, resume_url } = await waiting('$.flow.suspend()');
    expect(told(await send(cancel_url, { method: 'GET' }))).toEqual(SUCCEEDED);
    const run = await runIn(id, ENDED);
    expect([run.state, run.cancel_reason]).toEqual(['cancelled', 'cancel_url']);
    for (const url of [cancel_url, resume_url]) expect(told(await send(url))).toEqual(OVER);

    const late = await waiting('$.flow.suspend(1000)');
    const ended = await runIn(late.id, ENDED);
    expect([ended.state, ended.cancel_reason]).toEqual(['cancelled', 'suspend_timeout']);
    expect(told(await send(late.resume_url))).toEqual(OVER);
  });

  it('belong to one execution: those of the one before are void', async () => {
    const body = `const { context, callback_request, runs } = $.context.run;
      $.export('seen', callback_request?.body ?? null);
      return $.flow.rerun(3_600_000, { first: context?.first ?? 0 }, runs < 2 ? 10 : 1)`;
    const id = await started([{ namespace: 'a', code: code(body) }]);
    const first = exportsOf(await runIn(id, ['waiting']), 'a')?.['$return_value'] as Urls;
    expect(told(await send(first.resume_url, { body: { n: 1 } }))).toEqual(SUCCEEDED);
    const run = await runIn(id, ENDED);
    expect(exportsOf(run, 'a')).toMatchObject({ seen: { n: 1 } });
    expect((exportsOf(run, 'a')?.['$return_value'] as Urls).resume_url).not.toBe(first.resume_url);
    expect(told(await send(first.cancel_url))).toEqual(OVER);
  });

  it('stand in $attempt of a retry for its code, and are hidden in the record', async () => {
    const retry = { max_retries: 1, delay_seconds: 1 };
    const body = `if ($.context.run.attempt === 1) throw new Error('no'); return steps.a.$attempt`;
    const id = await started([{ namespace: 'a', code: code(body), retry }]);
    const shown = exportsOf(await runIn(id, ['waiting']), 'a')?.['$attempt'];
    expect(shown).toMatchObject({ cancel_url: '********', rerun_url: '********', error: { message: 'no' } });
    const { cancel_url, rerun_url } = exportsOf(await runIn(id, ['succeeded']), 'a')?.['$return_value'] as Record<
      string,
      string
    >;
    expect([cancel_url, rerun_url]).toEqual([
      expect.stringMatching(/\/r\/[^/]+\/cancel$/),
      expect.stringMatching(/\/r\/[^/]+\/resume$/),
    ]);
    expect(told(await send(rerun_url ?? ''))).toEqual(OVER);
  });

  it('46: resume it after the server was killed', async () => {
    const { id, resume_url } = await waiting('$.flow.suspend()');
    await server.kill9();
    await server.start();
    const { pathname } = new URL(resume_url);
    expect(told(await send(server.url + pathname, { body: { ok: 1 } }))).toEqual(SUCCEEDED);
    await runIn(id, ['succeeded']);
  }, 400_000);
});
