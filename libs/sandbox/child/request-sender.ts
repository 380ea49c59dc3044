import Module, { createRequire } from 'node:module';
import { type ConfiguredRequest } from '../../component-model/http-request.js';

interface RequestClient {
  send(request: ConfiguredRequest): Promise<unknown>;
}

/** Loads the code that sends configured requests when the first one is sent, because most runs send none. */
export const requestSender = (code: string | null): ((request: ConfiguredRequest) => Promise<unknown>) | undefined => {
  if (code === null) return undefined;
  let client: RequestClient | undefined;
  return (request) => {
    client ??= loaded(code);
    return client.send(request);
  };
};

const loaded = (code: string): RequestClient => {
  const file = `${process.cwd()}/http-request.js`;
  const module = new Module(file) as Module & { _compile(code: string, file: string): void };
  module.filename = file;
  module.paths = [];
  module.require = createRequire(file);
  module._compile(code, file);
  return module.exports as RequestClient;
};
