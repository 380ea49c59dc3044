import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type UserError } from '#libs/component-model/run-output.js';
import { type BundleInput } from '../bundler/component-files.js';
import { detectIsolation } from '../jail/detect.js';
import { splitBundle } from '../protocol/source-map.js';
import { BundleNotLoaded, type RunOutcome, type Sandbox } from '../sandbox.js';
import { ComponentSandboxes } from '../testing/component-sandboxes.js';

const API = `interface Issue {
  id: number;
  title: string;
}

export const read = (text: string): Issue => {
  const issue = JSON.parse(text) as Issue;
  if (issue.id < 0)
    throw new RangeError(\`id \${issue.id} is negative\`);
  return issue;
};
`;
const LEGACY = `// A CommonJS file.
exports.later = async () => {
  await null;
  throw new Error('later');
};
`;
const MAIN = `import { read } from './api';
import legacy from '../lib/legacy.cjs';
import { axios } from '@pipedream/platform';

type Event = { what: string; text?: string };

export default {
  name: 'stacks',
  props: { db: '$.service.db' },
  methods: {
    check(this: any, text: string) {
      return read(text);
    },
  },
  hooks: {
    async deploy(this: any) {
      this.check('{"id":-2}');
    },
  },
  async run(this: any, event: Event) {
    if (event.what === 'method') return this.check('{"id":-1}');
    if (event.what === 'json') return read('{');
    if (event.what === 'later') await legacy.later();
    if (event.what === 'emit') this.$emit({ a: 1n });
    if (event.what === 'shim') await axios(this, { body: 1 } as any);
    if (event.what === 'stray') {
      setTimeout(() => { throw new Error('stray'); }, 1);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
    if (event.what === 'chain')
      throw new Error('outer', {
        cause: new AggregateError([new TypeError('one'), 'two'], 'many'),
      });
  },
};
`;
const component: BundleInput = {
  code: MAIN,
  fileName: 'src/main.ts',
  files: { 'src/api.ts': API, 'lib/legacy.cjs': LEGACY },
};

const frames = ({ stack }: UserError): readonly string[] =>
  stack.split('\n').filter((line) => line.startsWith('    at '));

for (const level of ['auto', 'process'] as const)
  describe(`stacks at the level ${level}`, () => {
    let sandboxes: ComponentSandboxes;
    let sandbox: Sandbox;
    let count = 0;

    beforeAll(async () => {
      sandboxes = await ComponentSandboxes.open(await detectIsolation(level));
      sandbox = await sandboxes.start(component, { props: { db: { kind: 'db' } } });
    });
    afterAll(() => sandboxes.close());

    const run = (on: Sandbox, event: unknown): Promise<RunOutcome> =>
      on.run({ invocationId: `inv_${++count}`, event: JSON.stringify(event), timeoutMs: 5_000 });
    const errorOf = async (what: string): Promise<UserError> => {
      const { error } = await run(sandbox, { what });
      if (!error) throw new Error('the run ended without an error');
      return error;
    };

    it('name file and line of a TypeScript file, through a method, and no frame of the runtime', async () => {
      const error = await errorOf('method');
      expect(frames(error)).toEqual([
        '    at read (src/api.ts:9:11)',
        expect.stringMatching(/^ {4}at Object\.check (\[as check\] )?\(src\/main\.ts:12:14\)$/),
        '    at Object.run (src/main.ts:21:46)',
      ]);
      expect(error.place).toEqual({ file: 'src/api.ts', line: 9, column: 11 });
    });

    it('keep frames of the language between those of the author', async () => {
      const error = await errorOf('json');
      expect(frames(error)).toEqual([
        '    at JSON.parse (<anonymous>)',
        '    at read (src/api.ts:7:22)',
        '    at Object.run (src/main.ts:22:39)',
      ]);
    });

    it('name a CommonJS file, after an await', async () => {
      const error = await errorOf('later');
      expect(frames(error)[0]).toMatch(/^ {4}at (async )?exports\.later \(lib\/legacy\.cjs:4:9\)$/);
      expect(error.stack).toContain('(src/main.ts:23:');
    });

    it.each([
      ['emit', 'src/main.ts:24:'],
      ['shim', 'src/main.ts:25:'],
    ])('of %s begin with the line of the author', async (what = '', where = '') => {
      const error = await errorOf(what);
      expect(frames(error).find((line) => !/<anonymous>|node:/.test(line))).toContain(where);
      expect(error.stack).not.toMatch(/child|component\.js/);
    });

    it('of an error that nothing catches', async () => {
      expect(frames(await errorOf('stray'))[0]).toMatch(/\(src\/main\.ts:27:\d+\)$/);
    });

    it('of a hook', async () => {
      const { error } = await sandbox.hook('deploy', 5_000);
      expect(frames(error!).at(-1)).toMatch(/at (async )?Object\.deploy \(src\/main\.ts:17:12\)$/);
      expect(frames(error!)[0]).toContain('src/api.ts:9:11');
    });

    it('of a module that throws while it is evaluated', async () => {
      const started = sandboxes.start({
        code: `import './deep.cjs';\nexport default {};`,
        files: { 'deep.cjs': `\nthrow new TypeError('at once');` },
      });
      const error: unknown = await started.catch((reason: unknown) => reason);
      if (!(error instanceof BundleNotLoaded)) throw new Error('the bundle was loaded');
      expect(error.userError.place).toEqual({ file: 'deep.cjs', line: 2, column: 7 });
      expect(frames(error.userError)).toEqual(['    at deep.cjs:2:7', '    at component.mjs:1:8']);
    });

    it('of causes and parts', async () => {
      const error = await errorOf('chain');
      expect(error).toMatchObject({
        message: 'outer',
        stack: expect.stringContaining('src/main.ts:31:13'),
        cause: {
          name: 'AggregateError',
          message: 'many',
          stack: expect.stringContaining('src/main.ts:32:16'),
          errors: [
            { name: 'TypeError', message: 'one', stack: expect.stringContaining('src/main.ts:32:36') },
            { name: 'Error', message: 'two', stack: '' },
          ],
        },
      });
    });

    it('stay as they are for a bundle without a map', async () => {
      const file = path.join(sandboxes.dir, 'old.cjs');
      const { code } = splitBundle(await readFile(await sandboxes.bundle(component)));
      await writeFile(file, code);
      const old = await sandboxes.startFile(file);
      const { error } = await run(old, { what: 'method' });
      expect(error).toMatchObject({ name: 'RangeError', message: 'id -1 is negative' });
      expect(frames(error!)[0]).toMatch(/at read \(.*component\.js:\d+:\d+\)/);
      expect(error).not.toHaveProperty('place');
    });
  });
