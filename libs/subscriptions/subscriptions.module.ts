import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { CreateSubscriptionController } from './create-subscription/create-subscription.controller.js';
import { CreateSubscriptionHandler } from './create-subscription/create-subscription.handler.js';
import { DeleteSubscriptionController } from './delete-subscription/delete-subscription.controller.js';
import { DeleteSubscriptionHandler } from './delete-subscription/delete-subscription.handler.js';
import { ListSubscriptionsController } from './list-subscriptions/list-subscriptions.controller.js';
import { ListSubscriptionsHandler } from './list-subscriptions/list-subscriptions.query.js';

/** Needs HttpModule, and from a global module HANDLE_COMMAND, READ_MODELS, CLOCK and RESOURCES. */
@Module({
  imports: [CqrsModule],
  controllers: [CreateSubscriptionController, DeleteSubscriptionController, ListSubscriptionsController],
  providers: [CreateSubscriptionHandler, DeleteSubscriptionHandler, ListSubscriptionsHandler],
})
export class SubscriptionsModule {}
