import BusProtocol
import JSONText

/// Values that the samples of several contracts share.
enum Sample {
    static let person = Identifier("5f0c1f3e-6a52-4a7e-9d5b-0c9a3f2b1d10")!
    static let session = Identifier("019c2f00-0000-7000-8000-000000000001")!
    static let device = Identifier("019c2f00-0000-7000-8000-000000000002")!
    static let challenge = Identifier("019c2f00-0000-7000-8000-000000000003")!
    static let recovery = Identifier("019c2f00-0000-7000-8000-000000000004")!
    static let notification = Identifier("019c2f00-0000-7000-8000-000000000005")!

    static let everyday = Timestamp("2026-02-20T09:00:00.125Z")!
    static let earliest = Timestamp("1970-01-01T00:00:00Z")!
    static let latest = Timestamp("9999-12-31T23:59:59.999999Z")!
    /// The largest integer that every JSON reader reads exactly.
    static let largestInteger: Int64 = 9_007_199_254_740_991

    static let phone = DeviceClaim(name: "Pixel 9", platform: "android")
    static let smallDevice = DeviceClaim(name: "x", platform: "web")
    static let fullDevice = DeviceClaim(
        id: device, secret: String(repeating: "s", count: 128), name: "Zoës iPhone 📱", platform: "ios",
        pushToken: String(repeating: "p", count: 4096))
    static let fullIdentity = IdentityProof(
        provider: "google", identityToken: String(repeating: "t", count: 16_384),
        nonce: String(repeating: "n", count: 256))

    static let unauthorized = BusError(.unauthorized, "Please sign in.")
    static let invalidPhone = BusError(.invalidPhone, "Please enter a valid phone number")
    static let otpInvalid = BusError(
        .otpInvalid, "Code incorrect. 2 attempts remaining", executed: .yes, details: ["attemptsRemaining": 2])
    static let otpExpired = BusError(.otpExpired, "Code expired. Request a new one.")
    static let otpLocked = BusError(
        .otpLocked, "Too many attempts. Try again in 15 minutes.", executed: .yes, retryAfter: .seconds(900),
        details: alternatives)
    static let rateLimited = BusError(
        .rateLimited, "Please wait 42 seconds before retrying", retryAfter: .seconds(42), details: alternatives)
    static let alternatives: [String: JSONValue] = [
        "alternatives": ["known_device", "linked_identity", "try_later"]
    ]
    static let linkTokenExpired = BusError(
        .linkTokenExpired, "This took too long. Please sign in with your provider again.")
    static let identityTokenInvalid = BusError(
        .identityTokenInvalid, "Google did not confirm this sign-in. Please try again.")
    static let identityProviderUnavailable = BusError(
        .identityProviderUnavailable, "Signing in with Google is not available right now.", retryAfter: .seconds(30))
    static let methodNotAvailable = BusError(
        .methodNotAvailable, "Signing in with Google is not offered here. Please choose another way.")
    static let claimantHasAccount = BusError(
        .claimantHasAccount,
        "This number has an account of its own. Delete that account first, or claim with another number.",
        executed: .yes)
    static let accountNotNamed = BusError(
        .validationFailed, "Some members of the request are missing or wrong.",
        errors: [
            .init(
                field: "accountPhone", code: "required",
                message: "Name the account by its number, by its email address, or by a linked identity.")
        ])
    static func notOffered(_ method: String) -> BusError {
        BusError(.methodNotAvailable, "Signing in with \(method) is not offered here. Please choose another way.")
    }
    static let appErrors = [
        BusError(.appUnknown, "There is no such app."), BusError(.entryUnknown, "There is no such entry."),
    ]
    static let frozen = BusError(
        .accountFrozen, "This account is protected because of a recovery request. Please try again later.",
        retryAfter: .seconds(1_468_800))
}
