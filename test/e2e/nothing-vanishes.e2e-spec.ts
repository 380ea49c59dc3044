import { describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { componentCode, CUSTOM_HTTP } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';
import { eventually } from '#test/harness/wait.js';

const instance = useInstance();

const AWAIT = 'A promise without "await", a timer or an async callback of forEach outlived it: await all work in run.';

interface Case {
  readonly code: string;
  readonly line: string;
  readonly props?: string;
}

/** The run is called RUN in the lines. */
const LATE: readonly Case[] = [
  {
    code: `setTimeout(() => this.$emit({ late: 1 }), 20)`,
    line: `$emit was called after RUN had ended, so its event is lost: {"late":1}. ${AWAIT}`,
  },
  {
    code: `this.helper()`,
    line: `$emit was called after RUN had ended, so its event is lost: "of a helper". ${AWAIT}`,
  },
  {
    code: `void pause(20).then(() => this.$emit('of a chain'))`,
    line: `$emit was called after RUN had ended, so its event is lost: "of a chain". ${AWAIT}`,
  },
  {
    code: `['a', 'b'].forEach(async (each) => { await pause(20); this.$emit(each); })`,
    line: `$emit was called after RUN had ended, so its event is lost: "a". ${AWAIT}`,
  },
  {
    code: `void (async () => { await pause(20); throw 'rejected'; })()`,
    line: `an error was not caught after RUN had ended: Error: rejected. ${AWAIT}`,
  },
  {
    code: `setTimeout(() => { throw 'thrown'; }, 20)`,
    line: `an error was not caught after RUN had ended: Error: thrown. ${AWAIT}`,
  },
  {
    code: `setTimeout(() => this.db.set('cursor', 1), 20)`,
    line: `db.set was called after RUN had ended, so its change is not stored: key "cursor". ${AWAIT}`,
  },
  {
    code: `setTimeout(() => this.http.respond({ status: 201 }), 20)`,
    line: `respond was called after RUN had ended, so its reply is lost. ${AWAIT}`,
  },
  {
    code: `setTimeout(() => console.log('words', 5), 20)`,
    line: `a line was logged after RUN had ended, so it and later lines are dropped: "words 5". ${AWAIT}`,
  },
  {
    code: `setTimeout(() => process.exit(0), 20)`,
    line: `process.exit was called after RUN had ended, which ended the process and all its runs. ${AWAIT}`,
  },
];

const ACCEPTED: readonly Case[] = [
  {
    code: `this.$emit(event.body.missing)`,
    line: '$emit: the event is undefined, so null is emitted. Pass the value to emit, and await it if a promise brings it',
  },
  {
    code: `this.$emit(new Map([['a', 1]]))`,
    line: '$emit: the event is a Map and becomes {}: pass Object.fromEntries(map)',
  },
  {
    code: `this.$emit(pause(1))`,
    line: '$emit: the event is a Promise and becomes {}: write "await" before it',
  },
  {
    code: `this.$emit({ error: new Error('no') })`,
    line: '$emit: error in the event is an Error, whose message JSON leaves out: pass { name: error.name, message: error.message }',
  },
  {
    code: `this.$emit({ list: [1, undefined] })`,
    line: '$emit: list[1] in the event is undefined, which JSON writes as null: filter the list',
  },
  {
    code: `this.$emit({ id: 1, save() {} })`,
    line: '$emit: save in the event is a function, which JSON leaves out: remove it, or pass its result',
  },
  {
    code: `this.$emit(1, 'orders')`,
    line: '$emit: the second argument is "orders" and is ignored: it must be an object of id, name, summary, ts and delivery_ts. To emit on that channel, pass { name: "orders" }',
  },
  {
    code: `this.$emit(1, { sumary: 'x' })`,
    line: '$emit: the second argument has the field "sumary", which is ignored. Write "summary" instead',
  },
  {
    code: `this.db.set('seen', new Set([1]))`,
    line: 'db.set: the value of key "seen" is a Set and becomes {}: pass [...set]',
  },
  {
    code: `this.http.respond({ statusCode: 201 })`,
    props: CUSTOM_HTTP,
    line: 'respond: the argument has the field "statusCode", which is ignored. Write "status" instead',
  },
  {
    code: `this.http.respond({ status: 201 }); this.http.respond({ status: 202 })`,
    props: CUSTOM_HTTP,
    line: 'respond was called again in this run: the first reply counts, and this one is ignored',
  },
  {
    code: ``,
    props: CUSTOM_HTTP,
    line: 'the prop has customResponse: true and the run ended without respond, so the caller got 200 without a body. Call this.<prop>.respond({ status, headers, body }) in run, or leave customResponse out',
  },
  {
    code: `this.http.respond({ status: 201 })`,
    line: 'respond was called, but the prop lacks customResponse: true, so the caller had got 200 {"success":true} before the run. Declare { type: "$.interface.http", customResponse: true }',
  },
];

const deploy = ({ code, props = `http: '$.interface.http'` }: Case): Promise<Source> =>
  instance.deploy(
    componentCode({
      head: 'const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));',
      props: `${props}, db: '$.service.db'`,
      members: `methods: { async helper() { await pause(20); this.$emit('of a helper'); } },
        async run(event) { console.log('own line'); if (!event.body.quiet) { ${code}; } },`,
    }),
  );

const linesOf = async (source: Source): Promise<readonly unknown[]> => {
  const events = (await instance.payloads(source, 2, '$logs')) as { k: string; msg: string }[];
  return events.map(({ k, msg }) => [k, msg.replace(/run inv_\w+/, 'RUN')]);
};

describe('what outlives its run is told in $logs', () => {
  it.each(LATE)('$code', async (each) => {
    const source = await deploy(each);
    expect((await instance.post(source, {})).status).toBe(200);
    expect(await linesOf(source)).toEqual([
      ['console.log', 'own line'],
      ['warning', each.line],
    ]);
    const { data } = await instance.api.summaries(source.id, { event_name: '' });
    expect(data).toEqual([]);
  });

  it('also for a hook, whose source is not listed yet', async () => {
    const source = await instance.deploy(
      componentCode({ members: `hooks: { async deploy() { setTimeout(() => this.$emit(1), 1); } }, run() {},` }),
    );
    const events = (await instance.payloads(source, 2, '$logs')) as { k: string; msg?: string }[];
    expect(events.map(({ k, msg }) => [k, msg])).toContainEqual([
      'warning',
      `$emit was called after the hook deploy had ended, so its event is lost: 1. ${AWAIT}`,
    ]);
  });
});

describe('what is accepted and lost is told in $logs', () => {
  it.each(ACCEPTED)('$code', async (each) => {
    const source = await deploy(each);
    await instance.post(source, {});
    expect(await linesOf(source)).toEqual([
      ['console.log', 'own line'],
      ['warning', each.line],
    ]);
  });

  it('once a run, however often it happens', async () => {
    const source = await deploy({ code: `for (let i = 0; i < 50; i++) this.$emit()`, line: '' });
    await instance.post(source, {});
    await instance.post(source, { quiet: true });
    const events = (await instance.payloads(source, 3, '$logs')) as { k: string }[];
    expect(events.map(({ k }) => k)).toEqual(['console.log', 'warning', 'console.log']);
  });
});

describe('the log of the server', () => {
  it('has one wide line of a run that failed', async () => {
    const source = await instance.deploy(
      componentCode({ members: `run() { this.$emit(1); throw new RangeError('no'); },` }),
    );
    await instance.post(source, {});
    const [line] = await eventually('the line of the run', () => {
      const lines = instance.server.lastOutput.split('\n').filter((text) => text.includes(source.id));
      const runs = lines.filter((text) => text.includes('"source.run"'));
      return runs.length > 0 ? runs.map((text) => JSON.parse(text.slice(text.indexOf('{'))) as unknown) : undefined;
    });
    expect(line).toMatchObject({
      level: 'warn',
      msg: 'source.run',
      source: source.id,
      workspace: expect.stringMatching(/^o_/),
      invocation: expect.stringMatching(/^inv_/),
      kind: 'http',
      status: 'threw',
      error: 'RangeError',
      message: 'no',
      emits: 1,
      ms: expect.any(Number),
    });
  });
});
