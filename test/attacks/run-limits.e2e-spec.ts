import { describe, expect, it } from '@jest/globals';
import { type EventSummary, type Source } from '#test/harness/api-client.js';
import { componentCode } from '#test/harness/component-code.js';
import { useStandalone } from '#test/harness/instance.js';

/** One process: on the test servers the summaries of 90 channels at once come minutes later. */
const instance = useStandalone();

/** Waits longer than usual, because the report stands behind thousands of emits of its run. */
const errorsOf = async (source: Source): Promise<readonly EventSummary[]> =>
  instance.history(source, 1, '$errors', 45_000);

/** Deploys a component, calls it once, and waits for its run's report on its attempts. */
const ran = async (statements: string) => {
  const code = componentCode({
    members: `async run(event) {
      const told = {};
      const attempt = (name, work) => { try { work(); told[name] = 'done'; } catch (error) { told[name] = error.code + ': ' + error.message; } };
      ${statements}
      throw new Error(JSON.stringify(told));
    },`,
  });
  const source = await instance.deploy(code);
  expect((await instance.post(source, {})).status).toBe(200);
  // Reported as an error, because a run at its output limit cannot emit it.
  const [end] = await errorsOf(source);
  const { error } = end?.event as { error: { message: string } };
  return { told: JSON.parse(error.message) as Record<string, string> };
};

describe('the output of a run beside its payloads', () => {
  it.each([
    ['ids', `{ id: n + 'i'.repeat(8000) }`],
    ['summaries', `{ summary: 's'.repeat(16000) }`],
    ['channel names', `{ name: 'c'.repeat(1000) + n % 90 }`],
  ])(
    'counts towards its 6 MB: %s',
    async (_what, metadata) => {
      const { told } = await ran(`
      attempt('control', () => { for (let n = 0; n < 500; n++) this.$emit(1); });
      attempt('flood', () => { for (let n = 0; n < 9000; n++) this.$emit(1, ${metadata}); });`);
      expect(told.control).toBe('done');
      expect(told.flood).toMatch(/^FunctionPayloadLimitExceeded: .*6 MB/);
    },
    60_000,
  );

  // docs/reference/rest-api.md#platform-channels
  it('uses few channels, and never those of the platform', async () => {
    const { told } = await ran(`
      attempt('many', () => { for (let n = 0; n < 99; n++) this.$emit(1, { name: 'c' + n }); });
      this.$emit(1, { name: 'end' });
      for (const name of ['$errors', '$logs', '$in', '$sse', 'a\\u0000b', 'a\\nb', '$mine', 'c1']) attempt(name, () => this.$emit(1, { name }));
      attempt('end', () => this.$emit(1));`);
    expect(told).toMatchObject({ many: 'done', c1: 'done', end: 'done' });
    for (const name of ['$errors', '$logs', '$in', '$sse']) expect(told[name]).toMatch(/a channel of the platform/);
    for (const name of ['a\u0000b', 'a\nb']) expect(told[name]).toMatch(/control characters/);
    expect(told.$mine).toMatch(/^FunctionPayloadLimitExceeded: .*100 channels/);
  });

  it('is well-formed text, in lists and for a webhook, and deliveries go on', async () => {
    const source = await instance.deploy(
      componentCode({
        members: `run(event) { this.$emit(event.body, { name: 'half\\ud800', id: 'i\\udfff', summary: '\\ud83d' }); console.log('log \\ud800'); },`,
      }),
    );
    const heard = await instance.listen(source.id, 'half\ufffd');
    await instance.post(source, { n: 1 });
    await instance.post(source, { n: 2 });
    await instance.receiver.until('both deliveries', () => instance.arrived(heard).length === 2);
    const [first] = await instance.history(source, 2, 'half\ufffd');
    expect(first?.metadata).toMatchObject({ name: 'half\ufffd', id: 'i\ufffd', summary: '\ufffd' });
  });
});

