import crypto, { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';

export default {
  name: 'Crypto',
  version: '0.0.1',
  props: { http: '$.interface.http' },
  async run() {
    const hash = createHash('sha256').update('abc').digest('hex');
    const hmac = createHmac('sha1', 'key').update('abc').digest('base64');
    const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc'));
    const key = crypto.scryptSync('password', 'salt', 32);
    const cipher = crypto.createCipheriv('aes-256-gcm', key, Buffer.alloc(12));
    const sealed = Buffer.concat([cipher.update('secret'), cipher.final()]);
    const opener = crypto.createDecipheriv('aes-256-gcm', key, Buffer.alloc(12)).setAuthTag(cipher.getAuthTag());
    const { privateKey, publicKey } = crypto.generateKeyPairSync('ed25519');
    const signature = crypto.sign(null, Buffer.from('abc'), privateKey);
    this.$emit({
      hash,
      hmac,
      web: Buffer.from(digest).toString('hex') === hash,
      opened: Buffer.concat([opener.update(sealed), opener.final()]).toString(),
      verified: crypto.verify(null, Buffer.from('abc'), publicKey, signature),
      equal: timingSafeEqual(Buffer.from(hash), Buffer.from(hash)),
      uuid: randomUUID().length,
    });
  },
};
