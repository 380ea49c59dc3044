import { post } from '../post.mjs';

/**
 * Runs once for each receiver that was given up. At first it tells of the dead letter, and fails, so that the run
 * counts as failed. A replay from here posts the event again.
 */
export default {
  async run({ $, steps, event, item }) {
    const receiver = steps.receivers.$return_value[item.index];
    if ($.context.replay) return post(receiver, $, event);
    $.send.emit({ raw_event: { receiver, error: item.error.message, run: $.context.id, body: event.body } });
    throw new Error(`dead letter: ${item.error.message}`);
  },
};
