// The servers that the embedded stack needs beside Postgres, each pinned to the version in tools/go.mod.

/** One server binary: where it may come from and which versions found on PATH are good enough. */
export type PinnedBinary = {
  readonly name: 'temporal' | 'nats-server';
  readonly version: string;
  /** Variable that names an executable to use instead of looking for one. */
  readonly variable: string;
  /** Whether the version printed by a program found on PATH will do. */
  accepts(version: string): boolean;
  /** The vendor's release: folder of its assets, this platform's archive and the list of SHA-256 sums. */
  readonly release: {
    readonly url: string;
    archive(platform: { os: string; arch: string }): string;
    readonly checksums: string;
  };
  /** The package to build in the tools module, and what the linker writes into it. */
  readonly goPackage: string;
  readonly linkerFlags: string;
  readonly buildTime: string;
  /** How a person gets it without this program's help. */
  readonly installHint: string;
};

const TEMPORAL_VERSION = '1.8.2';
const NATS_VERSION = '2.14.5';

export const temporalBinary: PinnedBinary = {
  name: 'temporal',
  version: TEMPORAL_VERSION,
  variable: 'HOLDFAST_TEMPORAL_BIN',
  accepts: (version) => version === TEMPORAL_VERSION,
  release: {
    url: `https://github.com/temporalio/cli/releases/download/v${TEMPORAL_VERSION}`,
    archive: ({ os, arch }) => `temporal_cli_${TEMPORAL_VERSION}_${os}_${arch}.tar.gz`,
    checksums: 'checksums.txt',
  },
  goPackage: 'github.com/temporalio/cli/cmd/temporal',
  linkerFlags: `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${TEMPORAL_VERSION}`,
  buildTime: 'about 4 minutes',
  installHint: `install the Temporal CLI ${TEMPORAL_VERSION} and set HOLDFAST_TEMPORAL_BIN to it, install Go so that it can be built, or set TEMPORAL_ADDRESS to a running server`,
};

export const natsServerBinary: PinnedBinary = {
  name: 'nats-server',
  version: NATS_VERSION,
  variable: 'HOLDFAST_NATS_SERVER_BIN',
  // 2.9 is the oldest line whose JetStream has everything that is used, and the one that Debian 12 ships.
  accepts: (version) => isAtLeast(version, [2, 9]),
  release: {
    url: `https://github.com/nats-io/nats-server/releases/download/v${NATS_VERSION}`,
    archive: ({ os, arch }) => `nats-server-v${NATS_VERSION}-${os}-${arch}.tar.gz`,
    checksums: 'SHA256SUMS',
  },
  goPackage: 'github.com/nats-io/nats-server/v2',
  linkerFlags: '-s -w',
  buildTime: 'about 15 seconds',
  installHint:
    'install nats-server 2.9 or newer, install Go so that it can be built, or set NATS_URL to a running server',
};

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [foundMajor = 0, foundMinor = 0] = version.split('.').map(Number);
  return foundMajor > major || (foundMajor === major && foundMinor >= minor);
}
