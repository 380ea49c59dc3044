/**
 * What a component's reply may do to the origin that answers it (docs/reference/component-model.md#endpoint-confined).
 * Ingress applies it to the reply, and the runner warns the author of removed parts, so both use the same rules.
 */

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Policy of every answer below `/h/`. Browsers give such a page an origin of its own, which shares nothing. */
export const SANDBOX_POLICY = 'sandbox allow-scripts allow-forms allow-popups allow-downloads';

export interface EndpointReply {
  readonly headers: Record<string, string | string[]>;
  /** Removed parts, as texts of log lines. Empty for most replies. */
  readonly leftOut: readonly string[];
}

/** Headers that a browser or client obeys beyond the answer: for the origin, the host, or its other addresses. */
const BEYOND_THE_ANSWER = new Set([
  'accept-ch',
  'accept-ch-lifetime',
  'activate-storage-access',
  'alt-svc',
  'authentication-control',
  'authentication-info',
  'clear-site-data',
  'critical-ch',
  'critical-origin-trial',
  'expect-ct',
  'idp-signin-status',
  'nel',
  'observe-browsing-topics',
  'optional-www-authenticate',
  'origin-agent-cluster',
  'origin-trial',
  'p3p',
  'public-key-pins',
  'public-key-pins-report-only',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie2',
  'set-login',
  'strict-transport-security',
  'use-as-dictionary',
  'www-authenticate',
  'x-appcache-allowed',
  'x-permitted-cross-domain-policies',
]);
/** `sec-` holds what only browsers and servers agree on, such as sessions that are bound to a device. */
const BEYOND_PREFIXES = ['ad-auction-', 'attribution-reporting-', 'sec-', 'secure-session-', 'shared-storage-'];

/** Orders to a proxy in front, such as to send a file of its own. They are left out at every address. */
const FOR_PROXIES = ['x-accel-', 'x-lighttpd-', 'x-litespeed-', 'x-reproxy-', 'x-sendfile'];

/** Parts of a multipart answer bring headers of their own, cookies among them. A manifest is for a whole origin. */
const BEYOND_TYPE = /multipart\/|text\/cache-manifest/i;

/** Cookies of one answer, and the characters of each. Browsers keep few cookies for a host, and forget the others. */
export const COOKIE_LIMITS = { cookies: 20, characters: 4_096, path: 1_024 } as const;

/**
 * @param base path of the endpoint without a slash at its end, such as `/h/e0123`; null for an endpoint that has a
 * domain of its own, whose reply keeps all but orders to a proxy.
 */
export const endpointReply = (given: Headers, base: string | null): EndpointReply => {
  const headers: EndpointReply['headers'] = {};
  const leftOut: string[] = [];
  let ownPolicy: readonly string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const lowerCase = name.toLowerCase();
    const values = typeof value === 'string' ? [value] : value;
    if (FOR_PROXIES.some((prefix) => lowerCase.startsWith(prefix))) leftOut.push(`header ${name}`);
    else if (base === null) headers[name] = typeof value === 'string' ? value : [...value];
    else if (lowerCase === 'content-security-policy') ownPolicy = values;
    else if (lowerCase === 'set-cookie') confineCookies(name, values, base, { headers, leftOut });
    else if (isBeyond(lowerCase, values)) leftOut.push(`header ${name}`);
    else headers[name] = typeof value === 'string' ? value : [...value];
  }
  // A separate header beside the component's, because browsers obey every policy, so none weakens another.
  if (base !== null) headers['content-security-policy'] = [SANDBOX_POLICY, ...ownPolicy];
  return { headers, leftOut };
};

const isBeyond = (name: string, values: readonly string[]): boolean =>
  BEYOND_THE_ANSWER.has(name) ||
  BEYOND_PREFIXES.some((prefix) => name.startsWith(prefix)) ||
  (name === 'content-type' && values.some((value) => BEYOND_TYPE.test(value)));

const confineCookies = (
  header: string,
  cookies: readonly string[],
  base: string,
  { headers, leftOut }: { readonly headers: EndpointReply['headers']; readonly leftOut: string[] },
): void => {
  const kept: string[] = [];
  for (const cookie of cookies) {
    const confined = confinedCookie(cookie, base);
    if ('fault' in confined) leftOut.push(confined.fault);
    else if (kept.length >= COOKIE_LIMITS.cookies)
      leftOut.push(`${confined.shown} (a reply may set ${COOKIE_LIMITS.cookies} cookies)`);
    else {
      kept.push(confined.text);
      if (confined.domain) leftOut.push(`the Domain of ${confined.shown}`);
    }
  }
  if (kept.length > 0) headers[header] = kept;
};

/**
 * Rewrites the text of one cookie as a browser would read it: attributes end at `;`, their names have any case, and the
 * last of a name counts. A cookie without a Path would get the folder of the request, which may be `/h`.
 */
const confinedCookie = (
  cookie: string,
  base: string,
): { readonly fault: string } | { readonly text: string; readonly shown: string; readonly domain: boolean } => {
  const [pair = '', ...attributes] = cookie.split(';');
  const mark = pair.indexOf('=');
  const name = (mark === -1 ? '' : pair.slice(0, mark)).trim();
  const shown = `cookie ${JSON.stringify((name || pair.trim()).slice(0, 60))}`;
  // A cookie without a name is stored with its value, so its value must not look like one with a prefix either.
  if (/^=?\s*__host-/i.test(pair.trim())) return { fault: `${shown} (a __Host- cookie is for the whole host)` };
  if (pair.trim() === '' || pair.trim() === '=') return { fault: `${shown} (it is empty)` };
  let path = '';
  let domain = false;
  const kept = [pair];
  for (const attribute of attributes) {
    const [key = '', ...value] = attribute.split('=');
    const lowerCase = key.trim().toLowerCase();
    if (lowerCase === 'path') path = value.join('=').trim();
    else if (lowerCase === 'domain') domain = true;
    else kept.push(attribute);
  }
  const text = `${kept.join(';')}; Path=${pathBelow(base, path)}`;
  if (text.length > COOKIE_LIMITS.characters)
    return { fault: `${shown} (it has ${text.length} characters, the limit is ${COOKIE_LIMITS.characters})` };
  return { text, shown, domain };
};

/** A path is taken as the component sees it, below its endpoint. Browsers ignore a Path that is too long. */
const pathBelow = (base: string, path: string): string => {
  if (path === base || path.startsWith(`${base}/`)) return path.length > COOKIE_LIMITS.path ? base : path;
  const below = path.startsWith('/') && path !== '/' ? `${base}${path}` : base;
  return below.length > COOKIE_LIMITS.path ? base : below;
};
