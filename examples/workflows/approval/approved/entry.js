// Runs only if the request was approved. Webhooks and other workflows that listen to this workflow get the event.
export default {
  async run({ $, event }) {
    $.send.emit({ raw_event: { approved: event.body, run: $.context.id } });
    $.export('$summary', 'approved');
  },
};
