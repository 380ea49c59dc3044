import { afterEach, describe, expect, it } from '@jest/globals';
import { ERROR_LIMITS, type ErrorText } from '../protocol/protocol.js';
import { encodeRecord } from '#libs/framing/records.js';
import { parseChildMessage } from '../protocol/child-message.js';
import { textOfError } from './error-text.js';
import { writesIn } from './access-hint.js';
import { mapStacks, mappedStack } from './source-map.js';

/** The error after the server's check. Throws when the server refuses it. */
const received = (thrown: unknown): ErrorText => {
  const json = Buffer.from(JSON.stringify(['loadfail', textOfError(thrown)]));
  const message = parseChildMessage({ index: 0, json, raw: Buffer.alloc(0) });
  if (message[0] !== 'loadfail') throw new Error('another message');
  return message[1];
};

const depthOf = (error: ErrorText | undefined): number => (error ? 1 + depthOf(error.cause) : 0);
const charsOf = ({ name, message, stack, code, cause, errors = [] }: ErrorText): number =>
  [...(cause ? [cause] : []), ...errors].reduce(
    (sum, part) => sum + charsOf(part),
    name.length + message.length + stack.length + code.length,
  );

describe('the text of an error', () => {
  it('holds the chain of causes, with their codes', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const error = received(new TypeError('fetch failed', { cause: refused }));
    expect(error).toMatchObject({
      name: 'TypeError',
      cause: { message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' },
    });
    expect(error.cause).not.toHaveProperty('cause');
  });

  it('ends a chain at the fifth cause', () => {
    let error = new Error('0');
    for (let n = 1; n < 20; n++) error = new Error(String(n), { cause: error });
    expect(depthOf(received(error))).toBe(1 + ERROR_LIMITS.depth);
  });

  it('holds the first ten parts of an AggregateError', () => {
    const parts = Array.from({ length: 40 }, (_, n) => new Error(`part ${n}`));
    expect(received(new AggregateError(parts, 'all')).errors?.map(({ message }) => message)).toEqual(
      parts.slice(0, 10).map(({ message }) => message),
    );
  });

  it('stays within the size of one error, however large and many its parts are', () => {
    const huge = (depth: number): Error =>
      Object.assign(new Error('m'.repeat(100_000)), {
        stack: '\u0001'.repeat(1_000_000),
        ...(depth === 0
          ? {}
          : { cause: huge(depth - 1), errors: Array.from({ length: 20 }, () => huge(depth - 2 < 0 ? 0 : depth - 2)) }),
      });
    expect(charsOf(received(huge(4)))).toBeLessThanOrEqual(ERROR_LIMITS.chars);
  });

  it('describes an error that causes itself once', () => {
    const a: Error & { cause?: unknown } = new Error('a');
    const b = new Error('b', { cause: a });
    a.cause = b;
    expect(depthOf(received(a))).toBe(2);
  });

  it.each([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a text', 'just text', 'just text'],
    ['an object', { status: 418, tea: true }, '{ status: 418, tea: true }'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['a cause that is a text', new Error('x', { cause: 'text' }), 'x'],
  ])('reads %s', (_what, thrown, message) => {
    expect(received(thrown)).toMatchObject({ name: 'Error', message });
  });

  it('keeps what can be read of an error whose other properties throw', () => {
    const thrower = {
      get: () => {
        throw new Error('no');
      },
    };
    const error = Object.defineProperties(new Error('readable'), {
      stack: thrower,
      cause: thrower,
      errors: thrower,
      code: thrower,
    });
    expect(received(error)).toEqual({ name: 'Error', message: 'readable', stack: '', code: 'Error' });
  });

  it('survives proxies and lists without an end', () => {
    const everything = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no');
        },
        has: () => {
          throw new Error('no');
        },
      },
    );
    const endless = new Proxy([], { get: (_list, key) => (key === 'length' ? 2 ** 32 - 1 : new Error(String(key))) });
    expect(received(everything).name).toBe('Error');
    expect(received(Object.assign(new Error('list'), { errors: endless })).errors?.length ?? 0).toBeLessThanOrEqual(10);
    const deeper = (): Error => Object.defineProperty(new Error('deep'), 'cause', { get: deeper });
    expect(depthOf(received(deeper()))).toBe(1 + ERROR_LIMITS.depth);
  });

  it('says where files may be written', () => {
    writesIn('/tmp', 128);
    const refused = (code: string, path: string): string =>
      received(Object.assign(new Error(`${code}: open '${path}'`), { code, syscall: 'open', path })).message;
    const hint =
      / \("\/data(?:\/x\.json)?": a component may read and write files only below \/tmp, which holds at most 128 MB\)$/;
    for (const code of ['EROFS', 'EACCES', 'ENOENT']) expect(refused(code, '/data/x.json')).toMatch(hint);
    expect(refused('ENOENT', '/tmp/x.json')).toBe("ENOENT: open '/tmp/x.json'");
    expect(refused('ENOSPC', '/tmp/x.json')).toContain('/tmp holds at most 128 MB');
    const denied = { code: 'ERR_ACCESS_DENIED', permission: 'FileSystemWrite', resource: '/data' };
    expect(received(Object.assign(new Error('Access'), denied)).message).toMatch(hint);
  });
});

describe('a source map', () => {
  afterEach(() => mapStacks('component.js', () => undefined));
  const STACK = 'Error: x\n    at run (/tmp/component.js:1:1)';

  it.each([
    ['no JSON', '{'],
    ['no object', 'null'],
    ['no mappings', '{"version":3,"sources":["component:a.js"]}'],
    ['mappings that are no text', '{"version":3,"sources":["component:a.js"],"mappings":[[[0,0,0,0]]]}'],
    ['letters that are no mappings', '{"version":3,"sources":["component:a.js"],"mappings":"\\u0000é;;!!!,"}'],
    [
      'sections that nest',
      '{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":{"version":3,"sections":[]}}]}',
    ],
    ['more than the limit', `{"version":3,"sources":["component:a.js"],"mappings":"AAAA${' '.repeat(2 ** 20)}"}`],
  ])('with %s leaves stacks readable', (_what, text) => {
    mapStacks('/tmp/component.js', () => text);
    expect(mappedStack(STACK).text).toMatch(/^Error: x/);
  });

  it('is read at the first error, and once', () => {
    let reads = 0;
    mapStacks('/tmp/component.js', () => {
      reads++;
      return '{"version":3,"sources":["component:a.js"],"mappings":"AAAA"}';
    });
    expect(reads).toBe(0);
    expect(mappedStack(STACK).text).toBe('Error: x\n    at run (a.js:1:1)');
    mappedStack(STACK);
    expect(reads).toBe(1);
  });

  it('is not searched for in a text that a component made, at any length', () => {
    mapStacks('/tmp/component.js', () => '{"version":3,"sources":["component:a.js"],"mappings":"AAAA"}');
    const texts = [' at '.repeat(30_000), `    at ${'('.repeat(120_000)}`, `    at ${'component.js:'.repeat(9_000)}`];
    for (const text of texts) expect(mappedStack(`Error\n${text}`).text.length).toBeGreaterThan(0);
    expect(encodeRecord(0, textOfError({ stack: texts.join('\n'), message: '' })).length).toBeLessThan(300_000);
  });
});
