import { Module, type DynamicModule, type Provider } from '@nestjs/common';
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
import { PortsModule } from '../hosting/ports.module.js';

/** The API: routes and handlers of every context, behind the HTTP edge. */
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
