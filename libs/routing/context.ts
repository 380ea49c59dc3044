import { type Context } from '#libs/kernel/context.js';
import { ReplayReactor, type ReplayDependencies } from './replay.reactor.js';

export const routingContext = {
  reactors: { replay: (ports: ReplayDependencies) => new ReplayReactor(ports) },
} as const satisfies Context;
