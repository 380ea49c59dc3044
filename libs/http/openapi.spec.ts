import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IsBoolean, IsIn, IsInt, IsObject, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import request from 'supertest';
import { OpenToAll } from './access.js';
import { Changed } from './changed.js';
import { buildOpenApi, openApiText } from './openapi.js';
import { type ListReply } from './pages.js';
import { Operation } from './operation.js';
import { ErrorReply, one, paged } from './replies.js';
import { named, optional, text, type TypeOf } from './reply-schema.js';
import { httpTestApp } from './testing/http-test-app.js';

class ThingDto {
  @IsString()
  @MaxLength(40)
  name!: string;

  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(30)
  seconds?: number;

  @IsOptional()
  @IsBoolean()
  active?: boolean;

  @IsOptional()
  @IsObject()
  props?: object;

  @IsOptional()
  @IsString({ each: true })
  tags?: string[];

  @IsOptional()
  @IsIn(['a', 'b'])
  kind?: string;
}

const Thing = named('Thing', { id: text('`th_…`'), note: optional(text()) });
const Part = named('Part', { thing: Thing });

@Controller('v1')
class ThingsController {
  @Get(['things/:thing_id/$errors', 'alias/:thing_id'])
  @Operation({ summary: 'Errors of a thing', paged: true, also: { at: 'When' }, reply: paged(Thing) })
  list(@Param('thing_id') id: string): ListReply<TypeOf<typeof Thing>> {
    const page_info = { total_count: 1, count: 1, start_cursor: null, end_cursor: null };
    return { page_info, data: [{ id }] };
  }

  @Post('things')
  @HttpCode(200)
  @Operation({ summary: 'Make a thing', body: ThingDto, reply: one(Part) })
  async make(@Body() { name }: ThingDto): Promise<Changed<{ data: TypeOf<typeof Part> }>> {
    return Promise.resolve(new Changed(undefined, { data: { thing: { id: name } } }));
  }

  @Delete('things')
  @HttpCode(204)
  @Operation({ summary: 'Remove things', query: ThingDto })
  remove(): void {}

  @Get('never')
  @Operation({ summary: 'Nothing', replies: { 404: { description: 'Always', schema: ErrorReply } } })
  never(): never {
    throw new Error('never');
  }

  @Get('open')
  @OpenToAll()
  open(): string {
    return 'open';
  }
}

