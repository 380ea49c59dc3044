export default {
  key: 'weather-report',
  name: 'Weather Report',
  version: '1.0.{{ts}}',
  description: 'Emit new event for each report.',
  type: 'source',
  annotations: { readOnlyHint: true, title: 'Weather' },
  props: { http: '$.interface.http' },
  dedupe: 'last',
  someThingOfABase: { kept: false },
  hooks: { deactivate() {}, deploy() {}, activate() {} },
  methods: { b() {}, a() {} },
  run() {},
};
