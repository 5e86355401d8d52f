// Compiled, not run, with the types alone: what an app may write, and what tsc has to refuse.
import { MemoryStore, Resend, Vestibule, VestibuleProblem, type Store } from '../vestibule.js'
import type { Me, OnboardingStatus, QueuedAnswer } from '../generated/models.js'

export async function compiles() {
    const store: Store = new MemoryStore()
    const vestibule = new Vestibule({ session: 'tokens', address: 'https://api.example.org', store })
    const end: () => void = vestibule.onSession(({ state, user }) => state === 'signedIn' && new Resend(30).onTick(() => user?.id))
    const { value, eTag }: { value: Me; eTag?: string } = await vestibule.getMe()
    // A value of a later release is one, too.
    const later: OnboardingStatus = 'a_later_status'
    const known: OnboardingStatus = value.onboardingStatus === 'complete' ? 'complete' : later
    await vestibule.updateMe({ body: { displayName: 'Åsa', bio: null }, ifMatch: eTag })
    await vestibule.getSession({ questionnaire: 'skin-care', session: known, signal: new AbortController().signal })
    const answers = vestibule.answers({ questionnaire: 'skin-care', session: known })
    await answers.put({ question: 'gender', state: 'answered', value: ['female'] })
    const first: QueuedAnswer | undefined = answers.state.conflicts[0]?.mine
    const text: string = new VestibuleProblem(await Promise.reject()).detail

    // @ts-expect-error: a path has to be complete.
    await vestibule.getSession({ questionnaire: 'skin-care' })
    // @ts-expect-error: there is no such member.
    await vestibule.sendOTP({ body: { phoneNumber: '+46701234501' } })
    // @ts-expect-error: an answer with a version has its value inside.
    const wrong: Me = await vestibule.getMe()
    // @ts-expect-error: a question has to be named.
    await answers.put({ state: 'answered', value: 'female' })
    // @ts-expect-error: perhaps nobody is signed in.
    const person: string = vestibule.user.id
    // @ts-expect-error: a session lies in a cookie or in a store.
    new Vestibule({ session: 'memory' })
    return [first, text, wrong, person, end]
}
