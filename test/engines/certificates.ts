import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A certificate with its key, as the names of PEM files. */
export interface Certified {
  readonly certificate: string;
  readonly key: string;
}

/** An authority for tests. Its files lie in one folder. */
export interface Authority {
  /** PEM file of its own certificate. */
  readonly ca: string;
  /** A certificate for these names, as OpenSSL writes them: `IP:127.0.0.1`, `DNS:localhost`. */
  issue(name: string, alternatives: readonly string[]): Promise<Certified>;
}

const DAYS = ['-days', '2'] as const;
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const;

/** Made with the program `openssl`. */
export const makeAuthority = async (dir: string, name = 'authority'): Promise<Authority> => {
  const file = (part: string): string => join(dir, part);
  const ca = file(`${name}.pem`);
  const caKey = file(`${name}.key`);
  await run('openssl', ['req', '-x509', ...KEY, ...DAYS, '-subj', `/CN=${name}`, '-keyout', caKey, '-out', ca]);
  return {
    ca,
    issue: async (of, alternatives) => {
      const [key, request, certificate, extensions] = [`${of}.key`, `${of}.csr`, `${of}.pem`, `${of}.ext`].map(
        file,
      ) as [string, string, string, string];
      writeFileSync(extensions, `subjectAltName=${alternatives.join(',')}\n`);
      await run('openssl', ['req', ...KEY, '-subj', `/CN=${of}`, '-keyout', key, '-out', request]);
      const signed = ['-in', request, '-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-extfile', extensions];
      await run('openssl', ['x509', '-req', ...signed, ...DAYS, '-out', certificate]);
      return { certificate, key };
    },
  };
};

/** Key and certificate in one file, as some servers want them. */
export const joined = ({ certificate, key }: Certified): string => {
  const file = `${certificate}.both`;
  writeFileSync(file, readFileSync(key, 'utf8') + readFileSync(certificate, 'utf8'), { mode: 0o600 });
  return file;
};
