// Every `code` of the public API and of the bus, with its HTTP status.

extension ErrorCode {
    // Errors of the bus itself.
    /// The body does not have the message's schema.
    public static let invalidMessage = ErrorCode("invalid_message", .invalidArgument, http: 422, "Invalid message")
    /// The receiver does not know the message or its version.
    public static let unknownMessage = ErrorCode("unknown_message", .unimplemented, http: 501, "Unknown message")
    /// The caller's program may not send this message.
    public static let callerNotAllowed = ErrorCode("caller_not_allowed", .permissionDenied, http: 403, "Not allowed")
    /// No replica of the service answers.
    public static let serviceUnavailable = ErrorCode(
        "service_unavailable", .unavailable, http: 503, "Service unavailable")
    /// The service refused the request because it has too much to do.
    public static let overloaded = ErrorCode("overloaded", .overloaded, http: 503, "Overloaded")
    /// The caller's time ran out before the reply.
    public static let deadlineExceeded = ErrorCode(
        "deadline_exceeded", .deadlineExceeded, http: 504, "Deadline exceeded")
    /// The service failed in a way that the caller cannot act on.
    public static let internalError = ErrorCode("internal_error", .internal, http: 500, "Internal error")

    // Errors of every service.
    /// Members of the request are wrong. `errors` names them.
    public static let validationFailed = ErrorCode(
        "validation_failed", .invalidArgument, http: 422, "Validation failed")
    /// The token is missing or invalid.
    public static let unauthorized = ErrorCode("unauthorized", .unauthenticated, http: 401, "Unauthorized")
    /// The caller may not do this.
    public static let forbidden = ErrorCode("forbidden", .permissionDenied, http: 403, "Forbidden")
    /// The resource that the request names does not exist.
    public static let notFound = ErrorCode("not_found", .notFound, http: 404, "Not found")
    /// The idempotency key was used for another request.
    public static let idempotencyKeyReused = ErrorCode(
        "idempotency_key_reused", .invalidArgument, http: 422, "Idempotency key reused")
    /// The first request with the idempotency key is still running.
    public static let requestInProgress = ErrorCode("request_in_progress", .aborted, http: 409, "Request in progress")
    /// The first reply carried a token and is no longer kept.
    public static let idempotencyAnswerGone = ErrorCode(
        "idempotency_answer_gone", .failedPrecondition, http: 409, "Answer no longer kept")
    /// The receiver's database lost events, which must come before this one.
    public static let eventsAwaited = ErrorCode("events_awaited", .failedPrecondition, http: 409, "Events awaited")
    /// The resource has another entity tag than `If-Match`.
    public static let preconditionFailed = ErrorCode(
        "precondition_failed", .failedPrecondition, http: 412, "Precondition failed")
    /// The caller sent too many requests.
    public static let rateLimited = ErrorCode("rate_limited", .resourceExhausted, http: 429, "Too many requests")
    /// The path is not built yet.
    public static let notImplemented = ErrorCode("not_implemented", .unimplemented, http: 501, "Not implemented yet")
    /// The act needs a new sign-in.
    public static let reauthenticationRequired = ErrorCode(
        "reauthentication_required", .permissionDenied, http: 403, "Sign in again")

    // Errors of the gateway.
    /// The request is not valid HTTP or JSON.
    public static let malformedRequest = ErrorCode(
        "malformed_request", .invalidArgument, http: 400, "Malformed request")
    /// The path does not have this method.
    public static let methodNotAllowed = ErrorCode(
        "method_not_allowed", .unimplemented, http: 405, "Method not allowed")
    /// The body is larger than allowed.
    public static let bodyTooLarge = ErrorCode("body_too_large", .invalidArgument, http: 413, "Body too large")
    /// The headers are larger than allowed.
    public static let headersTooLarge = ErrorCode("headers_too_large", .invalidArgument, http: 431, "Headers too large")
    /// The operation does not accept the body's media type.
    public static let unsupportedMediaType = ErrorCode(
        "unsupported_media_type", .invalidArgument, http: 415, "Unsupported media type")
    /// The access token has expired.
    public static let tokenExpired = ErrorCode("token_expired", .unauthenticated, http: 401, "Token expired")
    /// The session of the access token has ended.
    public static let tokenRevoked = ErrorCode("token_revoked", .unauthenticated, http: 401, "Token revoked")

