import { createHash } from 'node:crypto';
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import { KEY_ROLES, type KeyRole } from '../../../store/keys/key-role.ts';
import type { Person } from '../../../store/keys/person-keys.ts';

const USUAL_SCOPE = 'openid profile email';
/** By so much the clocks of provider and service may differ. */
export const CLOCK_SKEW_S = 30;
/** A request to the provider may take so long. */
const REQUEST_S_MAX = 10;
/** Every answer of the provider: its configuration, keys, tokens and claims. Real ones have some kilobytes. */
export const PROVIDER_BYTES_MAX = 1_048_576;
/** The configuration of the provider is read again after so long. */
const DISCOVERED_MS_MAX = 3_600_000;
/** Characters of the id of a person's key: no two people have the same one. */
const ID_CHARACTERS = 32;

interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** null: the usual ones, and that of the groups if the provider has one. */
  readonly scope: string | null;
  readonly groupsClaim: string;
  readonly roles: ReadonlyMap<string, KeyRole>;
  /** So long after a sign-in the person signs in again. */
  readonly sessionMs: number;
}

/** State that the browser keeps while the person is at the provider. */
export interface OpenLogin {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Why a sign-in failed. The page has a sentence for each reason. */
export type LoginRefusal = 'unfinished' | 'declined' | 'provider' | 'no-role' | 'revoked';

export type LoginResult =
  | { readonly kind: 'person'; readonly person: Person }
  | { readonly kind: 'refused'; readonly reason: LoginRefusal; readonly detail: string };

/** Signs people in at an OpenID provider: authorization code with PKCE, state and nonce. */
export class IdentityProvider {
  readonly #settings: ProviderSettings;
  readonly #nowMs: () => number;
  #discovered: { readonly config: Configuration; readonly readMs: number } | null = null;

  constructor(settings: ProviderSettings, nowMs: () => number) {
    this.#settings = settings;
    this.#nowMs = nowMs;
  }

  /** As people know it. */
  get host(): string {
    return new URL(this.#settings.issuer).host;
  }

  /**
   * Where the browser goes, and what it keeps. Rejects while the provider cannot be asked.
   * @param returnTo the address of this service that the provider sends it back to
   */
  async begin(returnTo: string): Promise<{ readonly url: string; readonly login: OpenLogin }> {
    const { client, config } = await this.#open();
    const login = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
    };
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: returnTo,
      scope: this.#scopeAt(config),
      state: login.state,
      nonce: login.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(login.verifier),
      code_challenge_method: 'S256',
    });
    return { url: url.href, login };
  }

  /** Some providers, such as Dex, add groups only if their scope is requested; others refuse an unknown scope. */
  #scopeAt(config: Configuration): string {
    const { scope, groupsClaim } = this.#settings;
    const isListed = config.serverMetadata().scopes_supported?.includes(groupsClaim) ?? false;
    return scope ?? (isListed ? `${USUAL_SCOPE} ${groupsClaim}` : USUAL_SCOPE);
  }

  /** Who came back. What does not fit is refused, with its reason for the log. */
  async finish(cameTo: URL, { state, nonce, verifier }: OpenLogin): Promise<LoginResult> {
    const { groupsClaim, roles, sessionMs, issuer } = this.#settings;
    try {
      const { client, config } = await this.#open();
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await client.authorizationCodeGrant(config, cameTo, checks);
      const claims = tokens.claims();
      if (claims === undefined) return { kind: 'refused', reason: 'provider', detail: 'there is no ID token' };
      const { sub } = claims;
      // Many providers have groups there alone.
      const elsewhere = !(groupsClaim in claims) && config.serverMetadata().userinfo_endpoint !== undefined;
      const more = elsewhere ? await client.fetchUserInfo(config, tokens.access_token, sub) : {};
      const known = { ...more, ...claims };
      const role = roleOfGroups(groupsOf(known, groupsClaim), roles);
      if (role === null) {
        const detail = `${personName(known)}: ${groupsText(known, groupsClaim)}`;
        return { kind: 'refused', reason: 'no-role', detail };
      }
      const expiresAtMs = this.#nowMs() + sessionMs;
      return { kind: 'person', person: { id: personId(issuer, sub), name: personName(known), role, expiresAtMs } };
    } catch (error) {
      const { code, error: answered } = error as { readonly code?: unknown; readonly error?: unknown };
      if (answered === 'access_denied')
        return { kind: 'refused', reason: 'declined', detail: 'the provider reports access_denied' };
      const named = [code, answered].filter((part) => typeof part === 'string');
      const detail = [...named, ...messagesOf(error)].join(': ');
      return { kind: 'refused', reason: 'provider', detail };
    }
  }

  /** The package, which is loaded when somebody signs in, and the configuration of the provider. */
  async #open() {
    const client = await import('openid-client');
    const nowMs = this.#nowMs();
    if (this.#discovered === null || nowMs - this.#discovered.readMs >= DISCOVERED_MS_MAX) {
      const { issuer, clientId, clientSecret } = this.#settings;
      const [basic, post] = [client.ClientSecretBasic(clientSecret), client.ClientSecretPost(clientSecret)];
      const authentication: ClientAuth = (server, ...rest) => {
        const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
        (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
      };
      const isLocal = issuer.startsWith('http:');
      const config = await client.discovery(
        new URL(issuer),
        clientId,
        { [client.clockTolerance]: CLOCK_SKEW_S },
        authentication,
        {
          timeout: REQUEST_S_MAX,
          [client.customFetch]: boundedFetch(PROVIDER_BYTES_MAX),
          // The ID token is checked by its signature, too.
          execute: [client.enableNonRepudiationChecks, ...(isLocal ? [client.allowInsecureRequests] : [])],
        },
      );
      this.#discovered = { config, readMs: nowMs };
    }
    return { client, config: this.#discovered.config };
  }
}

