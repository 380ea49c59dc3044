import { createHash } from 'node:crypto';
import { type DynamicModule, type Type } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { EngineUnavailable } from '#libs/kernel/engine-unavailable.js';
import { type Caller } from '../callers.js';
import { configureHttp, type ConfigureHttpOptions } from '../configure-http.js';
import { HttpModule, type HttpModuleOptions } from '../http.module.js';
import { InMemoryIdempotencyRecords } from './in-memory-idempotency-records.js';

export const TEST_KEY = 'test-key';
export const TEST_CALLER: Caller = {
  userId: 'u_1',
  apiKeyId: 'key_1',
  workspaceIds: ['o_1'],
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
};

export interface HttpTestAppOptions {
  readonly controllers?: readonly Type[];
  readonly imports?: readonly DynamicModule[];
  /** Callers by API key; by default TEST_KEY belongs to TEST_CALLER. */
  readonly callers?: Readonly<Record<string, Caller>>;
  readonly http?: Partial<HttpModuleOptions>;
  readonly configure?: Partial<ConfigureHttpOptions>;
  readonly now?: () => number;
}

/** Starts a Nest application with the whole HTTP edge and only the given modules behind it. Close it after the test. */
export const httpTestApp = async (options: HttpTestAppOptions): Promise<NestExpressApplication> => {
  const byHash = new Map(
    Object.entries(options.callers ?? { [TEST_KEY]: TEST_CALLER }).map(([key, caller]) => [
      createHash('sha256').update(key).digest('hex'),
      caller,
    ]),
  );
  const http = HttpModule.forRoot({
    callers: { callerOf: (hash) => byHash.get(hash) },
    readYourWrites: { waitFor: async () => true },
    clock: { now: options.now ?? (() => 1_700_000_000_000) },
    idempotency: new InMemoryIdempotencyRecords(),
    faultOf: (error) => (error instanceof EngineUnavailable ? error : undefined),
    requestsPerMinute: 0,
    ...options.http,
  });
  const testing = await Test.createTestingModule({
    imports: [CqrsModule.forRoot(), http, ...(options.imports ?? [])],
    controllers: [...(options.controllers ?? [])],
  }).compile();
  const app = testing.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
  configureHttp(app, { maxBodyBytes: 64 * 1024, ...options.configure });
  await app.init();
  return app;
};
