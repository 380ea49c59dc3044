import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { EventStreams, unsentLimits } from '../index.js';

/** For specs that open no stream, or a single one. */
export const noStreams = (log: Pick<StreamLog, 'tail'>): EventStreams =>
  new EventStreams(log, {
    settings: { perUser: 1, unsent: unsentLimits() },
    mayRead: () => true,
    isPublic: () => false,
    exists: () => true,
    shuttingDown: () => false,
    onEnded: () => undefined,
  });
