import { afterAll, describe, expect, it } from '@jest/globals';
import { type LogLine } from '#libs/component-model/run-output.js';
import { detectIsolation } from '../jail/detect.js';
import { type Sandbox } from '../sandbox.js';
import { ComponentSandboxes } from '../testing/component-sandboxes.js';

const AWAIT = 'A promise without "await", a timer or an async callback of forEach outlived it: await all work in run.';
const lost = `after run inv_1 had ended, so its event is lost: "late". ${AWAIT}`;
const uncaught = /^an error was not caught after run inv_1 had ended: (?:Type)?Error: boom(?: \(at .*\))?\. A promise/;

/** Body of a run that leaves work behind, and the line that its author reads. */
const CASES: Readonly<Record<string, readonly [string, string | RegExp]>> = {
  'an emit of a timer': [`setTimeout(() => this.$emit('late'), 20)`, `$emit was called ${lost}`],
  'an emit of a promise chain': [`void pause(20).then(() => this.$emit('late'))`, `$emit was called ${lost}`],
  'an emit of a method without await': [`this.helper()`, `$emit was called ${lost}`],
  'an emit of an async forEach': [
    `[1].forEach(async () => { await pause(20); this.$emit('late'); })`,
    `$emit was called ${lost}`,
  ],
  'a reply': [
    `setTimeout(() => this.http.respond({ status: 200 }), 20)`,
    `respond was called after run inv_1 had ended, so its reply is lost. ${AWAIT}`,
  ],
  'a change of the db': [
    `setTimeout(() => this.db.set('cursor', 5), 20)`,
    `db.set was called after run inv_1 had ended, so its change is not stored: key "cursor". ${AWAIT}`,
  ],
  'a log line': [
    `setTimeout(() => console.log('late', 5), 20)`,
    `a line was logged after run inv_1 had ended, so it and later lines are dropped: "late 5". ${AWAIT}`,
  ],
  'a rejection of an async function': [
    `void (async () => { await pause(20); throw new TypeError('boom'); })()`,
    uncaught,
  ],
  'a throw': [`setTimeout(() => { throw new TypeError('boom'); }, 20)`, uncaught],
  'a rejection of a promise chain': [`void pause(20).then(() => { throw new TypeError('boom'); })`, uncaught],
  "an 'error' event": [
    `const e = new (require('node:events').EventEmitter)(); setTimeout(() => e.emit('error', new Error('boom')), 20)`,
    uncaught,
  ],
};

const code = (body: string): string => `
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  module.exports = { name: 't', version: '1', props: {},
    methods: { async helper() { await pause(20); this.$emit('late'); } },
    async run(event) { if (event.other) { await pause(60); this.$emit('other'); return; } ${body}; } };`;

describe.each(['auto', 'process'] as const)('work that outlives its run, at the level %s', (level) => {
  const opened = detectIsolation(level).then((chosen) => ComponentSandboxes.open(chosen));
  afterAll(async () => (await opened).close());

  const run = (sandbox: Sandbox, id: string, event: object = {}) =>
    sandbox.run({ invocationId: id, event: JSON.stringify(event), timeoutMs: 5_000 });
  const start = async (body: string, head = '') => {
    const lines: LogLine[] = [];
    const sandboxes = await opened;
    const sandbox = await sandboxes.start(head + code(body), {
      props: { http: { kind: 'http', endpoint: 'http://x/' }, db: { kind: 'db' } },
      onLate: (line) => void lines.push(line),
    });
    return { sandbox, lines };
  };

  it.each(Object.entries(CASES))('%s is told once, while another run is not touched', async (_name, [body, text]) => {
    const { sandbox, lines } = await start(body);
    const [first, other] = await Promise.all([run(sandbox, 'inv_1'), run(sandbox, 'inv_2', { other: true })]);
    expect(first).toMatchObject({ status: 'ok', emits: [], logs: [], dbChanges: {} });
    expect(other).toMatchObject({ status: 'ok', emits: [{ payload: '"other"' }], logs: [], dbChanges: {} });
    expect(lines).toEqual([
      { k: 'warning', ts: expect.any(Number), msg: typeof text === 'string' ? text : expect.stringMatching(text) },
    ]);
    await sandbox.stop();
  });

  it('comes once a run and kind, however often the work repeats', async () => {
    const { sandbox, lines } = await start(`setInterval(() => { this.$emit('late'); console.log('late'); }, 2)`);
    await run(sandbox, 'inv_1');
    await run(sandbox, 'inv_2');
    await run(sandbox, 'inv_3', { other: true });
    const said = lines.map(({ msg }) => /^(\$emit|a line) .* after run (inv_\d)/.exec(msg)?.slice(1).join(' '));
    expect(said.sort()).toEqual(['$emit inv_1', '$emit inv_2', 'a line inv_1', 'a line inv_2']);
    expect(sandbox.alive()).toBe(true);
    await sandbox.stop();
  });

  it('tells of an error of the module itself while nothing runs', async () => {
    const { sandbox, lines } = await start('', `setInterval(() => { throw new TypeError('boom') }, 5);`);
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(lines.map(({ msg }) => msg)).toEqual([
      expect.stringMatching(
        /^an error was not caught outside of any run: TypeError: boom.*\. Code of the module did it, not run or a hook: catch its errors there\.$/,
      ),
    ]);
    await sandbox.stop();
  });
});
