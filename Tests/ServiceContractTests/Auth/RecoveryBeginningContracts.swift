import BusProtocol

enum BeginRecoveryContract: MessageContract {
    static let canonical = BeginRecovery(
        caseID: Sample.recovery, accountPhone: "+14155552671", challengeID: Sample.challenge, code: "042917",
        device: Sample.phone, freezeSeconds: 1_468_800)
    static let minimal = BeginRecovery(
        caseID: Sample.recovery, accountPhone: "1", challengeID: Sample.challenge, code: "000000",
        device: Sample.smallDevice, freezeSeconds: 1)
    static let maximal = BeginRecovery(
        caseID: Sample.recovery, accountPhone: String(repeating: "\u{664}", count: 64), challengeID: Sample.challenge,
        code: "999999", device: Sample.fullDevice, freezeSeconds: 7_776_000)

    static let canonicalReply = RecoveryBegun(
        caseID: Sample.recovery, accountID: Sample.person, accountReference: "b64-of-account",
        claimantReference: "b64-of-claimant", maskedClaimantPhone: "+1 (***) ***-0199")
    /// No account has the number.
    static let minimalReply = RecoveryBegun(
        caseID: Sample.recovery, accountID: nil, accountReference: "a", claimantReference: "c", maskedClaimantPhone: "+"
    )
    static let maximalReply = RecoveryBegun(
        caseID: Sample.recovery, accountID: Sample.person, accountReference: String(repeating: "a", count: 128),
        claimantReference: String(repeating: "c", count: 128), maskedClaimantPhone: String(repeating: "•", count: 64))

    static let errors: [BusError] = [Sample.invalidPhone, Sample.otpInvalid, Sample.otpExpired, Sample.otpLocked]
}

enum RecoveryBeganContract: MessageContract {
    static let canonical = RecoveryBegan(
        personID: Sample.person, personSequence: 2, begun: BeginRecoveryContract.canonicalReply)
    /// A decoy stands under its own case.
    static let minimal = RecoveryBegan(personID: Sample.recovery, begun: BeginRecoveryContract.minimalReply)
    static let maximal = RecoveryBegan(
        personID: Sample.person, personSequence: Sample.largestInteger, begun: BeginRecoveryContract.maximalReply)

    static let canonicalReply = Acknowledged()
    static let minimalReply = Acknowledged()
    static let maximalReply = Acknowledged()
    static let errors: [BusError] = []
}
