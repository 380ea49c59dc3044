/** The parts of kafkajs used below its public API (2.2.4, pinned; ADR 12). */

declare module 'kafkajs/src/network/connection.js' {
  import { type ProtocolCall } from 'kafkajs/src/protocol/requests/index.js';

  interface InternalLogger {
    namespace(): InternalLogger;
    debug(): void;
    info(): void;
    warn(): void;
    error(): void;
  }

  export default class Connection {
    constructor(options: {
      host: string;
      port: number;
      clientId: string;
      logger: InternalLogger;
      socketFactory: unknown;
      connectionTimeout: number;
      requestTimeout: number;
    });
    readonly socket?: { destroy(): void };
    connect(): Promise<unknown>;
    disconnect(): Promise<unknown>;
    isConnected(): boolean;
    rejectRequests(error: Error): void;
    send(call: ProtocolCall): Promise<unknown>;
  }
}

declare module 'kafkajs/src/network/socketFactory.js' {
  const socketFactory: () => unknown;
  export default socketFactory;
}

declare module 'kafkajs/src/protocol/requests/index.js' {
  export interface ProtocolCall {
    readonly request: unknown;
    readonly response: { decode(raw: unknown): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };
    readonly requestTimeout?: number;
    readonly logResponseError?: boolean;
  }
  export type ApiVersions = Record<number, { minVersion: number; maxVersion: number }>;
  export interface RequestDefinition {
    readonly versions: readonly string[];
    protocol(options: { version: number }): (args: object) => ProtocolCall;
  }
  const protocol: {
    readonly requests: Readonly<Record<string, RequestDefinition>>;
    lookup(versions: ApiVersions): (apiKey: number, definition: RequestDefinition) => (args: object) => ProtocolCall;
  };
  export default protocol;
}

declare module 'kafkajs/src/protocol/requests/apiKeys.js' {
  const apiKeys: Readonly<Record<string, number>>;
  export default apiKeys;
}

declare module 'kafkajs/src/protocol/error.js' {
  const errors: { createErrorFromCode(code: number): { readonly type: string; readonly message: string } };
  export default errors;
}
