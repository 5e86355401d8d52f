import Foundation
import Testing
import VestibuleClient

/// The examples of `docs/guide/swift.md`. They are here so that the compiler reads them; the test compares the two.
@Suite("examples of the guide") struct GuideExamplesTests {
    @Test func thePageHasNoOtherExamples() throws {
        var root = URL(fileURLWithPath: #filePath)
        let own = try lines(of: String(contentsOf: root, encoding: .utf8))
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let page = try String(contentsOf: root.appendingPathComponent("docs/guide/swift.md"), encoding: .utf8)
        let examples = page.components(separatedBy: "```swift\n").dropFirst().map {
            lines(of: $0.components(separatedBy: "```")[0])
        }
        #expect(examples.count == 8)
        for example in examples {
            #expect(own.contains(example), "another example:\n\(example)")
        }
    }

    /// Without what the formatter decides: the indentation and the breaks of lines.
    private func lines(of text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

// The app that the examples stand in.

private func client(_ folder: URL) -> Vestibule {
    let vestibule = Vestibule(
        URL(string: "https://api.example.org")!, language: Locale.preferredLanguages.first,
        store: FileStore(folder: folder))
    return vestibule
}

private func states(_ vestibule: Vestibule) async {
    for await state in await vestibule.stateChanges() {
        switch state {
        case .signedIn(let person): showHome(of: person)
        case .signedOut(let reason): showSignIn(because: reason)
        }
    }
}

private func signIn(_ vestibule: Vestibule, _ phone: String, _ code: String) async throws -> CodeTimer {
    let sent = try await vestibule.sendOTP(SendOTPRequest(phone: phone))
    let timer = CodeTimer(sent)
    let session = try await vestibule.verifyOTP(
        VerifyOTPRequest(
            challengeId: sent.challengeId, code: code, device: DeviceClaim(name: "My phone", platform: .ios)))
    if session.isNewUser { showWelcome() }
    return timer
}

private func signInWithGoogle(_ vestibule: Vestibule) async throws {
    let nonce = try await vestibule.issueSocialNonce(IssueSocialNonceRequest(provider: .google)).nonce
    let answer = try await vestibule.signInWithGoogle(
        SignInWithGoogleRequest(
            identityToken: try await googleToken(nonce), nonce: nonce,
            device: DeviceClaim(name: "My phone", platform: .ios)))
    if case .phoneVerificationRequired(let linking) = answer { askForPhone(linking.linkToken) }
}

private func calls(_ vestibule: Vestibule) async throws -> (Answer<Me>, OnboardingView) {
    let me = try await vestibule.getMe()
    let changed = try await vestibule.updateMe(ifMatch: me.eTag, ["city": "Malmö"])
    let onboarding = try await vestibule.viewOnboarding()
    return (changed, onboarding)
}

private func errors(_ vestibule: Vestibule) async {
    do throws(VestibuleError) {
        _ = try await vestibule.skipField(SkipFieldRequest(field: "bio"))
    } catch {
        switch error {
        case .problem(let problem) where problem.code == .hasValue: clearFirst()
        case .problem(let problem): show(problem.detail, problem.errors ?? [])
        case .noAnswer, .unreadable: showThatThereIsNoNetwork()
        case .signedOut: break
        case .store: showThatTheDeviceIsLocked()
        case .notModified: break
        }
    }
}

private func answers(_ vestibule: Vestibule, _ opened: SessionView, _ shown: AnswerView?) async throws {
    let queue = await vestibule.answers(questionnaire: "skin-care", session: opened.id)
    try await queue.add(AnswerPlace("skinType"), value: "dry", seen: shown?.revision ?? 0)
    try await queue.send()
}

private func content(_ queue: AnswerQueue) async throws {
    for await content in await queue.contentChanges() {
        showCount(content.waiting.count)
        for refused in content.refused { showAgain(refused.answer.question, refused.detail) }
        for conflict in content.conflicts {
            if await prefersMine(conflict.mine.value, conflict.theirs.value) {
                try await queue.keepMine(conflict)
            } else {
                try await queue.keepTheirs(conflict)
            }
        }
    }
}

private func showHome(of person: UUID) {}
private func showSignIn(because reason: ProblemCode?) {}
private func showWelcome() {}
private func googleToken(_ nonce: String) async throws -> String { nonce }
private func askForPhone(_ linkToken: String) {}
private func clearFirst() {}
private func show(_ detail: String, _ errors: [FieldProblem]) {}
private func showThatThereIsNoNetwork() {}
private func showThatTheDeviceIsLocked() {}
private func showCount(_ count: Int) {}
private func showAgain(_ question: String, _ detail: String) {}
private func prefersMine(_ mine: VestibuleClient.JSONValue?, _ theirs: VestibuleClient.JSONValue?) async -> Bool {
    true
}
