import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type AppEvent, APP_EVENTS, type AppEvents, type SentAppEvent } from '../ports.js';

export class SendAppEvent extends Command<SentAppEvent> {
  constructor(readonly event: AppEvent) {
    super();
  }
}

/** Passes an event of an app to the sources that accept it. See docs/reference/rest-api.md#app-events. */
@CommandHandler(SendAppEvent)
export class SendAppEventHandler implements ICommandHandler<SendAppEvent> {
  constructor(@Inject(APP_EVENTS) private readonly events: AppEvents) {}

  execute({ event }: SendAppEvent): Promise<SentAppEvent> {
    return this.events.send(event);
  }
}
