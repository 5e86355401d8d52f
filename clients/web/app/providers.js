// Google and Apple by redirect, without a script of theirs. The server's operator says in settings.json which there are.
import { appKey, device, server, settings } from './server.js'
import { welcome } from './sign-in.js'
import { keep, kept } from './store.js'

const known = {
    google: {
        name: 'Google', address: 'https://accounts.google.com/o/oauth2/v2/auth', ask: { response_type: 'id_token', scope: 'openid' },
    },
    apple: {
        name: 'Apple', address: 'https://appleid.apple.com/auth/authorize',
        ask: { response_type: 'code id_token', response_mode: 'fragment' },
    },
}
const calls = { google: call => server.signInWithGoogle(call), apple: call => server.signInWithApple(call) }
const sha256 = async text => [...new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))]
    .map(byte => byte.toString(16).padStart(2, '0')).join('')
const home = () => location.origin + location.pathname

/** Of the ways to sign in that are offered, the providers that this deployment has a client at. */
export async function providers(offered) {
    const keys = offered.filter(key => key in known)
    const clients = keys.length ? (await settings()).clients ?? {} : {}
    return keys.filter(key => clients[key])
        .map(key => ({ key, name: known[key].name, address: clients[key].address ?? known[key].address, clientId: clients[key].id }))
}

/** Leaves for the provider, which leads back with a token. */
export async function beginRedirect({ key, address, clientId }) {
    const { nonce } = await server.issueSocialNonce({ body: { provider: key } })
    const state = crypto.randomUUID()
    keep('redirect', { provider: key, nonce, state, app: appKey, until: Date.now() + 300_000 })
    const query = new URLSearchParams({
        ...known[key].ask, client_id: clientId, redirect_uri: home(), nonce: await sha256(nonce), state })
    location.assign(`${address}?${query}`)
}

/** The parameters that a provider led back with; `null` if the address has none. They do not stay in the address. */
export function returned() {
    const given = new URLSearchParams(location.hash.slice(1))
    if (!given.has('state') || !(given.has('id_token') || given.has('error'))) return null
    history.replaceState(null, '', '#/sign-in')
    return given
}

/** Signs in with what the provider led back with, and says where the person goes on. */
export async function finishRedirect(given) {
    const begun = kept('redirect')
    keep('redirect', undefined)
    if (!begun || begun.state !== given.get('state') || given.has('error')) return { go: '/sign-in' }
    const answer = await calls[begun.provider]({ body: {
        identityToken: given.get('id_token'), nonce: begun.nonce, device: device(),
        ...(given.get('code') && begun.provider === 'apple' ? { authorizationCode: given.get('code') } : {}),
    } })
    if (answer?.linkToken) {
        keep('link', { linkToken: answer.linkToken, until: Date.now() + answer.expiresInSeconds * 1000 })
        return { go: '/sign-in/phone' }
    }
    return { go: welcome() }
}
