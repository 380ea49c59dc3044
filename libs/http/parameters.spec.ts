import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { IsBoolean, IsInt, IsObject, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { type Request } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';
import { decodeCursor, encodeCursor, listReply, pageQuery } from './pages.js';
import { parameters, validated } from './parameters.js';

class Dto {
  @IsString()
  @MaxLength(5)
  name!: string;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(30)
  seconds?: number;

  @IsOptional()
  @IsObject()
  props?: Record<string, unknown>;
}

const failure = async (act: () => unknown): Promise<DomainError> => {
  try {
    await act();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('texts of a request', () => {
  // docs/reference/rest-api.md#text-parameters
  it('are well-formed, and hold no NUL', async () => {
    expect((await validated(Dto, { name: 'a\ud800b' })).name).toBe('a\ufffdb');
    const error = await failure(() => validated(Dto, { name: 'ab\0c' }));
    expect([error.code, error.message]).toEqual([
      'request.invalid_parameter',
      'parameter name holds a NUL character at position 2: leave it out',
    ]);
  });

  it('are read without the fields that the class does not declare', async () => {
    let reads = 0;
    const large = {
      get deep() {
        reads++;
        return {};
      },
    };
    await validated(Dto, { name: 'x', configured_props: large });
    expect(reads).toBe(0);
  });

  it('change no prototype, whatever their keys', async () => {
    const body: unknown = JSON.parse(
      '{"name":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    );
    const params = parameters(from({}, body), 'body_wins');
    expect(Object.getPrototypeOf(params)).toBe(Object.prototype);
    const dto = await validated(Dto, params);
    expect(dto).toBeInstanceOf(Dto);
    expect([dto.name, Object.keys(dto).includes('__proto__'), 'polluted' in dto]).toEqual(['x', false, false]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

class Flags {
  @IsBoolean()
  active!: boolean;
}

describe('errors about a flag', () => {
  it('say true or false, and that a missing parameter is missing, once', async () => {
    const wrong = await failure(() => validated(Flags, { active: 'no' }));
    expect(wrong.message).toBe('parameter active must be true or false; got no');
    expect((await failure(() => validated(Flags, {}))).message).toBe('parameter active is missing');
  });
});

const from = (query: object, body: unknown) => ({ query, body }) as Request;

describe('parameters', () => {
  // docs/reference/rest-api.md#parameter-places
  it('come from query and body with the precedence of the route', () => {
    const request = from({ a: 'q', b: 'q' }, { b: 'b', c: 'b' });
    expect(parameters(request, 'query_wins')).toEqual({ a: 'q', b: 'q', c: 'b' });
    expect(parameters(request, 'body_wins')).toEqual({ a: 'q', b: 'b', c: 'b' });
    expect(parameters(from({ a: '1' }, undefined), 'body_wins')).toEqual({ a: '1' });
  });

  it.each([
    [[1], 'an array'],
    ['text', 'a string'],
    [5, 'a number'],
  ])('refuse the body %j', async (body, what) => {
    const error = await failure(() => parameters(from({}, body), 'body_wins'));
    expect([error.code, error.message]).toEqual([
      'request.invalid_json',
      `the body must be a JSON object, got ${what}`,
    ]);
  });

  // docs/reference/rest-api.md#unknown-parameters
  it('are checked, and unknown ones dropped', async () => {
    const dto = await validated(Dto, { name: 'abc', seconds: 3, props: { x: { y: 1 } }, nonsense: 1 });
    expect({ ...dto }).toEqual({ name: 'abc', seconds: 3, props: { x: { y: 1 } } });
  });

  it('keep their objects uncopied, and skip what the route does not know', async () => {
    let read = 0;
    const counting = new Proxy(
      {},
      {
        ownKeys: () => {
          read++;
          return [];
        },
      },
    );
    const dto = await validated(Dto, { name: 'abc', props: counting, nonsense: counting });
    expect([dto.props === counting, read]).toEqual([true, 0]);
    // Control: class-transformer reads them and compares each key with all others.
    plainToInstance(Dto, { name: 'abc', props: counting, nonsense: counting });
    expect(read).toBeGreaterThanOrEqual(2);
  });

  it.each([
    [{}, 'request.missing_parameter', { field: 'name' }],
    [{ name: 5 }, 'request.invalid_parameter', { field: 'name', actual: 5 }],
    [{ name: 'abcdefg' }, 'request.invalid_parameter', { field: 'name', limit: 5, actual: 7 }],
    [{ name: 'a', seconds: 31 }, 'request.invalid_parameter', { field: 'seconds', limit: 30, actual: 31 }],
    [{ name: 'a', seconds: 0 }, 'request.invalid_parameter', { field: 'seconds', limit: 1, actual: 0 }],
    [{ name: 'a', props: [1] }, 'request.invalid_parameter', { field: 'props', actual: 'an array of 1' }],
  ])('%j is named', async (params, code, details) => {
    const error = await failure(() => validated(Dto, params));
    expect([error.code, error.details]).toEqual([code, details]);
    expect(error.message).toContain(details.field);
  });
});

describe('pages', () => {
  // docs/reference/rest-api.md#page-limit
  it.each([
    [{}, { limit: 10 }],
    [{ limit: '1' }, { limit: 1 }],
    [{ limit: 100 }, { limit: 100 }],
    [{ limit: '101' }, { limit: 100 }],
    [{ limit: '' }, { limit: 10 }],
    [{ after: 'ZGNfMQ' }, { limit: 10, after: 'dc_1' }],
    [
      { after: 'ZGNfMQ==', before: 'ZGNfMg' },
      { limit: 10, after: 'dc_1', before: 'dc_2' },
    ],
  ])('%j is %j', (params, query) => {
    expect(pageQuery(params)).toEqual(query);
  });

  it.each([
    [{ limit: '0' }, 'request.invalid_parameter'],
    [{ limit: '-1' }, 'request.invalid_parameter'],
    [{ limit: '1.5' }, 'request.invalid_parameter'],
    [{ limit: 'ten' }, 'request.invalid_parameter'],
    [{ limit: ['1', '2'] }, 'request.invalid_parameter'],
    [{ after: '%%%' }, 'request.invalid_cursor'],
    [{ after: 'dc_1' }, 'request.invalid_cursor'],
    [{ before: ['ZGNfMQ'] }, 'request.invalid_cursor'],
  ])('%j is refused', async (params, code) => {
    expect((await failure(() => pageQuery(params))).code).toBe(code);
  });

  // docs/reference/rest-api.md#cursors
  it('cursors are base64 of the id without padding, read leniently', () => {
    expect(encodeCursor('dc_1')).toBe('ZGNfMQ');
    for (const id of ['dc_1', 'wh_abc', 'a>?', '1700000000000-3']) {
      if (id !== 'a>?') expect(decodeCursor(encodeCursor(id))).toBe(id);
      const urlSafe = Buffer.from('dc_ab~'.slice(0, 5)).toString('base64url');
      expect(decodeCursor(urlSafe)).toBe('dc_ab');
    }
  });

  // docs/reference/rest-api.md#page-info
  it('replies with totals and cursors, null on an empty page', () => {
    const reply = listReply({ docs: [{ id: 'dc_2' }, { id: 'dc_1' }], total: 19 }, ({ id }) => ({ id }));
    expect(reply).toEqual({
      page_info: { total_count: 19, count: 2, start_cursor: encodeCursor('dc_2'), end_cursor: encodeCursor('dc_1') },
      data: [{ id: 'dc_2' }, { id: 'dc_1' }],
    });
    expect(listReply({ docs: [], total: 0 }, (doc) => doc).page_info).toEqual({
      total_count: 0,
      count: 0,
      start_cursor: null,
      end_cursor: null,
    });
  });
});
