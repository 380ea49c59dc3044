import { describe, expect, it } from '@jest/globals';
import { yamlOf } from './yaml-of.js';

// That a reader of YAML finds the same values is tested in libs/expressions/child/written-yaml.spec.ts.
describe('YAML of a definition', () => {
  it('is as its author would write it', () => {
    const definition = {
      schema: 'sluice.workflow/1',
      name: 'Orders: paid',
      settings: { throttle: null, auto_retry: { also_on: ['Timeout'] } },
      triggers: [{ type: 'http', auth: { type: 'bearer', token: '********' } }, { type: 'manual' }],
      steps: [
        { namespace: 'a', code: 'export default {\n  run() {},\n\n}\n', props: {}, if: 'no' },
        { namespace: 'b', uses: 'slack-send@^1.2.0', props: { 'a b': [[1, 2.5], [], true], count: '5' } },
      ],
    };
    expect(yamlOf(definition)).toBe(`schema: sluice.workflow/1
name: "Orders: paid"
settings:
  throttle: null
  auto_retry:
    also_on:
      - Timeout
triggers:
  - type: http
    auth:
      type: bearer
      token: "********"
  - type: manual
steps:
  - namespace: a
    code: |
      export default {
        run() {},

      }
    props: {}
    if: "no"
  - namespace: b
    uses: slack-send@^1.2.0
    props:
      "a b":
        - - 1
          - 2.5
        - []
        - true
      count: "5"
`);
  });
});
