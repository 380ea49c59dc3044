import { describe } from '@jest/globals';
import { useStandalone } from '#test/harness/instance.js';
import { defineMistakes, type Mistake } from './mistakes/mistake.js';
import { WorkflowAuthor } from './mistakes/workflow-author.js';

const author = new WorkflowAuthor(useStandalone());

const row = (mistake: string, yaml: string, event?: unknown): Mistake => ({
  mistake,
  reads: () => author.reads(yaml, event),
});

/** The workflow of docs/how-to/first-workflow.md, with the code of its only step. */
const orders = (body: string, more = '', trigger = '{ type: http, response: custom }'): string => `name: Orders
triggers:
  - ${trigger}
steps:
  - namespace: sum
${more}    code: |
      export default {
        async run({ steps, $ }) {
          ${body}
        },
      }
`;
const SUM = 'return steps.trigger.event.body.items.length;';

const workflows: readonly Mistake[] = [
  row('an empty definition', ' '),
  row('a list for a definition', '- name: Orders\n'),
  row('YAML that is not indented', 'name: Orders\ntriggers:\n- type: http\n  steps:\n - namespace: sum\n'),
  row('a key twice', 'name: Orders\nname: Others\n'),
  row('step for steps', orders(SUM).replace('steps:', 'step:')),
  row('a trigger that there is not', orders(SUM, '', '{ type: htpp }')),
  row('a trigger by email', orders(SUM, '', '{ type: email }')),
  row('interval for interval_seconds', orders(SUM, '', '{ type: timer, interval: 60 }')),
  row('a timer of 5 seconds', orders(SUM, '', '{ type: timer, interval_seconds: 5 }')),
  row('a response that there is not', orders(SUM, '', '{ type: http, response: return }')),
  row('a step without code', 'name: Orders\nsteps:\n  - namespace: sum\n'),
  row('a step with code and uses', orders(SUM, '    uses: sum\n')),
  row('a component that there is not', 'name: Orders\nsteps:\n  - namespace: sum\n    uses: slack-send-mesage@0.1.0\n'),
  row('two steps of one name', `${orders(SUM)}  - namespace: sum\n    code: export default { run() {} }\n`),
  row('a name with a blank', orders(SUM).replace('namespace: sum', 'namespace: the sum')),
  row('max_retries of 50', orders(SUM, '    retry: { max_retries: 50 }\n')),
  row('retries for retry', orders(SUM, '    retries: 3\n')),
  row('on_error with an unknown step', orders(SUM, '    on_error: tell\n')),
  row('a syntax error in code', orders('return steps.;')),
  row('an expression that does not end', orders(SUM, '    if: "steps.trigger.event.body.items.length > "\n')),
  row(
    'code without an export',
    'name: Orders\ntriggers:\n  - type: http\nsteps:\n  - namespace: sum\n    code: const sum = 5;\n',
    {},
  ),
  row('defineComponent left out of a copy', orders(SUM).replace('export default {', 'export default run({'), {}),
  row('a member of nothing', orders(SUM), {}),
  row('a step that runs later', orders('return steps.later.$return_value;'), {}),
  row('no answer of a custom response', orders('return 1;'), {}),
  row('an answer after a wait', orders('$.flow.delay(10); '), {}),
  row('a suspended run without a time', orders('$.flow.suspend("1h");'), {}),
  row('an export of a function', orders('$.export("sum", () => 1); await $.respond({ status: 200 });'), {}),
  row('an export of $return_value', orders('$.export("$return_value", 1);'), {}),
  row('a reply without await of its data', orders('await $.respond({ status: "ok" });'), {}),
  row('a request to no URL', orders('$.send.http({ url: 5 });'), {}),
  row('a bucket that is not open', orders('$.send.s3({ bucket: "orders", prefix: "sums", payload: 1 });'), {}),
  row('a prefix with a slash before it', orders('$.send.s3({ bucket: "orders", prefix: "/sums", payload: 1 });'), {}),
];

// docs/how-to/first-workflow.md with a mistake in each row
describe('what the author of a workflow reads', () => {
  defineMistakes('Workflows', workflows);
});
