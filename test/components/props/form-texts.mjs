export default {
  name: 'What a form shows',
  version: '0.0.1',
  props: {
    http: { type: '$.interface.http', label: 'Endpoint', customResponse: true },
    query: { type: 'string', readOnly: true, optional: true, disabled: true, hidden: true, unknownField: 1 },
    notice: { type: 'alert', alertType: 'error', content: 'Read this' },
    channel: { type: '$.discord.channel', optional: true },
    base: { type: '$.airtable.baseId', appProp: 'airtable', optional: true },
  },
  run() {},
};
