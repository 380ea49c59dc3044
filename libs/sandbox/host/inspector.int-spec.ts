import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createInspector, type Inspector } from './inspector.js';
import { detectIsolation } from '../jail/detect.js';
import { ComponentSandboxes } from '../testing/component-sandboxes.js';

describe('the component inspector', () => {
  let sandboxes: ComponentSandboxes;
  let inspector: Inspector;

  beforeAll(async () => {
    const level = await detectIsolation('auto');
    sandboxes = await ComponentSandboxes.open(level);
    inspector = createInspector({ level, timeoutMs: 3_000, clock: { now: () => 1234 } });
  });
  afterAll(async () => {
    await inspector.close();
    await sandboxes.close();
  });

  const inspect = async (code: string) => inspector.inspectComponent(await sandboxes.bundle(code));

  it('evaluates a component in its own process', async () => {
    expect(
      await inspect(
        `export default defineComponent({ name: 'n', key: 'k', version: '0.0.{{ts}}', props: { http: '$.interface.http' }, hooks: { activate() {} }, dedupe: 'last', methods: { f() {} }, run() {} })`,
      ),
    ).toEqual({
      kind: 'source',
      name: 'n',
      key: 'k',
      version: '0.0.1234',
      description: null,
      annotations: null,
      dedupe: 'last',
      hooks: ['activate'],
      hasRun: true,
      hasAdditionalProps: false,
      methods: ['f'],
      configurableProps: [{ name: 'http', type: '$.interface.http' }],
      warnings: [],
    });
  });

  it.each([
    ['throws', 'throw new TypeError("no")', 'cannot be loaded: TypeError: no', { name: 'TypeError' }],
    ['hangs', 'for (;;);', 'longer than the limit of 3000 ms', { name: 'Timeout' }],
    [
      'hangs in an await',
      'await new Promise(() => undefined); export default { name: "n" }',
      'longer than the limit',
      {},
    ],
    ['throws after an await', 'await null; throw new TypeError("late")', 'cannot be loaded: TypeError: late', {}],
    ['awaits and exports nothing', 'export const a = await 5', 'no default export', {}],
    ['exits', 'process.exit(0)', 'could not be evaluated', { name: 'ProcessExited' }],
    ['has no memory bound', 'const a = []; for (;;) a.push(new Array(1e5).fill(1.5))', 'memory', {}],
    ['exports nothing', 'const a = 1', 'exports nothing', {}],
    ['exports no object', 'export default 5', 'must export an object', {}],
    ['exports a function', 'module.exports = () => 1', 'must export an object', {}],
    [
      'names a prop wrong',
      'export default { name: "n", props: { p: "$.nothing" }, run() {} }',
      'prop p',
      { prop: 'p', name: 'UserError' },
    ],
    ['breaks the protocol', 'require("fs").writeSync(4, Buffer.alloc(64, 255)); for (;;);', 'broke the protocol', {}],
    [
      'forges metadata',
      `const j = '["meta"]'; const raw = '{"kind":"source"}'; const b = Buffer.alloc(12); b.writeUInt32LE(8, 4); b.writeUInt32LE(17, 8); require("fs").writeSync(4, Buffer.concat([b, Buffer.from(j + raw)])); for (;;);`,
      'broke the protocol',
      {},
    ],
  ])('refuses code that %s', async (_what, code, text, details) => {
    await expect(inspect(code)).rejects.toMatchObject({
      code: 'component.invalid',
      message: expect.stringContaining(text),
      details,
    });
  });

  it('first bundles code that is given as text', async () => {
    const code = `import { n } from './n.js'; export default { name: n, run() {} }`;
    const { bundle, metadata } = await inspector.inspect(code, {
      fileName: 'a/b.mjs',
      files: { 'a/n.js': 'export const n = "two files"' },
    });
    expect(metadata.name).toBe('two files');
    expect(bundle).toContain('two files');
    await expect(inspector.inspect(`import 'lodash'; export default {}`)).rejects.toMatchObject({
      code: 'component.package_unavailable',
    });
  });

  it('describes the code of a step as an action', async () => {
    const code = `export default defineComponent({ props: { n: 'integer' }, async run({ steps, $ }) { return this.n } })`;
    const { metadata } = await inspector.inspect(code, { as: 'step' });
    expect(metadata).toMatchObject({
      kind: 'action',
      name: 'step',
      configurableProps: [{ name: 'n', type: 'integer' }],
    });
  });

  it('evaluates code that awaits at the top, in its own files too', async () => {
    const code = `import { EOL } from 'node:os'; import { later } from './later.js'; const fs = require('node:fs');
      const name = await later(); export default { name, description: EOL + typeof fs.readFileSync, run() {} }`;
    const { metadata } = await inspector.inspect(code, {
      files: { 'later.js': `const n = await Promise.resolve('late'); export const later = async () => n` },
    });
    expect(metadata).toMatchObject({ name: 'late', description: '\nfunction' });
  });

  it('gives the module no network', async () => {
    await expect(
      inspect(
        `import net from 'node:net'; const s = net.connect(80, 'example.com'); s.on('error', () => undefined); export default { name: 'n', run() {} }`,
      ),
    ).resolves.toMatchObject({ name: 'n' });
  });
});
