import { type Area } from './case.js';

const props = { server: '$SERVER' };

export default {
  area: 'platform',
  title: 'Packages of the platform',
  cases: [
    {
      component: 'platform/axios.mjs',
      title: 'axios: query, undefined keys, data, the whole response, create, errors, and body',
      shows: ['shim-axios', 'shim-axios-config', 'shim-axios-response', 'shim-axios-errors', 'shim-axios-loading'],
      given: { props },
      then: {
        emits: [
          { method: 'GET', url: /^\/a\?(x=1&y=3|y=3&x=1)$/, type: null, body: '' },
          { method: 'POST', url: '/', type: /^application\/json/, body: '{"a":1}' },
          [200, 'GET'],
          '/b',
          ['{"reason":"no such item"}', 404, true, false],
          /data/,
        ],
      },
    },
    {
      component: 'platform/exports.mjs',
      title: 'the other exports',
      shows: ['shim-exports', 'shim-configuration-error'],
      then: {
        emits: [
          [900, 'ConfigurationError', 'set a city', false, true],
          Array.from({ length: 5 }, () => 'function'),
          [true, 'string', 'object'],
        ],
      },
    },
    {
      component: 'platform/configuration-error.mjs',
      title: 'ConfigurationError as the error of a run',
      shows: ['shim-configuration-error', 'error-code'],
      then: {
        errors: [{ name: 'ConfigurationError', code: 'ConfigurationError', message: 'Select at least one city.' }],
      },
    },
    {
      component: 'platform/file-streams.mjs',
      title: 'streams of a file and a URL; a version in the specifier is ignored',
      shows: ['shim-files', 'npm-packages'],
      given: { props },
      then: { emits: ['in a file', ['line one\nline two\n', 'file.txt', /^text\/plain/]] },
    },
    {
      component: 'platform/types-wrappers.cjs',
      title: 'wrappers by require',
      shows: ['define-wrappers', 'module-forms'],
      then: { emits: ['ledger'] },
    },
  ],
} satisfies Area;
