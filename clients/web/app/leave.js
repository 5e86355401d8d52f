// Signing out.
import { go } from './routes.js'
import { server } from './server.js'
import { forget } from './store.js'

/** Ends the session, and takes away what this browser keeps about the person. */
export async function leave() {
    await server.signOut()
    forget()
    go('/sign-in')
}
