import { describe, expect, it } from '@jest/globals';
import { type Source } from '#test/harness/api-client.js';
import { useInstance } from '#test/harness/instance.js';

const instance = useInstance({ env: { SLUICE_EGRESS_ALLOW: undefined } });
const { api } = instance;

const API = `export interface Page {
  readonly next: string;
}

export const pageOf = (text: string): Page => {
  const page = JSON.parse(text) as Page;
  if (!page.next)
    throw new RangeError('the last page has no successor');
  return page;
};
`;
const LEGACY = `'use strict';

exports.load = async function load(fail) {
  await null;
  if (fail) throw new Error('cannot load', { cause: new AggregateError([new TypeError('one'), 'two'], 'both failed') });
};
`;
const main = (n: string): string => `// ${n}
import http from 'node:http';
import net from 'node:net';
import fs from 'node:fs/promises';
import { axios } from '@pipedream/platform';
import { pageOf } from './src/api';
import legacy from './lib/legacy.cjs';

interface Wanted { readonly what: string; readonly hook?: string }

export default {
  name: 'Errors ${n}',
  props: { http: '$.interface.http', hook: { type: 'string', default: '' } },
  methods: {
    read(this: unknown, text: string) { return pageOf(text); },
  },
  hooks: {
    async activate(this: any) {
      if (this.hook === 'fail') await legacy.load(true);
    },
  },
  async run(this: any, { body }: { body: Wanted }) {
    switch (body.what) {
      case 'method': return this.read('{}');
      case 'later': return legacy.load(true);
      case 'fetch': return fetch('http://10.1.2.3/');
      case 'axios': return axios(this, { url: 'http://10.1.2.3/' });
      case 'http': return new Promise((resolve) => http.get('http://10.1.2.3/', resolve));
      case 'net': return new Promise((resolve) => net.connect(80, '10.1.2.3', () => resolve(null)));
      case 'write': return fs.writeFile('/data.json', '{}');
      case 'text': throw 'just text';
      case 'nothing': throw undefined;
    }
  },
};
`;

const files = { 'src/api.ts': API, 'lib/legacy.cjs': LEGACY };
const url = 'https://example.com/main.ts';

interface ErrorEvent {
  readonly error: { readonly name: string; readonly message: string; readonly stack: string; readonly cause?: object };
}

const framesOf = (stack: string): readonly string[] => stack.split('\n').filter((line) => /^ +at /.test(line));
const REFUSED =
  /10\.1\.2\.3.*because it is a private address\. The operator of this server can allow it with SLUICE_EGRESS_ALLOW=10\.1\.2\.3\/32/;

describe('an error of an author', () => {
  const deploy = (): Promise<Source> => api.createSource({ component_code: main('run'), component_url: url, files });
  const errorOf = async (what: string): Promise<ErrorEvent['error']> => {
    const source = await deploy();
    await instance.post(source, { what });
    const [event] = await instance.payloads(source, 1, '$errors');
    return (event as ErrorEvent).error;
  };

  it('in a method leads to the lines of TypeScript files', async () => {
    const { stack, ...error } = await errorOf('method');
    expect(error).toMatchObject({ name: 'RangeError', message: 'the last page has no successor' });
    expect(framesOf(stack)).toEqual([
      '    at pageOf (src/api.ts:8:11)',
      '    at Object.read (main.ts:15:48)',
      expect.stringMatching(/^ {4}at Object\.run \(main\.ts:24:\d+\)$/),
    ]);
  });

  it('in a CommonJS file leads to its line, and tells causes and parts', async () => {
    const { stack, ...error } = await errorOf('later');
    expect(framesOf(stack)[0]).toMatch(/^ {4}at (async )?(Object|exports)\.load \(lib\/legacy\.cjs:5:\d+\)$/);
    expect(error).toMatchObject({
      message: 'cannot load',
      cause: {
        name: 'AggregateError',
        message: 'both failed',
        stack: expect.stringContaining('(lib/legacy.cjs:5:'),
        errors: [
          { name: 'TypeError', message: 'one' },
          { name: 'Error', message: 'two' },
        ],
      },
    });
  });

  it('in a hook leads to its line in the 422', async () => {
    const body = { component_code: main('hook'), component_url: url, files, configured_props: { hook: 'fail' } };
    const reply = await api.call('POST', '/v1/sources', { body });
    expect(reply.status).toBe(422);
    const { observations } = reply.body as { observations: readonly { k: string; err?: ErrorEvent['error'] }[] };
    const err = observations.find(({ k }) => k === 'error')?.err;
    expect(err).toMatchObject({
      message: 'cannot load',
      cause: { message: 'both failed', errors: [{ message: 'one' }, {}] },
    });
    expect(framesOf(err?.stack ?? '').at(-1)).toMatch(/^ {4}at (async )?Object\.activate \(main\.ts:19:\d+\)$/);
  });

  it('at the top of a module answers 400 with file and line', async () => {
    const code = `import './src/deep';\nexport default { name: 'never' };`;
    const reply = await api.call('POST', '/v1/components', {
      body: { component_code: code, component_url: url, files: { 'src/deep.ts': 'type A = 1;\n\nnull!.x;\n' } },
    });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'invalid_component', details: { name: 'TypeError', file: 'src/deep.ts', line: 3 } },
    });
    expect((reply.body as { error: string }).error).toMatch(/\(src\/deep\.ts:3:\d+\)/);
  });

  it.each(['fetch', 'axios', 'http', 'net'])(
    'of %s to a private address says address, reason and setting',
    async (what) => {
      const error = await errorOf(what);
      expect(JSON.stringify(error)).toMatch(REFUSED);
    },
  );

  it('of a write outside of /tmp says where files may be written', async () => {
    const error = await errorOf('write');
    expect(error.message).toMatch(
      /": a component may read and write files only below \/tmp, which holds at most 128 MB/,
    );
  });

  it.each([
    ['text', 'just text'],
    ['nothing', 'undefined'],
  ])('that is no error object stays readable: %s', async (what, message) => {
    expect(await errorOf(what)).toMatchObject({ name: 'Error', message });
  });
});