    // Errors of auth.
    /// The phone number is invalid or not served.
    public static let invalidPhone = ErrorCode("invalid_phone", .invalidArgument, http: 422, "Invalid phone number")
    /// No SMS can be sent at the moment.
    public static let smsUnavailable = ErrorCode("sms_unavailable", .unavailable, http: 503, "SMS unavailable")
    /// No email can be sent at the moment.
    public static let emailUnavailable = ErrorCode(
        "email_unavailable", .unavailable, http: 503, "Email unavailable")
    /// The code is wrong.
    public static let otpInvalid = ErrorCode("otp_invalid", .invalidArgument, http: 422, "Code incorrect")
    /// The code has expired, was used or was replaced.
    public static let otpExpired = ErrorCode("otp_expired", .failedPrecondition, http: 410, "Code expired")
    /// There were too many wrong codes.
    public static let otpLocked = ErrorCode("otp_locked", .resourceExhausted, http: 429, "Too many attempts")
    /// The refresh token is invalid.
    public static let refreshTokenInvalid = ErrorCode(
        "refresh_token_invalid", .unauthenticated, http: 401, "Refresh token invalid")
    /// The refresh token was used before. The session has ended.
    public static let refreshTokenReused = ErrorCode(
        "refresh_token_reused", .unauthenticated, http: 401, "Refresh token reused")
    /// The identity token is invalid.
    public static let identityTokenInvalid = ErrorCode(
        "identity_token_invalid", .unauthenticated, http: 401, "Identity token invalid")
    /// Apple or Google does not answer.
    public static let identityProviderUnavailable = ErrorCode(
        "identity_provider_unavailable", .unavailable, http: 503, "Identity provider unavailable")
    /// The operator does not offer this way to sign in.
    public static let methodNotAvailable = ErrorCode(
        "method_not_available", .failedPrecondition, http: 422, "Method not available")
    /// The identity is linked to another account.
    public static let identityInUse = ErrorCode("identity_in_use", .failedPrecondition, http: 409, "Identity in use")
    /// The account has another identity of the same provider.
    public static let providerAlreadyLinked = ErrorCode(
        "provider_already_linked", .failedPrecondition, http: 409, "Another identity is linked")
    /// The person must confirm that the identity is linked to an existing account.
    public static let linkConfirmationRequired = ErrorCode(
        "link_confirmation_required", .failedPrecondition, http: 409, "Link not confirmed")
    /// The link token of a social sign-in has expired.
    public static let linkTokenExpired = ErrorCode(
        "link_token_expired", .failedPrecondition, http: 410, "Link token expired")
    /// Without this identity, nobody could sign in to the account.
    public static let lastWayIn = ErrorCode("last_way_in", .failedPrecondition, http: 409, "Last way in")
    /// The account is dormant and needs a recovery.
    public static let recoveryRequired = ErrorCode(
        "recovery_required", .permissionDenied, http: 403, "Recovery required")
    /// Another account has the phone.
    public static let phoneInUse = ErrorCode("phone_in_use", .failedPrecondition, http: 409, "Phone in use")
    /// A recovery has frozen the account.
    public static let accountFrozen = ErrorCode("account_frozen", .failedPrecondition, http: 409, "Account frozen")

    // Errors of profile.
    /// The field may not be skipped.
    public static let fieldNotSkippable = ErrorCode(
        "field_not_skippable", .invalidArgument, http: 422, "Field not skippable")
    /// The person may no longer change the date of birth.
    public static let dateOfBirthLocked = ErrorCode(
        "date_of_birth_locked", .failedPrecondition, http: 409, "Date of birth locked")
    /// The request needs a date of birth.
    public static let dateOfBirthMissing = ErrorCode(
        "date_of_birth_missing", .failedPrecondition, http: 409, "Date of birth missing")
    /// The person has reached the minimum age.
    public static let alreadyEligible = ErrorCode(
        "already_eligible", .failedPrecondition, http: 409, "Already eligible")
    /// The person is too young.
    public static let underage = ErrorCode("underage", .failedPrecondition, http: 422, "Under age")
    /// No plan is for this app.
    public static let appUnknown = ErrorCode("app_unknown", .invalidArgument, http: 422, "Unknown app")
    /// The app has no such entry.
    public static let entryUnknown = ErrorCode("entry_unknown", .invalidArgument, http: 422, "Unknown entry")
    /// The field has an answer, which skipping would delete.
    public static let hasValue = ErrorCode("has_value", .failedPrecondition, http: 409, "Field has a value")

