import { get } from 'node:http';
import { connect } from 'node:net';
import type { Readiness } from './plan.ts';

const ATTEMPT_TIMEOUT_MS = 1_000;

/** Asks once whether the process serves. Only a probe can throw, and only a `StackError`: it never will. */
export function isReady(readiness: Readiness): Promise<boolean> {
  switch (readiness.kind) {
    case 'http':
      return answersHttp(readiness.url);
    case 'tcp':
      return answersTcp(readiness);
    case 'probe':
      return readiness.probe();
  }
}

/** Whether a connection to the address is accepted within a second. */
export function answersTcp({ host, port }: { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(ATTEMPT_TIMEOUT_MS, () => finish(false));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

function answersHttp(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: ATTEMPT_TIMEOUT_MS }, (response) => {
      const { statusCode = 0 } = response;
      response.resume();
      resolve(statusCode >= 200 && statusCode < 300);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