function personId(issuer: string, subject: string): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex')
    .slice(0, ID_CHARACTERS);
}

/** An error and what caused it, without the answers that some carry: those hold tokens. */
export function messagesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  return [error.message, ...messagesOf(error.cause)];
}

/** As `fetch`, whose answers have at most `bytesMax` bytes: a longer one is an error, and is not read to its end. */
function boundedFetch(bytesMax: number): CustomFetch {
  return async (url, options) => {
    const answer = await fetch(url, options as RequestInit);
    const { status, statusText, headers } = answer;
    const pieces: Uint8Array[] = [];
    let read = 0;
    for await (const piece of answer.body ?? []) {
      read += piece.length;
      if (read > bytesMax) throw new Error(`${url} answers with more than ${bytesMax} bytes`);
      pieces.push(piece);
    }
    return new Response(answer.body === null ? null : Buffer.concat(pieces), { status, statusText, headers });
  };
}

/** Instead of a group: everybody whom the provider signs in. */
const ANYBODY = '*';
const NAME_CHARACTERS_MAX = 100;
/** Groups that a log names: directories have thousands. */
const GROUPS_NAMED_MAX = 20;
/** Characters that control a terminal, are invisible or reverse text; databases refuse the first of them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]+/gu;

type Claims = Readonly<Record<string, unknown>>;

/** The groups of a claim: a list of texts, or one text. Anything else is none. */
export function groupsOf(claims: Claims, claim: string): readonly string[] {
  return [claims[claim]].flat().filter((group) => typeof group === 'string');
}

/** The highest role that any of the groups has; null without one. */
export function roleOfGroups(groups: readonly string[], roles: ReadonlyMap<string, KeyRole>): KeyRole | null {
  const held = new Set([ANYBODY, ...groups].map((group) => roles.get(group)));
  return KEY_ROLES.findLast((role) => held.has(role)) ?? null;
}

/** The groups of a claim in words, as an operator compares them with the roles. */
export function groupsText(claims: Claims, claim: string): string {
  if (!(claim in claims)) return `no claim ${claim}`;
  const groups = groupsOf(claims, claim);
  if (groups.length === 0 && !isEmptyList(claims[claim])) return `the claim ${claim} is no list of texts`;
  const more = groups.length - GROUPS_NAMED_MAX;
  const named = groups.slice(0, GROUPS_NAMED_MAX).map(visible).join(', ');
  return `groups ${named || 'none'}${more > 0 ? ` and ${more} more` : ''}`;
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Name of a person: the first of the usual claims that is visible. */
export function personName(claims: Claims): string {
  const names = ['preferred_username', 'email', 'name', 'sub'].map((claim) => claims[claim]);
  return names.map((name) => (typeof name === 'string' ? visible(name) : '')).find((name) => name !== '') ?? '?';
}

/** At most so many characters of a text, in one line. */
function visible(text: string): string {
  const seen = text
    .slice(0, 2 * NAME_CHARACTERS_MAX)
    .replace(UNSEEN, ' ')
    .trim();
  return [...seen].slice(0, NAME_CHARACTERS_MAX).join('');
}
