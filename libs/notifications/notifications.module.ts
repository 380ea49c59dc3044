import { Module, type DynamicModule } from '@nestjs/common';
import { type KnownSources } from '#libs/http/source-in-path.js';
import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { ErrorEmailsController } from './error-emails/error-emails.controller.js';
import { GetErrorEmailsHandler } from './error-emails/get-error-emails.query.js';
import { SwitchErrorEmailsHandler } from './error-emails/switch-error-emails.handler.js';
import { NOTIFIED_SOURCES, SENDS_EMAIL } from './ports.js';

export interface NotificationsPorts {
  readonly handleCommand: HandleCommand;
  readonly readModels: ReadModelStore;
  readonly clock: Clock;
  readonly sources: KnownSources;
  /** Whether this server sends email. */
  readonly sendsEmail: boolean;
}

@Module({
  controllers: [ErrorEmailsController],
  providers: [GetErrorEmailsHandler, SwitchErrorEmailsHandler],
})
export class NotificationsModule {
  static forRoot(ports: NotificationsPorts): DynamicModule {
    return {
      module: NotificationsModule,
      providers: [
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: CLOCK, useValue: ports.clock },
        { provide: NOTIFIED_SOURCES, useValue: ports.sources },
        { provide: SENDS_EMAIL, useValue: ports.sendsEmail },
      ],
    };
  }
}
