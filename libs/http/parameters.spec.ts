import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import { IsInt, IsObject, IsOptional, IsString, Max, MaxLength, Min, ValidateNested } from 'class-validator';
import { type Request } from 'express';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Caller } from '#libs/tenancy/published.js';
import { decodeCursor, encodeCursor, listReply, pageQuery } from './pages.js';
import { parameters, validated } from './parameters.js';
import { workspaceOf } from './workspace.js';

class Inner {
  @IsInt()
  n!: number;
}
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

  @IsOptional()
  @ValidateNested()
  @Type(() => Inner)
  inner?: Inner;
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

describe('parameters', () => {
  const from = (query: object, body: unknown) => ({ query, body }) as unknown as Request;

  it('come from query and body, and the route says which wins', () => {
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

  it('are checked, and unknown ones dropped', async () => {
    const dto = await validated(Dto, { name: 'abc', seconds: 3, props: { x: { y: 1 } }, nonsense: 1 });
    expect({ ...dto }).toEqual({ name: 'abc', seconds: 3, props: { x: { y: 1 } } });
  });

  it.each([
    [{}, 'request.missing_parameter', { field: 'name' }],
    [{ name: 5 }, 'request.invalid_parameter', { field: 'name', actual: 5 }],
    [{ name: 'abcdefg' }, 'request.invalid_parameter', { field: 'name', limit: 5, actual: 7 }],
    [{ name: 'a', seconds: 31 }, 'request.invalid_parameter', { field: 'seconds', limit: 30, actual: 31 }],
    [{ name: 'a', seconds: 0 }, 'request.invalid_parameter', { field: 'seconds', limit: 1, actual: 0 }],
    [{ name: 'a', props: [1] }, 'request.invalid_parameter', { field: 'props', actual: 'an array of 1' }],
    [{ name: 'a', inner: { n: 'x' } }, 'request.invalid_parameter', { field: 'inner.n', actual: 'x' }],
  ])('%j is named', async (params, code, details) => {
    const error = await failure(() => validated(Dto, params));
    expect([error.code, error.details]).toEqual([code, details]);
    expect(error.message).toContain(details.field);
  });
});

describe('pages', () => {
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

  it('cursors are base64 of the id without padding, read leniently', () => {
    expect(encodeCursor('dc_1')).toBe('ZGNfMQ');
    for (const id of ['dc_1', 'wh_abc', 'a>?', '1700000000000-3']) {
      if (id !== 'a>?') expect(decodeCursor(encodeCursor(id))).toBe(id);
      const urlSafe = Buffer.from('dc_ab~'.slice(0, 5)).toString('base64url');
      expect(decodeCursor(urlSafe)).toBe('dc_ab');
    }
  });

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

describe('the workspace of an operation', () => {
  const isWorkspace = (id: string): boolean => ['o_1', 'o_2', 'o_3'].includes(id);
  const one: Caller = { userId: 'u_1', apiKeyId: 'key_1', workspaceIds: ['o_1'], isWorkspace };
  const two: Caller = { ...one, workspaceIds: ['o_1', 'o_2'] };

  it.each([
    [one, {}, 'o_1'],
    [one, { org_id: '' }, 'o_1'],
    [one, { org_id: 'o_1' }, 'o_1'],
    [two, { workspace_id: 'o_2' }, 'o_2'],
    [two, { org_id: 'o_1', workspace_id: 'o_2' }, 'o_1'],
  ])('of %# is found', (caller, params, workspace) => {
    expect(workspaceOf(caller, params)).toBe(workspace);
  });

  it.each([
    [two, {}, 'workspace.required', 'please specify a valid workspace'],
    [{ ...one, workspaceIds: [] }, {}, 'workspace.required', 'please specify a valid workspace'],
    [one, { org_id: 'o_3' }, 'auth.not_a_member', 'you are not a member of workspace o_3'],
    [one, { org_id: 'o_9' }, 'workspace.not_found', 'there is no workspace o_9'],
    [
      one,
      { org_id: ['o_1', 'o_2'] },
      'request.invalid_parameter',
      'org_id must be one workspace id, got ["o_1","o_2"]',
    ],
  ])('of %# is refused', async (caller, params, code, message) => {
    const error = await failure(() => workspaceOf(caller, params));
    expect([error.code, error.message]).toEqual([code, message]);
  });
});
