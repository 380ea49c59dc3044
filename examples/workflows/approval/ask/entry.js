const THREE_DAYS_MS = 3 * 24 * 60 * 60 * 1000;

export default {
  async run({ $, event }) {
    const title = String(event.body?.title ?? 'a request')
      .replaceAll(/\s+/g, ' ')
      .slice(0, 100);
    // The run waits after this step. Without an answer in time it is cancelled.
    const { confirm_url } = $.flow.suspend(THREE_DAYS_MS);
    $.send.email({ subject: `Approve ${title}?`, text: `Resume to approve ${title}, or cancel:\n\n${confirm_url}\n` });
    // The caller does not wait for days. It can read the run with this id.
    await $.respond({ status: 202, body: { run: $.context.id } });
    $.export('$summary', `asked about ${title}`);
  },
};
