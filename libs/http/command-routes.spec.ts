import { Controller, Delete, HttpCode, Param, Post } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import request from 'supertest';
import { positionOf, type Position } from '#libs/kernel/events.js';
import { Changed } from './changed.js';
import { type HttpModuleOptions } from './http.module.js';
import { type Parameters, Params } from './parameters.js';
import { httpTestApp, TEST_KEY } from './testing/http-test-app.js';
import { dataOf, errorOf } from './testing/replies.js';

class ThingDto {
  @IsOptional()
  @IsString()
  @MaxLength(5)
  name?: string;
}

@Controller('v1/things')
class ThingsController {
  @Post('body')
  @HttpCode(200)
  bodyWins(@Params('body_wins', ThingDto) thing: ThingDto, @Params('body_wins') params: Parameters): object {
    return { data: { thing, isThing: thing instanceof ThingDto, params } };
  }

  @Post('query')
  @HttpCode(200)
  queryWins(@Params('query_wins', ThingDto) thing: ThingDto, @Params('query_wins') params: Parameters): object {
    return { data: { thing, isThing: thing instanceof ThingDto, params } };
  }

  @Post('changed')
  @HttpCode(200)
  async change(): Promise<Changed<object>> {
    steps.push('route');
    return new Changed(positionOf(7), { data: { id: 'a', name: 'A' } });
  }

  @Post('unchanged')
  @HttpCode(200)
  unchanged(): Changed<object> {
    return new Changed(undefined, { data: { id: 'a' } });
  }

  @Delete(':id')
  @HttpCode(204)
  async remove(@Param('id') id: string): Promise<Changed> {
    return new Changed(positionOf(Number(id)));
  }
}

/** What happens between a request and its answer, in order. */
const steps: string[] = [];

describe('a route of a command', () => {
  let app: NestExpressApplication;
  let applied: boolean;
  const readModels = {
    waitFor: async (position: Position): Promise<boolean> => {
      steps.push(`wait for ${Number(position)}`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push('waited');
      return applied;
    },
  };
  const start = async (http: Partial<HttpModuleOptions> = {}): Promise<void> => {
    app = await httpTestApp({ controllers: [ThingsController], http: { readYourWrites: readModels, ...http } });
  };
  const call = (method: 'post' | 'delete', path: string) =>
    request(app.getHttpServer())[method](`/v1/things/${path}`).set('Authorization', `Bearer ${TEST_KEY}`);
  const post = (path: string) => call('post', path);

  beforeEach(() => {
    applied = true;
    steps.length = 0;
  });
  afterEach(() => app.close());

  it.each([
    ['body', 'b'],
    ['query', 'q'],
  ])('gets its checked parameters, and all of them as they are: the %s wins', async (route, name) => {
    await start();
    const reply = await post(`${route}?name=q&only=1`).send({ name: 'b', deep: { n: 1 } });
    expect(dataOf(reply)).toEqual({ thing: { name }, isThing: true, params: { name, only: '1', deep: { n: 1 } } });
  });

  it.each([
    [{ name: 'too long' }, 'invalid_parameter', { field: 'name', limit: 5, actual: 8 }],
    [[1], 'invalid_json', { actual: 'an array' }],
  ])('is not called with %j', async (body, code, details) => {
    await start();
    expect(errorOf(await post('body').send(body))).toMatchObject({ status: 400, code, details });
  });

  // docs/reference/rest-api.md#position-header #read-your-writes
  it('is answered after the read models have applied the change, with the position', async () => {
    await start();
    const reply = await post('changed');
    expect([reply.status, reply.headers['x-sluice-position']]).toEqual([200, positionOf(7)]);
    expect(reply.body).toEqual({ data: { id: 'a', name: 'A' } });
    expect(steps).toEqual(['route', 'wait for 7', 'waited']);
  });

  it('selects the fields of that reply', async () => {
    await start();
    expect((await post('changed?include=name')).body).toEqual({ data: { name: 'A' } });
  });

  it('waits for nothing when nothing changed', async () => {
    await start();
    const reply = await post('unchanged');
    expect([reply.status, reply.headers['x-sluice-position'], reply.body]).toEqual([
      200,
      undefined,
      { data: { id: 'a' } },
    ]);
    expect(steps).toEqual([]);
  });

  it('answers without a body when it has none', async () => {
    await start();
    const reply = await call('delete', '8');
    expect([reply.status, reply.text, reply.headers['x-sluice-position']]).toEqual([204, '', positionOf(8)]);
    expect(steps).toEqual(['wait for 8', 'waited']);
  });

  it.each([
    [false, 503],
    [true, 204],
  ])('answers while the read models lag behind, with answersUnapplied %s, %i', async (answersUnapplied, status) => {
    applied = false;
    await start({ answersUnapplied });
    const reply = await call('delete', '8');
    expect([reply.status, reply.headers['x-sluice-position']]).toEqual([status, positionOf(8)]);
  });
});