describe('the description of the API', () => {
  let app: NestExpressApplication;
  beforeAll(async () => {
    app = await httpTestApp({ controllers: [ThingsController] });
  });
  afterAll(() => app.close());

  it('is served without a key, the same each time', async () => {
    const http = request(app.getHttpServer());
    const first = await http.get('/v1/openapi.json');
    expect([first.status, first.type]).toEqual([200, 'application/json']);
    expect(first.text).toBe(await openApiText(app));
    expect((await http.get('/v1/openapi.json/')).text).toBe(first.text);
    expect((await http.post('/v1/openapi.json')).status).toBe(404);
  });

  it('names every route, its parameters, its body, its key and its error', async () => {
    const document = await buildOpenApi(app);
    expect(document.openapi).toBe('3.1.1');
    expect(Object.keys(document.paths)).toEqual([
      '/v1/alias/{thing_id}',
      '/v1/never',
      '/v1/open',
      '/v1/things',
      '/v1/things/{thing_id}/$errors',
    ]);
    const errors = document.paths['/v1/things/{thing_id}/$errors']?.get;
    expect(errors).toMatchObject({
      operationId: 'listThingErrors',
      summary: 'Errors of a thing',
      tags: ['things'],
    });
    expect(errors?.parameters?.map((each) => ('name' in each ? `${each.in} ${each.name}` : ''))).toEqual([
      'path thing_id',
      'query at',
      'query limit',
      'query after',
      'query before',
      'query workspace_id',
      'query org_id',
      'query include',
      'query exclude',
    ]);
    expect(document.paths['/v1/things']?.post?.requestBody).toEqual({
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['name'],
            properties: {
              name: { type: 'string', maxLength: 40 },
              seconds: { type: 'integer', minimum: 1, maximum: 30 },
              active: { type: 'boolean' },
              props: {
                type: 'object',
                maxProperties: 1_000,
                propertyNames: { maxLength: 1_024 },
                additionalProperties: { maxLength: 65_536 },
              },
              tags: { type: 'array', maxItems: 1_000, items: { type: 'string', maxLength: 1_024 } },
              kind: { enum: ['a', 'b'] },
            },
          },
        },
      },
    });
    const remove = document.paths['/v1/things']?.delete;
    expect(remove?.parameters?.slice(0, 2)).toEqual([
      { name: 'name', in: 'query', required: true, schema: { type: 'string', maxLength: 40 } },
      { name: 'seconds', in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 30 } },
    ]);
    expect(document.paths['/v1/open']?.get?.security).toEqual([]);
    expect(document.security).toEqual([{ apiKey: [] }]);
  });

  it('names the release, its licence, the address of the server and the kind of key', async () => {
    const { info, servers, components } = await buildOpenApi(app, {
      version: '1.2.3',
      publicUrl: 'https://events.example.com',
    });
    expect(info).toMatchObject({ version: '1.2.3', license: { name: 'Apache-2.0' } });
    expect(servers?.map(({ url }) => url)).toEqual(['https://events.example.com']);
    expect(components?.securitySchemes).toEqual({
      apiKey: { type: 'http', scheme: 'bearer', description: 'An API key' },
    });
    expect((await buildOpenApi(app)).servers?.map(({ url }) => url)).toEqual(['/']);
  });

  // docs/reference/rest-api.md#entry
  it('is named by GET /v1, and GET / names both', async () => {
    const http = request(app.getHttpServer());
    const entry = await http.get('/v1');
    expect([entry.status, entry.body]).toEqual([
      200,
      { data: expect.objectContaining({ docs: '/v1/docs', openapi: '/v1/openapi.json' }) },
    ]);
    const root = await http.get('/');
    expect([root.status, root.body]).toMatchObject([
      404,
      {
        code: 'route_not_found',
        error: expect.stringContaining('the API is under /v1, and GET /v1/docs describes it'),
      },
    ]);
  });

  it('gives each reply its schema', async () => {
    const { paths, components } = await buildOpenApi(app);
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const json = (schema: object) => ({ content: { 'application/json': { schema } } });
    expect(paths['/v1/things/{thing_id}/$errors']?.get?.responses).toMatchObject({
      200: json({
        required: ['page_info', 'data'],
        properties: { page_info: ref('PageInfo'), data: { type: 'array', items: ref('Thing') } },
      }),
      404: { $ref: '#/components/responses/NotFound' },
      default: { $ref: '#/components/responses/Failed' },
    });
    expect(paths['/v1/things']?.post?.responses).toMatchObject({ 200: json({ properties: { data: ref('Part') } }) });
    expect(paths['/v1/things']?.delete?.responses[204]).toEqual({ description: 'Done; no body' });
    expect(Object.keys(paths['/v1/never']?.get?.responses ?? {})).toEqual([
      ...['400', '401', '403', '404', '429', '503', 'default'],
    ]);
    expect(components?.responses?.['NotFound']).toMatchObject(json(ref('Error')));
    expect(Object.keys(paths['/v1/things']?.post?.responses ?? {})).toEqual([
      ...['200', '400', '401', '403', '409', '413', '415', '422', '429', '503', 'default'],
    ]);
    expect(Object.keys(components?.schemas ?? {})).toEqual(['Error', 'PageInfo', 'Part', 'Thing', 'Warning']);
    expect(components?.schemas?.['Thing']).toEqual({
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', description: '`th_…`' }, note: { type: 'string' } },
    });
  });
});
