import type { SaslConfig } from '../../config/config.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { isConnectionFailure } from './failure.ts';
import { endpointTokens, fileTokens, type LoginTokens } from './login-tokens.ts';

type OauthConfig = Extract<SaslConfig, { readonly mechanism: 'oauthbearer' }>;

const SEPARATOR = '\u0001';

/** A login of our own, as kafkajs takes it. */
interface LoginMechanism {
  readonly mechanism: string;
  authenticationProvider(of: { saslAuthenticate(exchange: LoginExchange): Promise<unknown> }): {
    authenticate(): Promise<void>;
  };
}

interface LoginExchange {
  readonly request: { encode(): Promise<Buffer> };
  readonly response: { decode(answer: Buffer): Promise<Buffer>; parse(answer: Buffer): Promise<Buffer> };
}

/** One configuration has the same tokens for all connections of the process. */
const tokensOf = new WeakMap<OauthConfig, LoginTokens>();

/**
 * Logs in by SASL OAUTHBEARER (RFC 7628). kafkajs's own login does not read the answer: after a refused token it goes
 * on as if it was logged in, until the broker closes the connection.
 */
export function oauthLogin(sasl: OauthConfig): LoginMechanism {
  const tokens =
    tokensOf.get(sasl) ?? ('file' in sasl.tokens ? fileTokens(sasl.tokens.file) : endpointTokens(sasl.tokens));
  tokensOf.set(sasl, tokens);
  const extensions = Object.entries(sasl.extensions).map(([name, value]) => `${name}=${value}${SEPARATOR}`);
  return {
    mechanism: 'oauthbearer',
    authenticationProvider: ({ saslAuthenticate }) => ({
      async authenticate() {
        const token = await tokens.current();
        const exchange = async (text: string) => {
          const response = {
            decode: async (bytes: Buffer) => bytes.subarray(4),
            parse: async (bytes: Buffer) => bytes,
          };
          return (await saslAuthenticate({ request: { encode: () => withLength(text) }, response })) as Buffer;
        };
        try {
          const login = `auth=Bearer ${token}${SEPARATOR}${extensions.join('')}`;
          const answer = await exchange(`n,,${SEPARATOR}${login}${SEPARATOR}`);
          // An answer is a refusal. The broker ends the login when it is acknowledged.
          if (answer.length > 0) await exchange(SEPARATOR);
        } catch (error) {
          if (isConnectionFailure(error)) throw error;
          const retryable = tokens.refused(token);
          throw new ServiceError(retryable ? 'broker-unavailable' : 'configuration', REFUSED, { retryable });
        }
        tokens.accepted(token);
      },
    }),
  };
}

const REFUSED =
  'Kafka refused the OAUTHBEARER token: it has expired, or the brokers do not trust its issuer, audience or scope';

/** As kafkajs sends it. */
async function withLength(text: string): Promise<Buffer> {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