    // Errors of questionnaire.
    /// Required answers are missing.
    public static let questionnaireIncomplete = ErrorCode(
        "questionnaire_incomplete", .failedPrecondition, http: 409, "Questionnaire incomplete")
    /// The answer changed since the client saw it.
    public static let answerConflict = ErrorCode("answer_conflict", .aborted, http: 409, "Answer conflict")
    /// The mutation ID was used for another write.
    public static let mutationIDReused = ErrorCode(
        "mutation_id_reused", .invalidArgument, http: 422, "Mutation id reused")
    /// The person has an open session of the questionnaire.
    public static let sessionAlreadyOpen = ErrorCode(
        "session_already_open", .failedPrecondition, http: 409, "Session already open")
    /// The act needs an open session.
    public static let sessionNotOpen = ErrorCode(
        "session_not_open", .failedPrecondition, http: 409, "Session not open")
    /// The session was stopped.
    public static let sessionStopped = ErrorCode("session_stopped", .failedPrecondition, http: 409, "Session stopped")
    /// The person has too many sessions of the questionnaire.
    public static let tooManySessions = ErrorCode(
        "too_many_sessions", .failedPrecondition, http: 409, "Too many sessions")
    /// The session's version no longer accepts answers.
    public static let versionClosed = ErrorCode("version_closed", .failedPrecondition, http: 409, "Version closed")
    /// The session has no migration that can be undone.
    public static let migrationFinal = ErrorCode("migration_final", .failedPrecondition, http: 409, "Migration final")
    /// The service has no key to encrypt dates.
    public static let sealingOff = ErrorCode("sealing_off", .failedPrecondition, http: 409, "Sealing off")
    /// The definition, the plan or the library of fields has errors.
    public static let definitionInvalid = ErrorCode(
        "definition_invalid", .invalidArgument, http: 422, "Document invalid")
    /// The editor did not accept the class of the change.
    public static let changeNotAccepted = ErrorCode(
        "change_not_accepted", .failedPrecondition, http: 409, "Change not accepted")
    /// The draft was already published.
    public static let draftPublished = ErrorCode("draft_published", .failedPrecondition, http: 409, "Draft published")

    // Errors of recovery.
    /// The claimant's number already has an open case.
    public static let recoveryInProgress = ErrorCode(
        "recovery_in_progress", .failedPrecondition, http: 409, "Recovery in progress")
    /// The case has not reached this step.
    public static let recoveryNotReady = ErrorCode(
        "recovery_not_ready", .failedPrecondition, http: 409, "Recovery not ready")
    /// The case is over.
    public static let recoveryClosed = ErrorCode("recovery_closed", .failedPrecondition, http: 409, "Recovery closed")
    /// A side of a recovery case sent as many pictures as it may.
    public static let tooManyPictures = ErrorCode(
        "too_many_pictures", .failedPrecondition, http: 409, "Too many pictures")
    /// The claimant's number has an account.
    public static let claimantHasAccount = ErrorCode(
        "claimant_has_account", .failedPrecondition, http: 409, "Number has an account")
    /// Another reviewer has the case.
    public static let reviewClaimed = ErrorCode(
        "review_claimed", .failedPrecondition, http: 409, "Another reviewer has it")
    /// The reviewer does not have the case.
    public static let reviewNotClaimed = ErrorCode(
        "review_not_claimed", .failedPrecondition, http: 409, "Not taken for review")

    // Errors of verification.
    /// The verification session is over, or past this step.
    public static let verificationClosed = ErrorCode(
        "verification_closed", .failedPrecondition, http: 409, "Verification closed")
    /// No photo was uploaded for the verification session.
    public static let captureMissing = ErrorCode("capture_missing", .failedPrecondition, http: 409, "Photo missing")
    /// The time for the upload is over.
    public static let uploadExpired = ErrorCode("upload_expired", .failedPrecondition, http: 410, "Upload expired")
    /// The address of the upload was used.
    public static let uploadUsed = ErrorCode("upload_used", .failedPrecondition, http: 409, "Upload used")
    /// The bytes are no picture of the announced type.
    public static let imageUnreadable = ErrorCode(
        "image_unreadable", .invalidArgument, http: 422, "Picture unreadable")
}
