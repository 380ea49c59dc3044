import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AuditModule } from '#libs/audit/index.js';
import { ComponentsModule } from '#libs/components/index.js';
import { EventsModule } from '#libs/events/index.js';
import { HttpModule, type HttpModuleOptions } from '#libs/http/http.module.js';
import { SourcesModule } from '#libs/sources/index.js';
import { SubscriptionsModule } from '#libs/subscriptions/index.js';
import { TelemetryModule } from '#libs/telemetry/index.js';
import { TenancyModule } from '#libs/tenancy/index.js';
import { WebhooksModule } from '#libs/webhooks/index.js';

/** What the contexts ask for by token, made by the start-up before Nest. */
@Global()
@Module({})
export class PortsModule {
  static register(providers: readonly Provider[]): DynamicModule {
    return {
      module: PortsModule,
      providers: [...providers],
      exports: providers.map((provider) => (typeof provider === 'function' ? provider : provider.provide)),
    };
  }
}

/** The API: every context's routes and handlers behind the HTTP edge. */
@Module({})
export class ApiModule {
  static register(providers: readonly Provider[], http: HttpModuleOptions): DynamicModule {
    return {
      module: ApiModule,
      imports: [
        PortsModule.register(providers),
        CqrsModule.forRoot(),
        HttpModule.register(http),
        TelemetryModule,
        TenancyModule,
        ComponentsModule,
        SourcesModule,
        SubscriptionsModule,
        WebhooksModule,
        EventsModule,
        AuditModule,
      ],
    };
  }
}
