/** What a new source has. */
export interface Parts {
  readonly http: boolean;
  readonly timer: boolean;
  readonly db: boolean;
}

const lines = (...texts: readonly (string | false)[]): string => texts.filter((text) => text !== false).join('\n');

/** Code and test of a source of these parts. */
export const partsOf = ({ http, timer, db }: Parts): readonly [code: string, test: string] => [
  lines(
    'export default {',
    `  name: 'source',`,
    `  key: 'source',`,
    `  version: '0.1.0',`,
    '  props: {',
    http && `    http: '$.interface.http',`,
    timer && `    timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } },`,
    db && `    db: '$.service.db',`,
    '  },',
    '  async run(event) {',
    db && `    const count = (this.db.get('count') ?? 0) + 1;`,
    db && `    this.db.set('count', count);`,
    http && timer && `    // A tick of the timer has no method, a request has one.`,
    http && timer && `    const summary = event.method === undefined ? 'Tick' : \`\${event.method} \${event.path}\`;`,
    http && !timer && `    const summary = \`\${event.method} \${event.path}\`;`,
    !http && `    const summary = '${timer ? 'Tick' : 'Event'}';`,
    `    this.$emit({ event${db ? ', count' : ''} }, { summary });`,
    '  },',
    '};',
    '',
  ),
  lines(
    `import { test } from 'node:test';`,
    `import { given } from 'sluice/test';`,
    '',
    `test('emits each event', async () => {`,
    `  const outcome = await given('./component.mjs').when(${stepsOf(http, timer).join(', ')});`,
    `  outcome.expect({ emits: [${summariesOf(http, timer).join(', ')}]${db ? `, db: { count: ${stepsOf(http, timer).length} }` : ''} });`,
    `});`,
    '',
  ),
];

const stepsOf = (http: boolean, timer: boolean): readonly string[] => [
  ...(http ? [`{ request: { body: { id: 1 } } }`] : []),
  ...(timer ? [`{ tick: 'timer' }`] : []),
  ...(http || timer ? [] : [`{ event: { id: 1 } }`]),
];

const summariesOf = (http: boolean, timer: boolean): readonly string[] => [
  ...(http ? [`{ summary: 'POST /' }`] : []),
  ...(timer ? [`{ summary: 'Tick' }`] : []),
  ...(http || timer ? [] : [`{ summary: 'Event' }`]),
];
