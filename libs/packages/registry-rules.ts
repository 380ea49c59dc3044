import { urlIn } from '#libs/kernel/url-text.js';
import { scopeOf } from './specifier.js';

/** One configured registry. `scope` is null for the one of all other packages. */
export interface RegistryRule {
  readonly scope: string | null;
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string | null;
  /** `host` or `host:port` from which tarballs may come besides the registry itself. */
  readonly tarballHosts: readonly string[];
}

/** Registry to which tarball URLs of copied descriptions point. */
const PUBLIC_HOST = 'registry.npmjs.org';

/** Rules on which registry serves which package, and which hosts serve its tarballs. */
export class RegistryRules {
  constructor(private readonly rules: readonly RegistryRule[]) {}

  /** The registry of the package's scope. No other one is used, even when that one does not have the package. */
  ruleOf(packageName: string): RegistryRule {
    const scope = scopeOf(packageName);
    const rule = this.rules.find((each) => each.scope === scope) ?? this.rules.find((each) => each.scope === null);
    if (!rule) throw new Error('no registry is configured');
    return rule;
  }

  /** The URL from which a tarball is taken, or undefined when its host is not allowed. */
  tarballUrl(packageName: string, given: string): URL | undefined {
    const url = urlIn(given);
    if (!url) return undefined;
    const rule = this.ruleOf(packageName);
    const registry = new URL(rule.url);
    if (url.hostname === PUBLIC_HOST && registry.hostname !== PUBLIC_HOST) {
      url.protocol = registry.protocol;
      url.host = registry.host;
      if (registry.port === '') url.port = '';
    }
    return this.allows(packageName, url) ? url : undefined;
  }

  /** Whether a request for this package may go to the URL, which may be one of a redirect. */
  allows(packageName: string, url: URL): boolean {
    if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return false;
    const { url: own, tarballHosts } = this.ruleOf(packageName);
    return url.origin === new URL(own).origin || tarballHosts.includes(url.host);
  }

  /** Token to send with a request, which goes to the registry itself only. */
  tokenFor(packageName: string, url: URL): string | null {
    const { url: own, token } = this.ruleOf(packageName);
    return url.origin === new URL(own).origin ? token : null;
  }

  /** Every `host:port` that the fetcher may reach. */
  addresses(): ReadonlySet<string> {
    const urls = this.rules.flatMap(({ url, tarballHosts }) => [
      new URL(url),
      ...tarballHosts.flatMap((host) => [new URL(`https://${host}`), new URL(`http://${host}`)]),
    ]);
    return new Set(urls.map(addressOf));
  }

  /** Removes tokens from a text for people. */
  masked(text: string): string {
    return this.rules.reduce((rest, { token }) => (token === null ? rest : rest.replaceAll(token, '***')), text);
  }
}

const addressOf = ({ hostname, port, protocol }: URL): string =>
  `${hostname.replace(/^\[|\]$/g, '')}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`;
