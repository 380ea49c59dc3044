import { Module, type DynamicModule } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { type HandleCommand } from '#libs/kernel/handle-command.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { RESOURCE_LIMITS } from '#libs/kernel/resource-limits.js';
import { CLOCK, HANDLE_COMMAND, READ_MODELS, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type StreamLog } from '#libs/stream-log/stream-log.js';
import { STREAM_LOG, TOPIC_POLICY } from '#libs/stream-log/tokens.js';
import { type TopicPolicy } from '#libs/stream-log/topics.js';
import { CreateWebhookController } from './create-webhook/create-webhook.controller.js';
import { CreateWebhookHandler } from './create-webhook/create-webhook.handler.js';
import { DeleteWebhookController } from './delete-webhook/delete-webhook.controller.js';
import { DeleteWebhookHandler } from './delete-webhook/delete-webhook.handler.js';
import { DisableWebhookHandler } from './disable-webhook/disable-webhook.handler.js';
import { GetDeliveryController } from './get-delivery/get-delivery.controller.js';
import { GetDeliveryHandler } from './get-delivery/get-delivery.query.js';
import { GetWebhookController } from './get-webhook/get-webhook.controller.js';
import { GetWebhookHandler } from './get-webhook/get-webhook.query.js';
import { ListDeliveriesController } from './list-deliveries/list-deliveries.controller.js';
import { ListDeliveriesHandler } from './list-deliveries/list-deliveries.query.js';
import { ListWebhooksController } from './list-webhooks/list-webhooks.controller.js';
import { ListWebhooksOfWorkspaceController } from './list-webhooks/list-webhooks-of-workspace.controller.js';
import { StatsOfWebhooks } from './list-webhooks/webhook-stats.js';
import { ListWebhooksHandler } from './list-webhooks/list-webhooks.query.js';
import { RedeliverDeliveriesController } from './redeliver-deliveries/redeliver-deliveries.controller.js';
import { RedeliverDeliveriesHandler } from './redeliver-deliveries/redeliver-deliveries.handler.js';
import { RedeliverDeliveryController } from './redeliver-delivery/redeliver-delivery.controller.js';
import { RedeliverDeliveryHandler } from './redeliver-delivery/redeliver-delivery.handler.js';
import { RegenerateSigningKeyController } from './regenerate-signing-key/regenerate-signing-key.controller.js';
import { RegenerateSigningKeyHandler } from './regenerate-signing-key/regenerate-signing-key.handler.js';
import { TestWebhookController } from './test-webhook/test-webhook.controller.js';
import { TestWebhookHandler } from './test-webhook/test-webhook.handler.js';
import { UpdateWebhookController } from './update-webhook/update-webhook.controller.js';
import { UpdateWebhookHandler } from './update-webhook/update-webhook.handler.js';
import {
  DELIVERY_REACH,
  DELIVERY_REQUESTS,
  type DeliveryReach,
  type DeliveryRequests,
  RETAINED_EVENTS,
  type RetainedEvents,
  TEST_ATTEMPTS,
  type TestAttempts,
  WAITING_DELIVERIES,
  type WaitingDeliveries,
  WEBHOOK_TOPICS,
  type WebhookTopics,
} from './ports.js';
import { WEBHOOK_LIMITS, type WebhookLimits } from './limits.js';

export interface WebhooksPorts {
  readonly handleCommand: HandleCommand;
  readonly readModels: ReadModelStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: StreamLog;
  readonly topics: TopicPolicy;
  readonly webhookTopics: WebhookTopics;
  readonly retainedEvents: RetainedEvents;
  readonly resourceLimits?: WebhookLimits;
  readonly reach: DeliveryReach;
  readonly waitingDeliveries: WaitingDeliveries;
  readonly deliveryRequests: DeliveryRequests;
  readonly testAttempts: TestAttempts;
}

@Module({
  controllers: [
    CreateWebhookController,
    ListWebhooksController,
    ListWebhooksOfWorkspaceController,
    GetWebhookController,
    UpdateWebhookController,
    DeleteWebhookController,
    RegenerateSigningKeyController,
    ListDeliveriesController,
    GetDeliveryController,
    TestWebhookController,
    RedeliverDeliveryController,
    RedeliverDeliveriesController,
  ],
  providers: [
    CreateWebhookHandler,
    ListWebhooksHandler,
    StatsOfWebhooks,
    GetWebhookHandler,
    UpdateWebhookHandler,
    DeleteWebhookHandler,
    DisableWebhookHandler,
    RegenerateSigningKeyHandler,
    ListDeliveriesHandler,
    GetDeliveryHandler,
    TestWebhookHandler,
    RedeliverDeliveryHandler,
    RedeliverDeliveriesHandler,
  ],
})
export class WebhooksModule {
  static forRoot(ports: WebhooksPorts): DynamicModule {
    return {
      module: WebhooksModule,
      providers: [
        { provide: HANDLE_COMMAND, useValue: ports.handleCommand },
        { provide: READ_MODELS, useValue: ports.readModels },
        { provide: VAULT, useValue: ports.vault },
        { provide: CLOCK, useValue: ports.clock },
        { provide: STREAM_LOG, useValue: ports.log },
        { provide: TOPIC_POLICY, useValue: ports.topics },
        { provide: WEBHOOK_TOPICS, useValue: ports.webhookTopics },
        { provide: WAITING_DELIVERIES, useValue: ports.waitingDeliveries },
        { provide: DELIVERY_REACH, useValue: ports.reach },
        { provide: TEST_ATTEMPTS, useValue: ports.testAttempts },
        { provide: DELIVERY_REQUESTS, useValue: ports.deliveryRequests },
        { provide: RETAINED_EVENTS, useValue: ports.retainedEvents },
        { provide: RESOURCE_LIMITS, useValue: ports.resourceLimits ?? WEBHOOK_LIMITS },
      ],
    };
  }
}
