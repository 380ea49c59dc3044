import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

const NONCE = 12;
const TAG = 16;

/**
 * Seals the secrets of one archive: AES-256-GCM with a key derived from the installation's secret key and the archive's
 * id, and encodes nonce, tag and ciphertext in base64. Reference and workspace are authenticated too.
 */
export class ArchiveSeal {
  /** Key check for the manifest, which shows whether another key is the same and reveals nothing else. */
  readonly check: string;
  private readonly key: Buffer;

  constructor(secretKey: Buffer, archive: string) {
    this.key = Buffer.from(hkdfSync('sha256', secretKey, archive, 'sluice archive secrets', 32));
    this.check = createHmac('sha256', this.key).update('sluice archive key check').digest('hex');
  }

  isSealedWith(check: string): boolean {
    return check.length === this.check.length && timingSafeEqual(Buffer.from(check), Buffer.from(this.check));
  }

  seal(ref: string, workspaceId: string, plaintext: string): string {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(bound(ref, workspaceId));
    const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64');
  }

  /** Throws when the text was sealed with another key, or for another reference or workspace. */
  open(ref: string, workspaceId: string, sealed: string): string {
    const bytes = Buffer.from(sealed, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, NONCE))
      .setAAD(bound(ref, workspaceId))
      .setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8');
  }
}

const bound = (ref: string, workspaceId: string): Buffer => Buffer.from(JSON.stringify([ref, workspaceId]));