describe('a hostile child', () => {
  it('that writes emits on $errors to its socket is ended, and only its end arrives there', async () => {
    const source = await instance.deploy(
      componentCode({
        members: `async run(event) {
          if (event.body.mild) return this.$emit('mild');
          await new Promise((r) => setTimeout(r, 50));
          const head = Buffer.from(JSON.stringify(['e', 1, event.body.channel, null, null, null]));
          const raw = Buffer.from('"forged"'); const record = Buffer.alloc(12);
          record.writeUInt32LE(2, 0); record.writeUInt32LE(head.length, 4); record.writeUInt32LE(raw.length, 8);
          require('node:fs').writeSync(4, Buffer.concat([record, head, raw]));
          await new Promise((r) => setTimeout(r, 500));
        },`,
      }),
    );
    // Control: the same record on a free channel passes. Then the process's own next record is out of order.
    await instance.post(source, { channel: 'free' });
    expect(await instance.payloads(source, 1, 'free')).toEqual(['forged']);
    await errorsOf(source);
    await instance.post(source, { channel: '$errors' });
    const errors = await instance.history(source, 2, '$errors');
    expect(errors).toHaveLength(2);
    expect(JSON.stringify(errors)).not.toContain('"forged"');
    expect(JSON.stringify(errors[1])).toMatch(/malformed message/);
    await instance.post(source, { mild: true });
    expect(await instance.payloads(source, 1)).toEqual(['mild']);
  }, 60_000);

  it('that floods its standard error is cut off, and each further write fails', async () => {
    const { told } = await ran(`
      const fs = require('node:fs'); const line = Buffer.alloc(65536, 'e'); let written = 0;
      attempt('little', () => fs.writeSync(2, 'some words'));
      const until = Date.now() + 20000;
      for (;;) {
        try { written += fs.writeSync(2, line); } catch (error) { if (error.code !== 'EAGAIN') { told.code = error.code; break; } }
        if (Date.now() > until) break;
        await new Promise((r) => setTimeout(r, 1));
      }
      told.written = written;`);
    expect(told).toMatchObject({ little: 'done', code: 'EPIPE' });
    expect(Number(told.written)).toBeLessThan(8 * 1024 * 1024);
  }, 60_000);

  it('that fills the file beside its socket is ended', async () => {
    const source = await instance.deploy(
      componentCode({
        members: `async run(event) {
          const fs = require('node:fs'); const block = Buffer.alloc(1 << 20);
          for (let n = 0; n < event.body.mb; n++) fs.writeSync(5, block, 0, block.length, n << 20);
          await new Promise((r) => setTimeout(r, 2000));
          this.$emit('went on');
        },`,
      }),
    );
    await instance.post(source, { mb: 2 });
    expect(await instance.payloads(source, 1)).toEqual(['went on']);
    await instance.post(source, { mb: 40 });
    const [error] = await errorsOf(source);
    expect(JSON.stringify(error?.event)).toMatch(/bytes beside the socket/);
    expect(await instance.payloads(source, 1)).toEqual(['went on']);
  }, 60_000);
});

describe('the state of a source', () => {
  it('may have keys like __proto__ that survive a restart, but none with NUL or half of a surrogate pair', async () => {
    const source = await instance.deploy(
      componentCode({
        props: `http: '$.interface.http', db: '$.service.db'`,
        members: `dedupe: 'unique', run(event) {
          const keys = ['__proto__', 'constructor', 'plain'];
          if (event.body.write) for (const key of keys) this.db.set(key, { of: key });
          const refused = ['a\\u0000b', 'half\\ud800'].map((key) => {
            try { this.db.set(key, 1); } catch (error) { return [error.message, this.db.get(key)]; }
          });
          this.$emit({ kept: keys.map((key) => this.db.get(key) ?? null), refused }, { id: event.body.id, name: '__proto__' });
        },`,
      }),
    );
    const kept = ['__proto__', 'constructor', 'plain'].map((of) => ({ of }));
    const refused = ['NUL: "a\\u0000b"', 'half of a surrogate pair: "half\\ud800"'].map((text) => [
      expect.stringContaining(text) as unknown,
      null,
    ]);
    const expected = { kept, refused };
    await instance.post(source, { write: true, id: 'a' });
    expect(await instance.payloads(source, 1, '__proto__')).toEqual([expected]);
    await instance.server.restart();
    await instance.post(source, { id: 'a' });
    await instance.post(source, { id: 'b' });
    // The repeated id is dropped, so the dedupe memory of the channel __proto__ has survived too.
    expect(await instance.payloads(source, 2, '__proto__')).toEqual([expected, expected]);
  }, 60_000);
});

describe('secrets', () => {
  // docs/reference/rest-api.md#log-masking
  it('and endpoint keys appear in no log, error, or line of the server, but stay in emits', async () => {
    const secret = 'sEcret-hunter-22';
    const source = await instance.deploy(
      componentCode({
        props: `http: '$.interface.http', token: { type: 'string', secret: true }, open: { type: 'string' }`,
        members: `async run() {
          this.$emit({ token: this.token });
          console.log('log', this.token, this.open, this.http.endpoint);
          throw Object.assign(new Error('error ' + this.token), { code: 'code ' + this.token });
        },`,
      }),
      { token: secret, open: 'open-value-33' },
    );
    const key = new URL(instance.endpoint(source)).pathname.split('/').at(-1) ?? '';
    expect(key).toMatch(/^e[0-9a-z]{15}$/);
    await instance.post(source, { a: secret });
    expect(await instance.payloads(source, 1)).toEqual([{ token: secret }]);
    const told = JSON.stringify([
      await instance.history(source, 1, '$errors'),
      await instance.history(source, 2, '$logs'),
    ]);
    expect(told).toContain('open-value-33');
    expect(told).toContain('********');
    expect(told).not.toContain(secret);
    expect(told).not.toContain(key);
    expect(instance.server.lastOutput).not.toContain(key);
    expect(instance.server.lastOutput).not.toContain(secret);
  });
});

describe('a component with too many timers', () => {
  it('is refused when it is saved, with the limit in the text', async () => {
    const timers = (count: number): string =>
      Array.from(
        { length: count },
        (_, n) => `t${n}: { type: '$.interface.timer', default: { intervalSeconds: 3600 } }`,
      ).join();
    const save = (count: number) =>
      instance.api.call('POST', '/v1/sources', {
        body: { component_code: componentCode({ props: timers(count), members: 'run() {},' }) },
      });
    expect((await save(20)).status).toBe(200);
    const refused = await save(21);
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/21 props of type \$\.interface\.timer, at most 20/);
  }, 60_000);
});
