import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { type Clock } from '#libs/kernel/clock.js';
import { type FaultOf } from '#libs/kernel/engine-unavailable.js';
import { type ReadYourWrites } from '#libs/kernel/read-your-writes.js';
import { CLOCK, READ_YOUR_WRITES } from '#libs/kernel/tokens.js';
import { AnswerInterceptor } from './answer.interceptor.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { BYTES_IN_FLIGHT, type HttpBytes, httpBytes } from './bytes-in-flight.js';
import { CALLERS, type Callers } from './callers.js';
import { ErrorFilter, FAULT_OF } from './error-filter.js';
import { FieldsInterceptor } from './fields.interceptor.js';
import { DEFAULT_HTTP_SETTINGS, HTTP_SETTINGS, type HttpSettings } from './http-settings.js';
import { IDEMPOTENCY_RECORDS, type IdempotencyRecords } from './idempotency-records.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { MisspeltParametersInterceptor } from './misspelt-parameters.interceptor.js';
import { PositionInterceptor } from './position.interceptor.js';
import { EtagInterceptor } from './preconditions.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { ToolsKeyGuard } from './tools-key.guard.js';
import { WorkspaceGuard } from './workspace.guard.js';
import { WritesGuard } from './writes.guard.js';
import { ParameterLimitsInterceptor } from './parameter-limits.interceptor.js';
import { WrongKeys } from './wrong-keys.js';

export interface HttpModuleOptions extends Partial<HttpSettings> {
  readonly callers: Callers;
  /** Decides when a command may be answered, and a query that carries a position. */
  readonly readYourWrites: ReadYourWrites;
  readonly clock: Clock;
  /** Where replies to requests with an Idempotency-Key are kept. */
  readonly idempotency: IdempotencyRecords;
  /** Bytes that requests of this process hold. Default: those of this module alone. */
  readonly bytes?: HttpBytes;
  /** Recognises errors that the state of an engine caused. They are answered 503. */
  readonly faultOf: FaultOf;
}

const MB = 1024 * 1024;

/** Provides the global guards, interceptors and error filter. */
@Module({})
export class HttpModule {
  static forRoot(options: HttpModuleOptions): DynamicModule {
    const {
      callers,
      readYourWrites,
      clock,
      idempotency,
      faultOf,
      bytes = httpBytes(2 * MB, 8 * MB),
      ...settings
    } = options;
    return {
      module: HttpModule,
      providers: [
        WrongKeys,
        { provide: CALLERS, useValue: callers },
        { provide: READ_YOUR_WRITES, useValue: readYourWrites },
        { provide: CLOCK, useValue: clock },
        { provide: BYTES_IN_FLIGHT, useValue: bytes },
        { provide: IDEMPOTENCY_RECORDS, useValue: idempotency },
        { provide: HTTP_SETTINGS, useValue: { ...DEFAULT_HTTP_SETTINGS, ...settings } },
        { provide: FAULT_OF, useValue: faultOf },
        { provide: APP_FILTER, useClass: ErrorFilter },
        // The order matters: identify the caller, limit its rate, check what its key opens, its workspace, and whether it
        // may write.
        { provide: APP_GUARD, useClass: ApiKeyGuard },
        { provide: APP_GUARD, useClass: RateLimitGuard },
        { provide: APP_GUARD, useClass: ToolsKeyGuard },
        { provide: APP_GUARD, useClass: WorkspaceGuard },
        { provide: APP_GUARD, useClass: WritesGuard },
        // The first interceptor sees the reply last.
        { provide: APP_INTERCEPTOR, useClass: AnswerInterceptor },
        { provide: APP_INTERCEPTOR, useClass: ParameterLimitsInterceptor },
        { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
        { provide: APP_INTERCEPTOR, useClass: FieldsInterceptor },
        { provide: APP_INTERCEPTOR, useClass: MisspeltParametersInterceptor },
        { provide: APP_INTERCEPTOR, useClass: EtagInterceptor },
        { provide: APP_INTERCEPTOR, useClass: PositionInterceptor },
      ],
    };
  }
}
