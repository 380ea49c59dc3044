import { describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { componentCode, CUSTOM_HTTP, echoCode } from '#test/harness/component-code.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance();
const { server } = instance;

const SECRET = 'the-secret-of-the-host';

/** Path of a map with a telling name, which only a reader of the host's files can know. */
const stolenMap = (): string => {
  const file = join(server.dataDir, 'stolen.map');
  writeFileSync(file, JSON.stringify({ version: 3, sources: [SECRET], mappings: 'AAAA;'.repeat(50) }));
  return file;
};

const inline = (map: unknown): string =>
  `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;

/** Throws in a run, and names a map of its own. */
const throwing = (comment: string): string =>
  `${componentCode({ members: `run() { throw new Error('thrown'); },` })}\n${comment}\n`;

const errorOf = async (code: string): Promise<string> => {
  const source = await instance.deploy(code);
  await instance.post(source, {});
  return JSON.stringify((await instance.payloads(source, 1, '$errors'))[0]);
};

const expectAlive = async (): Promise<void> => {
  const echo = await instance.post(await instance.deploy(echoCode()), { still: 'here' });
  expect(echo.status).toBe(200);
};

describe('a source map that a component names', () => {
  it('is read from the files of the host by a compiler that is given the folder (the control)', async () => {
    const file = stolenMap();
    const { outputFiles } = await esbuild.build({
      stdin: {
        contents: `export default 1;\n//# sourceMappingURL=${file}`,
        resolveDir: server.dataDir,
        sourcefile: 'c.js',
      },
      bundle: true,
      write: false,
      outfile: '/out.js',
      sourcemap: 'external',
      logLevel: 'silent',
    });
    expect(outputFiles.map(({ text }) => text).join()).toContain(SECRET);
  });

  it.each([
    ['a file of the host', () => `//# sourceMappingURL=${stolenMap()}`],
    ['the same by a URL', () => `//# sourceMappingURL=file://${stolenMap()}`],
    ['an inline map', () => inline({ version: 3, sources: [SECRET], mappings: 'AAAA;'.repeat(50) })],
    [
      'an inline map that is large',
      () => inline({ version: 3, sources: [SECRET], mappings: 'AAAA,CAAC;'.repeat(30_000) }),
    ],
    [
      'an inline map of sections',
      () => inline({ version: 3, sections: [{ offset: { line: 0, column: 0 }, map: {} }] }),
    ],
    ['an imitation of our own', () => `//! sluice-source-map {"sources":["component:${SECRET}"]} 00000050`],
  ])('changes nothing and reads nothing: %s', async (_what, comment) => {
    const error = await errorOf(throwing(comment()));
    expect(error).toMatch(/at Object\.run \(component\.\w+:\d+:\d+\)/);
    expect(error).not.toContain(SECRET);
  });
});

describe('an error that a component made to harm', () => {
  const MAKERS: readonly (readonly [what: string, code: string])[] = [
    [
      'getters that throw',
      `Object.defineProperties(new Error('e'), Object.fromEntries(['stack', 'cause', 'errors', 'code'].map((k) => [k, { get() { throw 1; } }])))`,
    ],
    [
      'a proxy',
      `new Proxy(new Error('e'), { get() { throw new Error('trap'); }, getPrototypeOf() { throw 1; }, ownKeys() { throw 1; } })`,
    ],
    [
      'a cycle',
      `(() => { const a = new Error('a'); a.cause = new Error('b', { cause: a }); a.errors = [a, a]; return a; })()`,
    ],
    [
      'causes without an end',
      `(function next() { return Object.defineProperty(new Error('e'), 'cause', { get: next }); })()`,
    ],
    [
      'a tree of large parts',
      `(function part(d) { return Object.assign(new Error('m'.repeat(1e5)), { stack: '\\u0001'.repeat(1e6), errors: d ? Array.from({ length: 12 }, () => part(d - 1)) : [] }); })(2)`,
    ],
    [
      'a stack that is no stack',
      `Object.assign(new Error('e'), { stack: '    at ' + '('.repeat(5e5) + '/tmp/component.js:999999999:999999999' })`,
    ],
    [
      'a stack made by the component',
      `(() => { Error.prepareStackTrace = () => ({ toString() { throw 1; } }); return new Error('e'); })()`,
    ],
  ];

  it.each(MAKERS)('is reported, and the next run works: %s', async (_what, maker) => {
    const code = componentCode({
      props: CUSTOM_HTTP,
      members: `run({ body }) {
        if (body.harm) throw ${maker};
        this.http.respond({ status: 200, body: 'fine' });
      },`,
    });
    const source = await instance.deploy(code);
    expect((await instance.post(source, { harm: true })).status).toBe(500);
    const [event] = (await instance.payloads(source, 1, '$errors')) as readonly { error: { message: string } }[];
    expect(typeof event?.error.message).toBe('string');
    expect(JSON.stringify(event).length).toBeLessThan(400_000);
    expect(await instance.post(source, {})).toMatchObject({ status: 200 });
  });

  it('cannot take the server down by forged records of its process', async () => {
    // Writes to the socket of its process itself, with nesting that would exhaust the stack of a reader.
    const record = `'["d",0,1,{"name":"\\\\ud800","message":"","stack":"","code":"","cause":' + '['.repeat(1e5) + ']'.repeat(1e5) + '}]'`;
    const code = componentCode({
      head: `import fs from 'node:fs';`,
      members: `run() {
        const json = Buffer.from(${record});
        const head = Buffer.alloc(12);
        head.writeUInt32LE(json.length, 4);
        fs.writeSync(4, Buffer.concat([head, json]));
      },`,
    });
    const source = await instance.deploy(code);
    await instance.post(source, {});
    const [event] = await instance.payloads(source, 1, '$errors');
    expect(JSON.stringify(event)).toContain('ProcessExited');
    await expectAlive();
  });
});
