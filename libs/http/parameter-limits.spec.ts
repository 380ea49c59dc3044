import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IsInt, IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import request from 'supertest';
import { ErrorReply } from './replies.js';
import { Operation } from './operation.js';
import { Params, type Parameters } from './parameters.js';
import { httpTestApp, TEST_KEY } from './testing/http-test-app.js';

class ThingDto {
  @IsOptional()
  @IsString()
  @MaxLength(40)
  name?: string;

  @IsOptional()
  @IsString()
  note?: string;

  @IsOptional()
  @IsString({ each: true })
  tags?: string[];

  @IsOptional()
  @IsInt()
  count?: number;

  @IsOptional()
  @IsObject()
  props?: object;
}

interface Answered {
  status: number;
  body: unknown;
}

const read: Parameters[] = [];
const REPLIES = { 200: { description: 'Done', schema: ErrorReply } };

@Controller('v1/things')
class ThingsController {
  @Post()
  @HttpCode(200)
  @Operation({ summary: 'Make', body: ThingDto, objects: { event: 'Any' }, replies: REPLIES })
  make(@Params('body_wins') params: Parameters): void {
    read.push(params);
  }

  @Get(':id')
  @Operation({ summary: 'Find', query: ThingDto, also: { q: 'Word', filter: 'JSON' }, paged: true, replies: REPLIES })
  find(@Param('id') _: string, @Params('query_wins') params: Parameters): void {
    read.push(params);
  }
}

// docs/reference/limits.md#parameter-texts
describe('limits of parameters', () => {
  let app: NestExpressApplication;
  beforeAll(async () => {
    app = await httpTestApp({ controllers: [ThingsController], configure: { maxBodyBytes: 2 * 1024 * 1024 } });
  });
  afterAll(() => app.close());

  const http = () => request(app.getHttpServer());
  const post = (body: object): Promise<Answered> =>
    http()
      .post('/v1/things')
      .set('authorization', `Bearer ${TEST_KEY}`)
      .send(body)
      .then(({ status, body: answer }) => ({ status, body: answer as unknown }));
  const get = (query: string, headers = {}): Promise<Answered> =>
    http()
      .get(`/v1/things/${query}`)
      .set('authorization', `Bearer ${TEST_KEY}`)
      .set(headers)
      .then(({ status, body }) => ({ status, body: body as unknown }));
  const x = (length: number): string => 'x'.repeat(length);

  it.each<[string, object, number, number]>([
    ['name', { name: x(41) }, 40, 41],
    ['note', { note: x(500_000) }, 1_024, 500_000],
    ['count', { count: '9'.repeat(500_000) }, 1_024, 500_000],
    ['tags', { tags: Array(1_001).fill('a') }, 1_000, 1_001],
    ['tags', { tags: ['a', x(1_025)] }, 1_024, 1_025],
    ['note', { note: [x(1_000), x(1_000)] }, 1_024, 2_000],
    ['props', { props: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`k${n}`, 1])) }, 1_000, 1_001],
    ['props', { props: { [x(1_025)]: 1 } }, 1_024, 1_025],
    ['props.a', { props: { a: x(65_537) } }, 65_536, 65_537],
    ['event', { event: { [x(65_537)]: 1 } }, 65_536, 65_537],
  ])('refuse %s beyond them, with both figures', async (field, body, limit, actual) => {
    read.length = 0;
    const { status, body: answer } = await post(body);
    expect({ status, answer }).toMatchObject({
      status: 400,
      answer: { code: 'invalid_parameter', details: { field, limit, actual } },
    });
    expect(read).toEqual([]);
  });

  it.each<[string, string, number]>([
    [`a?q=${x(1_025)}`, 'q', 1_024],
    [`a?q=${x(1_000)}&q=${x(100)}`, 'q', 1_024],
    [`a?after=${x(401)}`, 'after', 400],
    [`a?${'q=&'.repeat(900)}q=${x(1_025)}`, 'q', 1_024],
    [x(8_193), 'id', 8_192],
  ])('refuse them in a query, and in a path', async (query, field, limit) => {
    expect(await get(query)).toMatchObject({ status: 400, body: { details: { field, limit } } });
  });

  it('refuse long headers that the route reads', async () => {
    const { status, body } = await get('a', { 'if-none-match': `"${x(4_096)}"` });
    expect([status, body]).toMatchObject([400, { details: { field: 'If-None-Match', limit: 4_096, actual: 4_098 } }]);
  });

  it('let pass what keeps them, and what the route does not read', async () => {
    const props = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, x(1_024)]));
    const kept = {
      name: x(40),
      note: x(1_024),
      tags: ['a', x(1_000)],
      props,
      event: { deep: { [x(70_000)]: [x(70_000)] } },
    };
    expect((await post({ ...kept, other: x(100_000) })).status).toBe(200);
    expect((await post({ event: Array(20_000).fill(1) })).status).toBe(200);
    expect((await get(`a?q=${x(1_024)}`)).status).toBe(200);
  });
});
