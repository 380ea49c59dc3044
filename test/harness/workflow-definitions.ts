import { type JsonObject } from '#libs/workflows/domain/check-shape.js';

const CODE = "import { one } from './one.mjs';\nexport default { run: () => one };\n";

/** Definitions for tests, which have every key of a definition between them. */
export const DEFINITIONS: readonly JsonObject[] = [
  { name: 'Nothing', steps: [] },
  {
    schema: 'sluice.workflow/1',
    name: 'Orders: of the "shop"',
    description: 'Line one\n  line two\n',
    external_id: 'shop/orders',
    settings: {
      active: true,
      error_notification: false,
      timeout_seconds: 20,
      memory_mb: 512,
      concurrency: 2,
      hold_slot: true,
      throttle: { limit: 1, interval: 2, unit: 'minute' },
      queue_size: 7,
      auto_retry: { notify_first_error: true, also_on: ['Timeout'] },
      data_retention: { runs: 10, days: 2 },
      public_sse: true,
    },
    triggers: [
      {
        type: 'http',
        name: 'hook',
        response: 'static',
        static_response: { status: 201, headers: { 'X-A': 'b' }, body: '{"a": 1}' },
        auth: { type: 'bearer', token: '********' },
      },
      { type: 'http', name: 'variable', auth: { type: 'bearer', token: '{{process.env.TOKEN}}' } },
      { type: 'timer', cron: '*/5 * * * *', timezone: 'Europe/Berlin', overlap: 'skip' },
      { type: 'timer', name: 'often', interval_seconds: 15 },
      { type: 'source', name: 'orders', id: 'dc_0123456789abcdefgh', event_name: 'order' },
      { type: 'source', name: 'own', uses: 'shop-new-order@^1.0.0', props: { a: [1, null, '0x10', 'yes', ''] } },
      { type: 'event', emitter: 'p_0123456789abcdefgh', event_name: '$errors', filter: { 'b.c': { gt: 1 }, a: [] } },
      { type: 'manual', name: 'by_hand' },
      { type: 'workflow' },
      {
        type: 'tool',
        description: 'Takes an order',
        input: { type: 'object', required: ['b', 'a'], properties: { b: { type: 'string' }, a: {} } },
        annotations: {
          title: 'Order',
          readOnlyHint: false,
          destructiveHint: true,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
    ],
    steps: [
      {
        namespace: 'load',
        name: 'Load all',
        runtime: 'nodejs20.x',
        uses: './load/entry.js',
        props: { list: '{{steps.trigger.event.body}}', nested: { z: 1, a: { b: [] } }, key: '********' },
        disabled: true,
        if: 'steps.trigger.event.ok',
        for_each: '{{steps.trigger.event.list}}',
        concurrency: 4,
        retry: { max_retries: 3, delay_seconds: 5, backoff: 'fixed', also_on: ['OutOfMemory'] },
        timeout_seconds: 10,
        on_error: 'mend',
      },
      { namespace: 'send', uses: '@shop/send-mail@1.2.3', props: { mail: { authProvisionId: 'apn_abc' } } },
      { namespace: 'mend', code: 'export default {\n  run() { return "\\u0000\t"; },\n};' },
    ],
    files: {
      'load/entry.js': CODE,
      'load/one.mjs': 'export const one = 1;',
      // No step imports it.
      'load/two.mjs': 'export const two = 2;\n',
    },
  },
  {
    name: 'Imported',
    settings: { auto_retry: true, data_retention: 'none' },
    steps: [{ namespace: 'a', runtime: 'nodejs18.x', uses: 'slack-send@0.1.1', props: { text: '{{ 1 }}' } }],
  },
];
