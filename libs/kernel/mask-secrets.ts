/**
 * Hides what may be a credential in texts for operators: log lines, start problems, paths. Each function takes time
 * linear in its text, because clients choose paths.
 */

/** Keys that this server makes: API keys, signing keys, keys of endpoints, tokens of run URLs. */
const OWN_KEYS: readonly (readonly [pattern: RegExp, masked: string])[] = [
  [/sk_[0-9a-f]{40}/gi, 'sk_***'],
  [/whsec_[\w+/=-]{16,}/gi, 'whsec_***'],
  [/\/h\/e[a-z0-9]{15}(?![a-z0-9])/g, '/h/***'],
  [/\/r\/[\w.-]{20,}/g, '/r/***'],
];

/** A parameter whose name says that its value is a credential, also percent-encoded once or more. */
const NAMED =
  /((?:access_?token|refresh_?token|token|api_?key|access_?key|signing_?key|secret|passw(?:or)?d|passphrase)[\w.-]{0,40}(?:=|%(?:25){0,8}3D))[^&;,\s"'\\]+/gi;

/** Masks this server's keys, values of parameters with a telling name, and user names with passwords in URLs. */
export const maskSecrets = (text: string): string => {
  let masked = text;
  for (const [pattern, by] of OWN_KEYS) masked = masked.replace(pattern, by);
  masked = masked.replace(NAMED, '$1***');
  if (!masked.includes('://') || !masked.includes('@')) return masked;
  return masked.replace(/[^\s"'<>]+/g, (word) => {
    const [scheme, at] = [word.indexOf('://'), word.lastIndexOf('@')];
    if (scheme === -1 || at < scheme + 3) return word;
    const userinfo = word.slice(scheme + 3, at);
    // An `@` behind a slash is part of a path, unless a password holds the slash.
    return userinfo.includes('/') && !userinfo.includes(':') ? word : withoutPassword(word);
  });
};

/**
 * Removes the password from the value of a setting. A refused value need not be a URL, so any form is accepted, and
 * more than the password may be hidden.
 */
export const withoutPassword = (value: string): string => {
  const scheme = value.indexOf('://');
  const from = scheme === -1 ? 0 : scheme + 3;
  const at = value.lastIndexOf('@');
  const colon = value.indexOf(':', from);
  if (at > from) {
    if (colon !== -1 && colon < at) return `${value.slice(0, colon)}:***${value.slice(at)}`;
    return scheme === -1 ? value : `${value.slice(0, from)}***${value.slice(at)}`;
  }
  // A URL without a host has its password in the place of the port.
  const isPort = /^\d{1,5}(?:[/,?#]|$)/.test(value.slice(colon + 1, colon + 8));
  return scheme === -1 || colon === -1 || value[from] === '[' || isPort ? value : `${value.slice(0, colon)}:***`;
};

/** Where parameters begin. */
const PARAMETERS = /[&;=?#]|access_?token/i;

/** Rounds in which a path is decoded before it is searched. */
const DECODINGS = 4;

/**
 * The path of a request for logs and error texts. It ends before parameters without a `?`, because they may contain a
 * key (`/sse&access_token=…`), in clear or percent-encoded.
 */
export const shownPath = (path: string): string => {
  let decoded = path;
  for (let n = 0; n < DECODINGS && decoded.includes('%'); n++) {
    const next = decodedOnce(decoded);
    if (next === decoded) break;
    decoded = next;
  }
  const end = PARAMETERS.exec(decoded);
  const masked = maskSecrets(end === null ? decoded : `${decoded.slice(0, end.index + end[0].length)}…`);
  return masked === decoded ? path : masked;
};

/** Leaves a malformed escape as it is, and decodes the others. */
const decodedOnce = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    }
  });
