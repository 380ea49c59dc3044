import { type HttpAdapterHost } from '@nestjs/core';
import { nearMiss } from '#libs/kernel/near-miss.js';
import { methodsOf, pathsOf } from './routes.js';

/** Routes of the original that are not built yet (docs/reference/rest-api.md#routes-not-built). */
const NOT_BUILT: readonly (readonly [RegExp, string])[] = [
  [
    /^\/v1\/(users\/me\/|orgs\/[^/]+\/|workspaces\/[^/]+\/)?connect(\/|$)/,
    'hosted connecting is not built yet: connect an account with POST /v1/accounts',
  ],
  [/^\/v1\/projects(\/|$)/, 'each workspace has one project: GET /v1/workspaces/{id}/projects'],
  [/^\/v1\/oauth(\/|$)/, 'OAuth is not built yet: send an API key'],
];

/** Where other servers describe their API. */
const DESCRIPTION = /^\/(?:v1\/)?(?:docs?|api-docs?|documentation|openapi|swagger|redoc)(?:[./-]\w+)*\/?$/i;

/** Longest path that is compared with the routes. */
const LONGEST = 300;

/** Remedy for a path and method that no route serves, as the end of a sentence. Empty when none is known. */
export const hintFor = (host: HttpAdapterHost, method: string, path: string): string => {
  if (path.includes('//'))
    return ': a part of this path is empty, as when a variable of the shell is not set, or the shell replaced $errors';
  if (DESCRIPTION.test(path)) return '; did you mean GET /v1/docs, or GET /v1/openapi.json?';
  if (path === '/') return ': the API is under /v1, and GET /v1/docs describes it';
  const unbuilt = NOT_BUILT.find(([pattern]) => pattern.test(path));
  if (unbuilt) return `: ${unbuilt[1]}`;
  if (path.length > LONGEST) return '';
  const meant = routeMeant(host, method, path);
  if (meant !== undefined) return `; did you mean ${method} ${meant}?`;
  const missing = missingPart(host, method, path);
  return missing === undefined ? '' : `: ${missing}`;
};

/** Finds what is missing in a path that serves other methods: the list is below the user, or the method needs an id. */
const missingPart = (host: HttpAdapterHost, method: string, path: string): string | undefined => {
  const name = /^\/v1\/(\w+)$/.exec(path)?.[1];
  if (name === undefined) return undefined;
  const lists = (at: string): boolean => methodsOf(host, at).includes('GET');
  const named = `/v1/users/me/${name}`;
  const list = lists(named) ? named : corrected(host, named, lists);
  if (method === 'GET' && list !== undefined) return `the list is GET ${list}`;
  if (methodsOf(host, path).length === 0 || !methodsOf(host, `${path}/id`).includes(method)) return undefined;
  return `an id is needed, as in ${method} ${path}/{id}`;
};

/** The path with `/v1`, or with one segment as a route spells it. */
const routeMeant = (host: HttpAdapterHost, method: string, path: string): string | undefined => {
  const isServed = (other: string): boolean => methodsOf(host, other).includes(method);
  const whole = path.replace('/users/me/', '/');
  const versioned = path.replace(/^(\/v\d+|\/api(\/v1)?)?(?=\/|$)/, '/v1');
  for (const candidate of new Set([versioned, path, whole])) {
    if (candidate !== path && isServed(candidate)) return candidate;
    const spelt = corrected(host, candidate, isServed);
    if (spelt !== undefined) return spelt;
  }
  return undefined;
};

/** The path with one segment replaced by the word of a route that it is near to. */
const corrected = (host: HttpAdapterHost, path: string, isServed: (path: string) => boolean): string | undefined => {
  const segments = path.split('/');
  const routes = pathsOf(host).map((route) => route.split('/'));
  for (let i = 2; i < segments.length; i++) {
    const words = new Set(
      routes.flatMap((route) => (route[i] === undefined || route[i]?.startsWith(':') ? [] : [route[i] ?? ''])),
    );
    const word = nearMiss(segments[i] ?? '', words);
    if (word === undefined) continue;
    const candidate = segments.with(i, word).join('/');
    if (isServed(candidate)) return candidate;
  }
  return undefined;
};
