// Every `code` of the public API and of the bus, with its HTTP status.

extension ErrorCode {
    // What the bus itself answers.
    public static let invalidMessage = ErrorCode("invalid_message", .invalidArgument, http: 422, "Invalid message")
    public static let unknownMessage = ErrorCode("unknown_message", .unimplemented, http: 501, "Unknown message")
    public static let callerNotAllowed = ErrorCode("caller_not_allowed", .permissionDenied, http: 403, "Not allowed")
    public static let serviceUnavailable = ErrorCode(
        "service_unavailable", .unavailable, http: 503, "Service unavailable")
    public static let overloaded = ErrorCode("overloaded", .overloaded, http: 503, "Overloaded")
    public static let deadlineExceeded = ErrorCode(
        "deadline_exceeded", .deadlineExceeded, http: 504, "Deadline exceeded")
    public static let internalError = ErrorCode("internal_error", .internal, http: 500, "Internal error")

    // What every service can answer.
    public static let validationFailed = ErrorCode(
        "validation_failed", .invalidArgument, http: 422, "Validation failed")
    public static let unauthorized = ErrorCode("unauthorized", .unauthenticated, http: 401, "Unauthorized")
    public static let forbidden = ErrorCode("forbidden", .permissionDenied, http: 403, "Forbidden")
    public static let notFound = ErrorCode("not_found", .notFound, http: 404, "Not found")
    public static let idempotencyKeyReused = ErrorCode(
        "idempotency_key_reused", .invalidArgument, http: 422, "Idempotency key reused")
    public static let requestInProgress = ErrorCode("request_in_progress", .aborted, http: 409, "Request in progress")
    public static let idempotencyAnswerGone = ErrorCode(
        "idempotency_answer_gone", .failedPrecondition, http: 409, "Answer no longer kept")
    public static let preconditionFailed = ErrorCode(
        "precondition_failed", .failedPrecondition, http: 412, "Precondition failed")
    public static let rateLimited = ErrorCode("rate_limited", .resourceExhausted, http: 429, "Too many requests")
    public static let notImplemented = ErrorCode("not_implemented", .unimplemented, http: 501, "Not implemented yet")
    public static let reauthenticationRequired = ErrorCode(
        "reauthentication_required", .permissionDenied, http: 403, "Sign in again")

    // The gateway.
    public static let malformedRequest = ErrorCode(
        "malformed_request", .invalidArgument, http: 400, "Malformed request")
    public static let methodNotAllowed = ErrorCode(
        "method_not_allowed", .unimplemented, http: 405, "Method not allowed")
    public static let bodyTooLarge = ErrorCode("body_too_large", .invalidArgument, http: 413, "Body too large")
    public static let headersTooLarge = ErrorCode("headers_too_large", .invalidArgument, http: 431, "Headers too large")
    public static let unsupportedMediaType = ErrorCode(
        "unsupported_media_type", .invalidArgument, http: 415, "Unsupported media type")
    public static let tokenExpired = ErrorCode("token_expired", .unauthenticated, http: 401, "Token expired")
    public static let tokenRevoked = ErrorCode("token_revoked", .unauthenticated, http: 401, "Token revoked")

    // Auth.
    public static let invalidPhone = ErrorCode("invalid_phone", .invalidArgument, http: 422, "Invalid phone number")
    public static let smsUnavailable = ErrorCode("sms_unavailable", .unavailable, http: 503, "SMS unavailable")
    public static let otpInvalid = ErrorCode("otp_invalid", .invalidArgument, http: 422, "Code incorrect")
    public static let otpExpired = ErrorCode("otp_expired", .failedPrecondition, http: 410, "Code expired")
    public static let otpLocked = ErrorCode("otp_locked", .resourceExhausted, http: 429, "Too many attempts")
    public static let refreshTokenInvalid = ErrorCode(
        "refresh_token_invalid", .unauthenticated, http: 401, "Refresh token invalid")
    public static let refreshTokenReused = ErrorCode(
        "refresh_token_reused", .unauthenticated, http: 401, "Refresh token reused")
    public static let identityTokenInvalid = ErrorCode(
        "identity_token_invalid", .unauthenticated, http: 401, "Identity token invalid")
    public static let identityProviderUnavailable = ErrorCode(
        "identity_provider_unavailable", .unavailable, http: 503, "Identity provider unavailable")
    public static let identityInUse = ErrorCode("identity_in_use", .failedPrecondition, http: 409, "Identity in use")
    public static let providerAlreadyLinked = ErrorCode(
        "provider_already_linked", .failedPrecondition, http: 409, "Another identity is linked")
    public static let linkConfirmationRequired = ErrorCode(
        "link_confirmation_required", .failedPrecondition, http: 409, "Link not confirmed")
    public static let linkTokenExpired = ErrorCode(
        "link_token_expired", .failedPrecondition, http: 410, "Link token expired")
    public static let lastWayIn = ErrorCode("last_way_in", .failedPrecondition, http: 409, "Last way in")
    public static let recoveryRequired = ErrorCode(
        "recovery_required", .permissionDenied, http: 403, "Recovery required")
    public static let phoneInUse = ErrorCode("phone_in_use", .failedPrecondition, http: 409, "Phone in use")
    public static let accountFrozen = ErrorCode("account_frozen", .failedPrecondition, http: 409, "Account frozen")

