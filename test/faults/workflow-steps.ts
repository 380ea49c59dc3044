/** What the workflow of the kill rounds does in each step. `SINK` is the address of the test's own server. */
const effect = (step: string, sink: string): string => `
const effect = async ($, value, seen = {}, item = undefined) => {
  const { id: run, idempotency_key: key } = $.context;
  const reply = await fetch('${sink}/effect', {
    method: 'POST',
    body: JSON.stringify({ run, step: '${step}', runs: $.context.run.runs, attempt: $.context.run.attempt, key, value, seen, item }),
  }).catch((error) => { throw new Error(String(error.cause ?? error)); });
  await reply.text();
  return value;
};`;

interface Step {
  readonly namespace: string;
  readonly code: string;
  readonly retry?: Readonly<Record<string, unknown>>;
  readonly for_each?: string;
  readonly concurrency?: number;
}

const step = (namespace: string, sink: string, body: string): Step => ({
  namespace,
  code: `${effect(namespace, sink)}\nexport default { async run({ $, event, steps, item, index }) {\n${body}\n} };`,
});

/** Values of steps are random, so that a step that ran again after its outcome was stored shows. */
const VALUES = 'const value = Math.random(), { n } = event.body;';

/** A run posts, sends, waits, fails, reruns, is suspended (each third one), and emits what its steps returned. */
export const stepsOf = (sink: string): readonly Step[] => [
  step(
    'first',
    sink,
    `${VALUES}
     await $.send.http({ method: 'POST', url: '${sink}/message', data: { run: $.context.id, value } });
     return effect($, value);`,
  ),
  step('delayed', sink, `${VALUES} $.flow.delay(200 + (n % 7) * 300); return effect($, value);`),
  {
    ...step(
      'flaky',
      sink,
      `${VALUES}
       await effect($, value);
       if (n % 4 === 0 && $.context.run.attempt === 1) throw new Error('the first attempt fails');
       return value;`,
    ),
    retry: { max_retries: 3, delay_seconds: 1 },
  },
  step(
    'again',
    sink,
    `${VALUES}
     const { runs } = $.context.run;
     if (n % 5 === 0 && runs < 3) $.flow.rerun(200, { runs }, 5);
     return effect($, value);`,
  ),
  step('parked', sink, `${VALUES} if (n % 3 === 0) $.flow.suspend(600_000); return effect($, value);`),
  step(
    'last',
    sink,
    `${VALUES}
     const seen = Object.fromEntries(['first', 'delayed', 'flaky', 'again', 'parked'].map((name) => [name, steps[name].$return_value]));
     await $.send.emit({ raw_event: { run: $.context.id, seen } });
     return effect($, value, seen);`,
  ),
];

/** Answers its caller, and then goes on for a while. */
export const replyingOf = (sink: string): readonly Step[] => [
  step(
    'answer',
    sink,
    `${VALUES}
     const immediate = n % 16 === 0;
     await $.respond({ status: 201, immediate, body: { run: $.context.id, value, immediate } });
     return effect($, value);`,
  ),
  step('after', sink, `${VALUES} return effect($, value, { answer: steps.answer.$return_value });`),
];

/** Lists numbers and runs a step for each of them, three at once. Each fourth item fails in its first attempt. */
export const loopingOf = (sink: string): readonly Step[] => [
  step('list', sink, `${VALUES} return effect($, Array.from({ length: 4 + (n % 9) }, () => Math.random()));`),
  {
    ...step(
      'each',
      sink,
      `${VALUES}
       await effect($, value, {}, index);
       if (item !== steps.list.$return_value[index]) throw new Error('item ' + index + ' is another one');
       if ((n + index) % 4 === 0 && $.context.run.attempt === 1) throw new Error('the first attempt fails');
       return value;`,
    ),
    for_each: '{{ steps.list.$return_value }}',
    concurrency: 3,
    retry: { max_retries: 3, delay_seconds: 1 },
  },
  step(
    'last',
    sink,
    `${VALUES}
     const seen = { list: steps.list.$return_value, each: steps.each.$return_value };
     await $.send.emit({ raw_event: { run: $.context.id, seen } });
     return effect($, value, seen);`,
  ),
];

/** Of a tool, whose caller waits for the end of its run. */
export const toolOf = (sink: string): readonly Step[] => [
  step('asked', sink, 'return effect($, Math.random());'),
  step('told', sink, 'return effect($, Math.random(), { asked: steps.asked.$return_value });'),
];
