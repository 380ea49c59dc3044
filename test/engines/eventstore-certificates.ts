import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** PEM files of a certificate authority, and of one node of EventStoreDB on this machine. */
export interface Certificates {
  readonly ca: string;
  /** Folder with the authority's certificate only. */
  readonly caDir: string;
  readonly nodeCertificate: string;
  readonly nodeKey: string;
}

const run = promisify(execFile);

const NODE_EXTENSIONS = `basicConstraints=CA:FALSE
keyUsage=critical,digitalSignature,keyEncipherment
extendedKeyUsage=serverAuth,clientAuth
subjectAltName=IP:127.0.0.1,DNS:localhost
`;

/** Makes them in `dir` with the program openssl. They are valid for two days. */
export const makeCertificates = async (dir: string): Promise<Certificates> => {
  const caDir = join(dir, 'ca');
  mkdirSync(caDir, { recursive: true });
  const [ca, caKey] = [join(caDir, 'ca.crt'), join(dir, 'ca.key')];
  const [nodeCertificate, nodeKey] = [join(dir, 'node.crt'), join(dir, 'node.key')];
  const [request, extensions] = [join(dir, 'node.csr'), join(dir, 'node.ext')];
  writeFileSync(extensions, NODE_EXTENSIONS);
  const openssl = (...args: string[]): Promise<unknown> => run('openssl', args);
  const key = ['-newkey', 'rsa:2048', '-nodes'];
  await openssl('req', '-x509', ...key, '-keyout', caKey, '-out', ca, '-days', '2', '-subj', '/CN=sluice-test-ca');
  await openssl('req', ...key, '-keyout', nodeKey, '-out', request, '-subj', '/CN=eventstoredb-node');
  const signing = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', '2', '-extfile', extensions];
  await openssl('x509', '-req', '-in', request, ...signing, '-out', nodeCertificate);
  return { ca, caDir, nodeCertificate, nodeKey };
};
