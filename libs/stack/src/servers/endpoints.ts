/** Where Holdfast's processes find the servers, embedded or external. */
export type StackEndpoints = {
  temporal: { address: string; namespace: string; external: boolean };
  /** `url` carries the credentials. */
  database: { url: string; external: boolean };
  /** `url` carries the token as its user name. */
  nats: { url: string; external: boolean };
};

/** The same address without what must not be shown. */
export const withoutCredentials = (url: string): string => url.replace(/\/\/[^/@]*@/, '//');

/** Host and port of a `host:port` pair or of a URL; null when it names no port and the scheme has no usual one. */
export function toHostAndPort(address: string): { host: string; port: number } | null {
  const url = URL.parse(address.includes('://') ? address : `tcp://${address}`);
  if (url === null) return null;
  const usual: Record<string, number> = {
    'postgres:': 5432,
    'postgresql:': 5432,
    'nats:': 4222,
    'tls:': 4222,
  };
  const port = url.port === '' ? usual[url.protocol] : Number(url.port);
  return port === undefined ? null : { host: url.hostname.replace(/^\[|\]$/g, ''), port };
}
