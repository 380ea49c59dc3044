import { type LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { maskSecrets } from '#libs/kernel/mask-secrets.js';

export type { Logger };
/** Log interface of the data plane, which a Logger implements. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const LOGGER = Symbol('Logger');

export interface LoggerOptions {
  /** Value of SLUICE_LOG_LEVEL. */
  readonly level: string;
  /** Role of the process that writes the line: `standalone`, `router`, … */
  readonly role: string;
  /** Destination of the lines, by default standard output. */
  readonly destination?: DestinationStream;
}

/** Writes JSON lines. Redacts fields that may hold credentials, in case a request or a config is logged by mistake. */
export const createLogger = ({ level, role, destination }: LoggerOptions): Logger => {
  const secrets = ['authorization', 'apiKey', 'secretKey', 'access_token', 'signingKey', 'password'];
  const options = {
    level,
    base: { role },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    // Texts of errors may hold what a client or a setting gave: an address with a password, a key in a path.
    hooks: { streamWrite: maskSecrets },
    redact: { paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '********' },
  };
  return pino(options, destination ?? standardOutput());
};

/**
 * The server continues without a log after its reader has closed the pipe. pino's own stream repeats a failed write
 * indefinitely in its last flush, so the process would not end.
 */
const standardOutput = (): DestinationStream => {
  if (process.stdout.listenerCount('error', ignored) === 0) process.stdout.on('error', ignored);
  return process.stdout;
};
const ignored = (): void => undefined;

/** Passes Nest's log lines to our logger. Its start-up lines become debug, because the start has its own summary. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest passes the context last, and the stack of an error before it. */
  private write(
    level: 'fatal' | 'error' | 'warn' | 'debug' | 'trace',
    message: unknown,
    rest: readonly unknown[],
  ): void {
    const context = rest.at(-1);
    const stack = rest.length > 1 ? rest[0] : undefined;
    const fields = {
      ...(typeof context === 'string' ? { context } : {}),
      ...(typeof stack === 'string' ? { stack } : {}),
    };
    if (message instanceof Error) this.logger[level]({ ...fields, err: message }, message.message);
    else if (typeof message === 'object' && message !== null) this.logger[level]({ ...fields, ...message });
    else this.logger[level](fields, String(message));
  }
}
