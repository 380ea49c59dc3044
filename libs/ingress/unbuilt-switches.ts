import { type IncomingMessage } from 'node:http';

/** Headers of the original that change what becomes of an event, by what they would do. */
const HEADERS: readonly (readonly [string, string])[] = [
  ['x-pd-nostore', 'the event would be stored'],
  ['x-pd-notrigger', 'the event would be run'],
  ['x-pd-upload-body', 'the body would not become a file'],
];
const UPLOAD = 'pipedream_upload_body';

/**
 * Text that refuses a request with a switch that is not built yet (docs/reference/rest-api.md#endpoint-switches). A
 * sender that asks for no storage must not be answered 200 for an event that is stored.
 */
export const unbuiltSwitch = ({ headers }: IncomingMessage, query: string): string | undefined => {
  for (const [name, consequence] of HEADERS) {
    if (headers[name] === undefined) continue;
    return `header ${name} is not supported yet, and ${consequence}: send the request without it`;
  }
  // Most queries do not hold the word, so few are parsed.
  if (!query.includes(UPLOAD) || !new URLSearchParams(query).has(UPLOAD)) return undefined;
  return `query parameter ${UPLOAD} is not supported yet, and the body would not become a file: send the request without it`;
};
