// secret-box.ts: seals the caller's model key between the door that receives it and the worker that uses it.
// Everything in between (Postgres, Temporal, NATS, logs) sees the sealed form only.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

export type SecretBox = {
  /** @returns base64url of nonce, tag and ciphertext */
  seal(plain: string): string;
  /** @throws Error when the text was changed or sealed with another key */
  open(sealed: string): string;
};

/** Any string works as the key; it is hashed to 256 bits. */
export function createSecretBox(key: string): SecretBox {
  const secret = createHash('sha256').update(key).digest();
  return {
    seal(plain) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, secret, nonce);
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      const decipher = createDecipheriv(algorithm, secret, bytes.subarray(0, nonceBytes));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const body = bytes.subarray(nonceBytes + tagBytes);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    },
  };
}
