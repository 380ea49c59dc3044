import { Controller, HttpCode, Post } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import request from 'supertest';
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
}

describe('a route of a command', () => {
  let app: NestExpressApplication;
  const post = (path: string) =>
    request(app.getHttpServer()).post(`/v1/things/${path}`).set('Authorization', `Bearer ${TEST_KEY}`);

  beforeAll(async () => {
    app = await httpTestApp({ controllers: [ThingsController] });
  });
  afterAll(() => app.close());

  it.each([
    ['body', 'b'],
    ['query', 'q'],
  ])('gets its checked parameters, and all of them as they are: the %s wins', async (route, name) => {
    const reply = await post(`${route}?name=q&only=1`).send({ name: 'b', deep: { n: 1 } });
    expect(dataOf(reply)).toEqual({ thing: { name }, isThing: true, params: { name, only: '1', deep: { n: 1 } } });
  });

  it.each([
    [{ name: 'too long' }, 'invalid_parameter', { field: 'name', limit: 5, actual: 8 }],
    [[1], 'invalid_json', { actual: 'an array' }],
  ])('is not called with %j', async (body, code, details) => {
    expect(errorOf(await post('body').send(body))).toMatchObject({ status: 400, code, details });
  });
});
