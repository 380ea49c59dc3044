import { type Shutdown } from '#libs/hosting/shutdown.js';
import { PlatformEvents } from '#libs/platform-events/platform-events.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { type Logger } from '#libs/telemetry/index.js';
import { type ControlPlane } from './control-plane.js';

/** The events of `$platform` that this process tells. At shutdown they are stored before the engines close. */
export const startPlatformEvents = (
  { clock, engines }: ControlPlane,
  topics: TopicPolicy,
  logger: Logger,
  shutdown: Pick<Shutdown, 'add'>,
): PlatformEvents => {
  const events = new PlatformEvents({ log: engines.log, topics, clock, logger });
  shutdown.add('platform events', () => events.idle());
  return events;
};
