import { createHmac, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface GithubDelivery {
  /** `X-GitHub-Delivery` */
  readonly id: string;
  /** `X-GitHub-Event` */
  readonly kind: string;
  readonly payload: unknown;
}

interface Definition {
  readonly name: string;
  readonly examples: readonly unknown[];
}

const PACKAGE = '@octokit/webhooks-examples';

/** Every example payload in the package: github.com first, then each version of GitHub Enterprise Server. */
export const allGithubDeliveries = (): GithubDelivery[] => {
  const folder = dirname(createRequire(import.meta.url).resolve(`${PACKAGE}/package.json`));
  const products = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^(api\.github\.com|ghes-\d+)$/.test(entry.name))
    .map((entry) => entry.name)
    .sort();
  return products.flatMap((product) => {
    const definitions = JSON.parse(readFileSync(join(folder, product, 'index.json'), 'utf8')) as Definition[];
    return definitions.flatMap(({ name, examples }) =>
      examples.map((payload) => ({ id: randomUUID(), kind: name, payload })),
    );
  });
};

/** The request as GitHub would send it. A `secret` other than the source's gives a request that must be refused. */
export const githubRequest = (
  delivery: GithubDelivery,
  secret: string,
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } => {
  const body = JSON.stringify(delivery.payload);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/0000000',
      'x-github-event': delivery.kind,
      'x-github-delivery': delivery.id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
  };
};
