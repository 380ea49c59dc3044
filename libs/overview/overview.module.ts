import { Module, type DynamicModule } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { GetStatsController } from './get-stats/get-stats.controller.js';
import { Problems } from './get-stats/problems.js';
import { StatsOfWorkspaces } from './get-stats/workspace-stats.js';
import {
  type BacklogHere,
  type DeadAccounts,
  HOLDINGS,
  type HoldingsReader,
  MINUTES,
  type MinuteReader,
  type Refusals,
  type SourceFailures,
  type UnendedDeliveries,
  type WebhookFailures,
} from './ports.js';
import { WaitingWork } from './waiting-work.js';

export interface OverviewPorts {
  readonly clock: Clock;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly minuteCounts: MinuteReader;
  readonly holdings: HoldingsReader;
  readonly sourceCounts: SourceFailures;
  readonly webhookFailures: WebhookFailures;
  readonly waitingDeliveries: UnendedDeliveries;
  readonly deadAccounts: DeadAccounts;
  readonly refusals: Refusals;
  readonly backlogHere: BacklogHere | undefined;
}

@Module({ controllers: [GetStatsController], providers: [StatsOfWorkspaces] })
export class OverviewModule {
  static forRoot(ports: OverviewPorts): DynamicModule {
    const { log, topics, waitingDeliveries, backlogHere } = ports;
    const { sourceCounts, webhookFailures, deadAccounts, refusals } = ports;
    const waiting = { log, topics, deliveries: waitingDeliveries, here: backlogHere, now: () => performance.now() };
    const problems = { failures: sourceCounts, deliveries: webhookFailures, accounts: deadAccounts, refusals };
    return {
      module: OverviewModule,
      providers: [
        { provide: CLOCK, useValue: ports.clock },
        { provide: MINUTES, useValue: ports.minuteCounts },
        { provide: HOLDINGS, useValue: ports.holdings },
        { provide: WaitingWork, useValue: new WaitingWork(waiting) },
        { provide: Problems, useValue: new Problems(problems) },
      ],
    };
  }
}
