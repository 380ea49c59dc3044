import { stringify } from 'node:querystring';
import { type EndpointRequest } from '#libs/ingress/endpoint-event.js';
import { type HttpReply } from '#libs/component-model/run-output.js';
import { sentBody, valueOf } from './bodies.js';
import { type Answer, type Step } from './published.js';

export type RequestStep = Extract<Step, { readonly request: unknown }>['request'];

/** The request as a server reads it. */
export const endpointRequest = (step: RequestStep, url: string): EndpointRequest => {
  const { body, path = '/', headers: given = {} } = step;
  const { bytes, type } = sentBody(body);
  const method = (step.method ?? (body === undefined ? 'GET' : 'POST')).toUpperCase();
  if (!path.startsWith('/')) throw new TypeError(`request.path: ${JSON.stringify(path)} must start with "/"`);
  const query = queryOf(step.query);
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    method,
    path,
    query,
    headers: {
      host: new URL(url).host,
      ...(bytes.length === 0 ? {} : { 'content-length': String(bytes.length) }),
      ...(type === undefined ? {} : { 'content-type': type }),
      ...headers,
    },
    body: bytes,
    clientIp: '127.0.0.1',
    url: `${url}${path === '/' ? '' : path}${query === '' ? '' : `?${query}`}`,
  };
};

const queryOf = (given: RequestStep['query']): string => {
  if (given === undefined) return '';
  return typeof given === 'string' ? given.replace(/^\?/, '') : stringify({ ...given });
};

/** What a caller gets at once from an endpoint without customResponse. */
export const ACCEPTED: HttpReply = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: '{"success":true}',
  base64: false,
};

export const answerOf = ({ status, headers, body, base64 }: HttpReply): Answer => {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const type = lower['content-type'];
  const bytes = Buffer.from(body, base64 ? 'base64' : 'utf8');
  return { status, headers: lower, body: valueOf(bytes, typeof type === 'string' ? type : '') };
};
