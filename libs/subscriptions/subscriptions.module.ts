import { Module, type DynamicModule } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS } from '#libs/kernel/tokens.js';
import { CreateAutoSubscriptionController } from './create-auto-subscription/create-auto-subscription.controller.js';
import { CreateAutoSubscriptionHandler } from './create-auto-subscription/create-auto-subscription.handler.js';
import { DeleteAutoSubscriptionController } from './delete-auto-subscription/delete-auto-subscription.controller.js';
import { DeleteAutoSubscriptionHandler } from './delete-auto-subscription/delete-auto-subscription.handler.js';
import { ListAutoSubscriptionsController } from './list-auto-subscriptions/list-auto-subscriptions.controller.js';
import { ListAutoSubscriptionsHandler } from './list-auto-subscriptions/list-auto-subscriptions.query.js';
import { CreateSubscriptionController } from './create-subscription/create-subscription.controller.js';
import { CreateSubscriptionHandler } from './create-subscription/create-subscription.handler.js';
import { DeleteSubscriptionController } from './delete-subscription/delete-subscription.controller.js';
import { DeleteSubscriptionHandler } from './delete-subscription/delete-subscription.handler.js';
import { ListSubscriptionsController } from './list-subscriptions/list-subscriptions.controller.js';
import { ListSubscriptionsHandler } from './list-subscriptions/list-subscriptions.query.js';
import { REPLAYS, type Replays, RESOURCES, type Resources } from './ports.js';
import { CancelReplayHandler } from './replay-subscription/cancel-replay.handler.js';
import { ReplaySubscriptionController } from './replay-subscription/replay-subscription.controller.js';
import { ReplaySubscriptionHandler } from './replay-subscription/replay-subscription.handler.js';
import { SUBSCRIPTION_LIMITS, type SubscriptionLimits } from './limits.js';

export interface SubscriptionsPorts {
  readonly handleCommand: HandleCommand;
  readonly readModels: ReadModelStore;
  readonly clock: Clock;
  readonly resources: Resources;
  readonly replays: Replays;
  readonly resourceLimits?: SubscriptionLimits;
}

@Module({
  controllers: [
    CreateSubscriptionController,
    DeleteSubscriptionController,
    ListSubscriptionsController,
    CreateAutoSubscriptionController,
    DeleteAutoSubscriptionController,
    ListAutoSubscriptionsController,
    ReplaySubscriptionController,
  ],
  providers: [
    CreateSubscriptionHandler,
    DeleteSubscriptionHandler,
    ListSubscriptionsHandler,
    CreateAutoSubscriptionHandler,
    DeleteAutoSubscriptionHandler,
    ListAutoSubscriptionsHandler,
    ReplaySubscriptionHandler,
    CancelReplayHandler,
  ],
})
export class SubscriptionsModule {
  static forRoot(ports: SubscriptionsPorts): DynamicModule {
    return {
      module: SubscriptionsModule,
      providers: [
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: CLOCK, useValue: ports.clock },
        { provide: RESOURCES, useValue: ports.resources },
        { provide: REPLAYS, useValue: ports.replays },
        { provide: RESOURCE_LIMITS, useValue: ports.resourceLimits ?? SUBSCRIPTION_LIMITS },
      ],
    };
  }
}
