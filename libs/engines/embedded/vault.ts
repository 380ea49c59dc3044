import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Vault } from '#libs/kernel/vault.js';
import { type Database } from './sqlite-driver.js';
import { type Writer } from './writer.js';

const NONCE = 12;
const TAG = 16;

/** Vault in data.db. Sealed with AES-256-GCM as nonce, tag, ciphertext; ref and workspace are authenticated with it. */
export class EmbeddedVault implements Vault {
  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
    private readonly key: Buffer,
  ) {
    if (key.length !== 32) throw new Error(`the secret key must be 32 bytes, it has ${key.length}`);
  }

  async put(ref: string, workspaceId: string, plaintext: string): Promise<void> {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(bound(ref, workspaceId));
    const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    const sealed = Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
    await this.writer.submit('put_secret', { ref, workspace: workspaceId, sealed }, sealed.length + 200);
  }

  async get(ref: string, workspaceId: string): Promise<string | undefined> {
    const row = this.reader
      .sql('SELECT sealed FROM secrets WHERE ref = ? AND workspace = ?')
      .get<{ sealed: Uint8Array }>(ref, workspaceId);
    if (!row) return undefined;
    const sealed = Buffer.from(row.sealed);
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.key, sealed.subarray(0, NONCE))
        .setAAD(bound(ref, workspaceId))
        .setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
      return Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()]).toString('utf8');
    } catch (error) {
      throw new Error(
        `secret ${ref} cannot be decrypted: it was written with another key (SLUICE_SECRET_KEY), or is damaged`,
        { cause: error },
      );
    }
  }

  async delete(ref: string): Promise<void> {
    await this.writer.submit('delete_secret', ref);
  }
}

const bound = (ref: string, workspaceId: string): Buffer => Buffer.from(JSON.stringify([ref, workspaceId]));
