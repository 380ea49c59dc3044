import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';

/** Provides the ports that the contexts inject by token. They are created before Nest starts. */
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