    // Profile.
    public static let fieldNotSkippable = ErrorCode(
        "field_not_skippable", .invalidArgument, http: 422, "Field not skippable")
    public static let dateOfBirthLocked = ErrorCode(
        "date_of_birth_locked", .failedPrecondition, http: 409, "Date of birth locked")
    public static let dateOfBirthMissing = ErrorCode(
        "date_of_birth_missing", .failedPrecondition, http: 409, "Date of birth missing")
    public static let alreadyEligible = ErrorCode(
        "already_eligible", .failedPrecondition, http: 409, "Already eligible")
    public static let underage = ErrorCode("underage", .failedPrecondition, http: 422, "Under age")
    public static let hasValue = ErrorCode("has_value", .failedPrecondition, http: 409, "Field has a value")

    // Questionnaire.
    public static let questionnaireIncomplete = ErrorCode(
        "questionnaire_incomplete", .failedPrecondition, http: 409, "Questionnaire incomplete")
    public static let answerConflict = ErrorCode("answer_conflict", .aborted, http: 409, "Answer conflict")
    public static let mutationIDReused = ErrorCode(
        "mutation_id_reused", .invalidArgument, http: 422, "Mutation id reused")
    public static let sessionAlreadyOpen = ErrorCode(
        "session_already_open", .failedPrecondition, http: 409, "Session already open")
    public static let sessionNotOpen = ErrorCode(
        "session_not_open", .failedPrecondition, http: 409, "Session not open")
    public static let sessionStopped = ErrorCode("session_stopped", .failedPrecondition, http: 409, "Session stopped")
    public static let tooManySessions = ErrorCode(
        "too_many_sessions", .failedPrecondition, http: 409, "Too many sessions")
    public static let versionClosed = ErrorCode("version_closed", .failedPrecondition, http: 409, "Version closed")
    public static let migrationFinal = ErrorCode("migration_final", .failedPrecondition, http: 409, "Migration final")
    public static let sealingOff = ErrorCode("sealing_off", .failedPrecondition, http: 409, "Sealing off")
    public static let definitionInvalid = ErrorCode(
        "definition_invalid", .invalidArgument, http: 422, "Definition invalid")
    public static let changeNotAccepted = ErrorCode(
        "change_not_accepted", .failedPrecondition, http: 409, "Change not accepted")
    public static let draftPublished = ErrorCode("draft_published", .failedPrecondition, http: 409, "Draft published")

    // Recovery.
    public static let recoveryInProgress = ErrorCode(
        "recovery_in_progress", .failedPrecondition, http: 409, "Recovery in progress")
    public static let recoveryNotReady = ErrorCode(
        "recovery_not_ready", .failedPrecondition, http: 409, "Recovery not ready")
    public static let recoveryClosed = ErrorCode("recovery_closed", .failedPrecondition, http: 409, "Recovery closed")
    public static let claimantHasAccount = ErrorCode(
        "claimant_has_account", .failedPrecondition, http: 409, "Number has an account")
    public static let reviewClaimed = ErrorCode(
        "review_claimed", .failedPrecondition, http: 409, "Another reviewer has it")
    public static let reviewNotClaimed = ErrorCode(
        "review_not_claimed", .failedPrecondition, http: 409, "Not taken for review")
}
