import { type Clock } from '#libs/kernel/clock.js';
import { type Context } from '#libs/kernel/context.js';
import { type PlatformEvents } from './platform-events.js';
import { PlatformEventsReactor } from './platform-events.reactor.js';

interface Ports {
  readonly platformEvents: Pick<PlatformEvents, 'publish'>;
  readonly clock: Clock;
}

export const platformEventsContext = {
  reactors: {
    'platform-events': ({ platformEvents, clock }: Ports) =>
      new PlatformEventsReactor({ events: platformEvents, clock }),
  },
} as const satisfies Context;
