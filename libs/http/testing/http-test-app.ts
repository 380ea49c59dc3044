import { createHash } from 'node:crypto';
import { Global, Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { type Clock } from '#libs/kernel/clock.js';
import { CLOCK, READ_YOUR_WRITES } from '#libs/kernel/tokens.js';
import { CALLERS, type Caller, type Callers } from '#libs/http/callers.js';
import { configureHttp, type ConfigureHttpOptions } from '../configure-http.js';
import { HttpModule, type HttpModuleOptions } from '../http.module.js';

export const TEST_KEY = 'test-key';
export const TEST_CALLER: Caller = {
  userId: 'u_1',
  apiKeyId: 'key_1',
  workspaceIds: ['o_1'],
  isWorkspace: (id) => ['o_1', 'o_2'].includes(id),
};

export interface HttpTestAppOptions {
  readonly controllers?: readonly Type[];
  readonly imports?: readonly (Type | DynamicModule)[];
  /** Global providers for the tokens of the slices. They override the defaults of CLOCK, READ_YOUR_WRITES and CALLERS. */
  readonly providers?: readonly Provider[];
  /** Callers by API key; by default TEST_KEY belongs to TEST_CALLER. */
  readonly callers?: Readonly<Record<string, Caller>>;
  readonly http?: HttpModuleOptions;
  readonly configure?: Partial<ConfigureHttpOptions>;
  readonly now?: () => number;
}

@Global()
@Module({})
class TestComposition {}

/** Starts a Nest application with the whole HTTP edge and only the given modules behind it. Close it after the test. */
export const httpTestApp = async (options: HttpTestAppOptions): Promise<NestExpressApplication> => {
  const byHash = new Map(
    Object.entries(options.callers ?? { [TEST_KEY]: TEST_CALLER }).map(([key, caller]) => [
      createHash('sha256').update(key).digest('hex'),
      caller,
    ]),
  );
  const callers: Callers = { callerOf: (hash) => byHash.get(hash) };
  const clock: Clock = { now: options.now ?? (() => 1_700_000_000_000) };
  const providers: Provider[] = [
    { provide: CALLERS, useValue: callers },
    { provide: CLOCK, useValue: clock },
    { provide: READ_YOUR_WRITES, useValue: { waitFor: async () => true } },
    ...(options.providers ?? []),
  ];
  const tokens = providers.map((provider) => (typeof provider === 'function' ? provider : provider.provide));
  const composition: DynamicModule = { module: TestComposition, providers, exports: [...new Set(tokens)] };
  const testing = await Test.createTestingModule({
    imports: [composition, HttpModule.register({ requestsPerMinute: 0, ...options.http }), ...(options.imports ?? [])],
    controllers: [...(options.controllers ?? [])],
  }).compile();
  const app = testing.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
  configureHttp(app, { maxBodyBytes: 64 * 1024, ...options.configure });
  await app.init();
  return app;
};
