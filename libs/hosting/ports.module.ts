import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';

/** What the contexts ask for by token, made by the start-up before Nest. */
@Global()
@Module({})
export class PortsModule {
  static register(providers: readonly Provider[]): DynamicModule {
    return {
      module: PortsModule,
      providers: [...providers],
      exports: providers.map((provider) => (typeof provider === 'function' ? provider : provider.provide)),
    };
  }
}
