import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE = 12;
const TAG = 16;

/** Seals secrets with AES-256-GCM as nonce, tag, ciphertext. The ref and the workspace are authenticated with it. */
export class SecretSeal {
  /** `key`: 32 bytes. `previous` opens what the key does not open, and seals nothing. */
  constructor(
    private readonly key: Buffer,
    private readonly previous?: Buffer,
  ) {
    if (key.length !== 32) throw new Error(`the secret key must be 32 bytes, it has ${key.length}`);
  }

  seal(ref: string, workspaceId: string, plaintext: string): Buffer {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(bound(ref, workspaceId));
    const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
  }

  /** Throws for a damaged secret and for one sealed with another key, ref or workspace. */
  open(ref: string, workspaceId: string, sealed: Uint8Array): string {
    const bytes = Buffer.from(sealed);
    try {
      return openWith(this.key, ref, workspaceId, bytes);
    } catch (error) {
      if (this.previous) return new SecretSeal(this.previous).open(ref, workspaceId, bytes);
      throw new Error(
        `secret ${ref} cannot be decrypted: it was written with another key (SLUICE_SECRET_KEY), or is damaged`,
        { cause: error },
      );
    }
  }
}

const openWith = (key: Buffer, ref: string, workspaceId: string, bytes: Buffer): string => {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE))
    .setAAD(bound(ref, workspaceId))
    .setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8');
};

const bound = (ref: string, workspaceId: string): Buffer => Buffer.from(JSON.stringify([ref, workspaceId]));
