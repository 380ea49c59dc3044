import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { CreateWebhookController } from './create-webhook/create-webhook.controller.js';
import { CreateWebhookHandler } from './create-webhook/create-webhook.handler.js';
import { DeleteWebhookController } from './delete-webhook/delete-webhook.controller.js';
import { DeleteWebhookHandler } from './delete-webhook/delete-webhook.handler.js';
import { DisableWebhookHandler } from './disable-webhook/disable-webhook.handler.js';
import { GetWebhookController } from './get-webhook/get-webhook.controller.js';
import { GetWebhookHandler } from './get-webhook/get-webhook.query.js';
import { ListDeliveriesController } from './list-deliveries/list-deliveries.controller.js';
import { ListDeliveriesHandler } from './list-deliveries/list-deliveries.query.js';
import { ListWebhooksController } from './list-webhooks/list-webhooks.controller.js';
import { ListWebhooksHandler } from './list-webhooks/list-webhooks.query.js';
import { RedeliverDeliveryController } from './redeliver-delivery/redeliver-delivery.controller.js';
import { RedeliverDeliveryHandler } from './redeliver-delivery/redeliver-delivery.handler.js';
import { RegenerateSigningKeyController } from './regenerate-signing-key/regenerate-signing-key.controller.js';
import { RegenerateSigningKeyHandler } from './regenerate-signing-key/regenerate-signing-key.handler.js';
import { UpdateWebhookController } from './update-webhook/update-webhook.controller.js';
import { UpdateWebhookHandler } from './update-webhook/update-webhook.handler.js';

/**
 * Needs HttpModule, and from a global module HANDLE_COMMAND, READ_MODELS, VAULT, CLOCK, WEBHOOK_TOPICS,
 * RETAINED_EVENTS, STREAM_LOG and TOPIC_POLICY.
 */
@Module({
  imports: [CqrsModule],
  controllers: [
    CreateWebhookController,
    ListWebhooksController,
    GetWebhookController,
    UpdateWebhookController,
    DeleteWebhookController,
    RegenerateSigningKeyController,
    ListDeliveriesController,
    RedeliverDeliveryController,
  ],
  providers: [
    CreateWebhookHandler,
    ListWebhooksHandler,
    GetWebhookHandler,
    UpdateWebhookHandler,
    DeleteWebhookHandler,
    DisableWebhookHandler,
    RegenerateSigningKeyHandler,
    ListDeliveriesHandler,
    RedeliverDeliveryHandler,
  ],
})
export class WebhooksModule {}
