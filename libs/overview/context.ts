import { type Context } from '#libs/kernel/context.js';
import { OverviewModule, type OverviewPorts } from './overview.module.js';

export const overviewContext = {
  module: (ports: OverviewPorts) => OverviewModule.forRoot(ports),
} as const satisfies Context;
