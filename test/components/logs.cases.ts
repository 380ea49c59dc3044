import { type Area, type Case } from './case.js';

const failure = (how: string, error: Record<string, unknown>, rule: string, title: string): Case => ({
  component: 'logs/errors.mjs',
  title,
  shows: [rule],
  when: [{ event: { how } }],
  then: { errors: [error] },
});

const ended = (how: string, code: string, rules: string[], title: string, needs?: 'heap'): Case => ({
  component: 'logs/ends.mjs',
  title,
  shows: ['error-platform-codes', 'emit-when', ...rules],
  ...(needs ? { needs } : {}),
  given: { timeoutMs: how === 'memory' ? 20_000 : 500 },
  when: [{ event: { how } }],
  then: { emits: [how], errors: [{ code }] },
});

const THOUSAND = Array.from({ length: 1_000 }, (_, n) => `console.log: ${n}`);

export default {
  area: 'logs',
  title: 'Logs and errors',
  cases: [
    {
      component: 'logs/console.mjs',
      title: 'every call of console and write to a standard stream is a line of its kind',
      shows: ['log-lines', 'log-order'],
      then: {
        logs: [
          'console.log: a line of 2 { b: [ 1 ] }',
          'console.info: info',
          'console.warn: warn',
          'console.error: as a value',
          'console.debug: debug',
          /^console\.error: .*one is not two/,
          'console.log: raw out',
          'console.error: raw err',
          'console.log: after an await',
        ],
      },
    },
    failure(
      'own',
      { name: 'QuotaError', code: 'QUOTA', message: 'used up', cause: { name: 'TypeError', message: 'was 0' } },
      'error-causes',
      'an own class with code and cause',
    ),
    failure(
      'aggregate',
      { name: 'AggregateError', errors: [{ message: 'one' }, { message: 'two' }] },
      'error-causes',
      'the parts of an AggregateError',
    ),
    failure('text', { name: 'Error', code: 'Error', message: 'just text' }, 'error-code', 'a thrown text'),
    failure('nothing', { name: 'Error', code: 'Error' }, 'error-code', 'a thrown undefined'),
    failure('rejected', { message: 'rejected' }, 'error-event', 'a returned rejection'),
    failure('stray', { message: 'nobody awaits' }, 'error-stray', 'a rejection that nobody awaits'),
    failure('uncaught', { message: 'in a timer' }, 'error-stray', 'a throw in a timer'),
    {
      component: 'logs/stack.ts',
      title: 'a stack leads to the lines of the uploaded TypeScript',
      shows: ['error-stack'],
      then: { errors: [{ name: 'TypeError', stack: /stack\.ts:6:\d+[\s\S]*stack\.ts:14:/ }] },
    },
    ended('exit', 'ProcessExited', ['error-killed'], 'process.exit ends the run, and what it emitted stays'),
    ended('loop', 'Timeout', ['run-timeout'], 'an endless loop ends at the time limit'),
    ended('hang', 'Timeout', ['run-timeout'], 'a promise that never settles ends at the time limit'),
    ended('memory', 'OutOfMemory', ['isolation-memory'], 'too much memory ends the process', 'heap'),
    {
      component: 'logs/hook-hangs.mjs',
      title: 'a hook that does not end in time fails; what it emitted stays',
      shows: ['hook-timeout', 'error-platform-codes'],
      given: { timeoutMs: 500 },
      when: [{ hook: 'deploy' }],
      then: { emits: ['before'], errors: [{ code: 'Timeout' }] },
    },
    {
      component: 'logs/many-lines.mjs',
      title: '1,000 lines are kept; further ones are dropped, with one line that says so',
      shows: ['log-limits', 'run-payload-limits'],
      when: [{ event: { lines: 1_000 } }, { event: { lines: 1_001 } }],
      then: {
        emits: ['done', 'done'],
        logs: [...THOUSAND, ...THOUSAND, /dropped: more than 1000 lines/],
      },
    },
    {
      component: 'logs/losses.mjs',
      title: 'what JSON drops, and metadata that is ignored, are warnings with a remedy',
      shows: ['log-warnings', 'warning-loss', 'warning-metadata'],
      then: {
        emits: [{ found: {} }, 'x'],
        logs: [/^warning: .*found.*Object\.fromEntries/, /^warning: .*sumary.*summary/],
      },
    },
  ],
} satisfies Area;
