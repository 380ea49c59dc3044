import { IsOptional, IsString } from 'class-validator';
import { named, oneOf, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type AutoSubscribed } from './published.js';
import { Meaning } from '#libs/http/meaning.js';

/** Auto-subscription as in docs/reference/rest-api.md#auto-subscriptions. */
export const AutoSubscription = named('AutoSubscription', {
  id: text('`asub_…`'),
  event_name: oneOf(['$errors', '$logs'], 'Channel of each new source'),
  listener_id: text('What receives: `dc_…` or `wh_…`'),
});

export type AutoSubscriptionReply = TypeOf<typeof AutoSubscription>;

export const autoSubscriptionReply = (doc: {
  readonly id: string;
  readonly eventName: AutoSubscribed;
  readonly listenerId: string;
}): AutoSubscriptionReply => ({ id: doc.id, event_name: doc.eventName, listener_id: doc.listenerId });

export class AutoSubscriptionDto {
  @Meaning('Channel; empty for the default one')
  @IsOptional()
  @IsString()
  event_name?: string | null;
  @Meaning('What receives: a source (`dc_…`) or a webhook (`wh_…`)')
  @IsString()
  listener_id!: string;
}
