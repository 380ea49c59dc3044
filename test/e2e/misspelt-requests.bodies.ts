import { type Refused } from './misspelt-requests.refused.js';

/** Bodies that are no JSON object. See REFUSED for the columns. */
export const REFUSED_BODIES: readonly Refused[] = [
  [
    'JSON that is cut off',
    'POST',
    '/v1/webhooks',
    { body: '{"url":', headers: { 'content-type': 'application/json' } },
    400,
    'invalid_json',
    'the body is not valid JSON at position 7: Unexpected end of JSON input',
  ],
  [
    'JSON with a fault',
    'POST',
    '/v1/webhooks',
    { body: '{"url":x}', headers: { 'content-type': 'application/json' } },
    400,
    'invalid_json',
    "the body is not valid JSON at position 7: Unexpected token 'x'",
  ],
  [
    'an array',
    'POST',
    '/v1/webhooks',
    { body: '[1]', headers: { 'content-type': 'application/json' } },
    400,
    'invalid_json',
    'the body must be a JSON object of parameters by name, such as {"name": "…"}; got an array',
  ],
  [
    'a text',
    'POST',
    '/v1/webhooks/{webhook}/regenerate_signing_key',
    { body: '"x"', headers: { 'content-type': 'application/json' } },
    400,
    'invalid_json',
    'the body must be a JSON object of parameters by name, such as {"name": "…"}; got a string',
  ],
];
