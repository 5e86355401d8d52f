/** @typedef {import('../calls.js').Call} Call */
/** @typedef {import('../calls.js').CallOptions} CallOptions */
/**
 * @template Value
 * @typedef {import('../calls.js').Answer<Value>} Answer
 */
/**
 * A method for each operation. Whoever extends it sends the calls.
 * Beside the codes that it names, an operation may fail with one of those that most have: `body_too_large`,
 * `deadline_exceeded`, `headers_too_large`, `internal_error`, `malformed_request`, `overloaded`, `rate_limited`,
 * `request_timeout`, `service_unavailable`, `token_expired`, `token_revoked`, `unauthorized`.
 */
export class Operations {
    /**
     * Sends one call.
     * @param {Call} call
     * @returns {Promise<any>}
     */
    send(call: Call): Promise<any>;
    /**
     * Unlinks the email address and ends the sessions that it opened. If none is linked, nothing changes.
     * Codes: `account_frozen`, `last_way_in`, `reauthentication_required`.
     * @param {CallOptions} [options]
     * @returns {Promise<void>}
     */
    unlinkEmail(options?: import("../calls.js").CallOptions | undefined): Promise<void>;
    /**
     * Lets a code to an email address open the account. A `link_email` challenge of the same session proves the
     * address.
     * Codes: `account_frozen`, `idempotency_answer_gone`, `idempotency_key_reused`, `identity_in_use`, `otp_expired`,
     * `otp_invalid`, `otp_locked`, `provider_already_linked`, `reauthentication_required`, `request_in_progress`,
     * `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').LinkEmailRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').EmailLinked>}
     */
    linkEmail({ body, ...options }: {
        body: import('./models.js').LinkEmailRequest;
    } & CallOptions): Promise<import('./models.js').EmailLinked>;
    /**
     * Sends a code to an email address. The reply does not reveal whether the address has an account.
     * Codes: `account_frozen`, `email_unavailable`, `idempotency_answer_gone`, `idempotency_key_reused`,
     * `method_not_available`, `otp_locked`, `reauthentication_required`, `request_in_progress`,
     * `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').SendEmailCodeRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').EmailCodeSent>}
     */
    sendEmailCode({ body, ...options }: {
        body: import('./models.js').SendEmailCodeRequest;
    } & CallOptions): Promise<import('./models.js').EmailCodeSent>;
    /**
     * Exchanges a code that came by email for a session. An address without an account gets one.
     * Codes: `app_unknown`, `entry_unknown`, `forbidden`, `idempotency_answer_gone`, `idempotency_key_reused`,
     * `method_not_available`, `otp_expired`, `otp_invalid`, `otp_locked`, `recovery_in_progress`,
     * `request_in_progress`, `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').VerifyEmailCodeRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').SocialSignedIn>}
     */
    verifyEmailCode({ body, ...options }: {
        body: import('./models.js').VerifyEmailCodeRequest;
    } & CallOptions): Promise<import('./models.js').SocialSignedIn>;
    /**
     * Lists the identities that are linked to an account.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').IdentityList>}
     */
    listIdentities(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').IdentityList>;
    /**
     * Links an Apple or Google identity to the account of a signed-in person. If it is linked to it already, nothing
     * changes.
     * Codes: `account_frozen`, `forbidden`, `idempotency_answer_gone`, `idempotency_key_reused`, `identity_in_use`,
     * `identity_provider_unavailable`, `identity_token_invalid`, `method_not_available`, `provider_already_linked`,
     * `reauthentication_required`, `request_in_progress`, `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').LinkIdentityRequest } & CallOptions} call
     * @returns {Promise<void>}
     */
    linkIdentity({ body, ...options }: {
        body: import('./models.js').LinkIdentityRequest;
    } & CallOptions): Promise<void>;
    /**
     * Unlinks an identity and ends the sessions that it opened. If none is linked, nothing changes.
     * `provider`: Who vouches for the identity.
     * Codes: `account_frozen`, `last_way_in`, `not_found`, `reauthentication_required`.
     * @param {{ provider: import('./models.js').IdentityProvider } & CallOptions} call
     * @returns {Promise<void>}
     */
    unlinkIdentity({ provider, ...options }: {
        provider: import('./models.js').IdentityProvider;
    } & CallOptions): Promise<void>;
    /**
     * Lists the ways to sign in to an app, so that it shows no other.
     * `app`: The publishable key of the app; missing for the default app.
     * Codes: `app_unknown`, `validation_failed`.
     * @param {{ app?: string } & CallOptions} call
     * @returns {Promise<import('./models.js').AuthMethods>}
     */
    getAuthMethods({ app, ...options }?: {
        app?: string;
    } & CallOptions): Promise<import('./models.js').AuthMethods>;
    /**
     * Sends a code to a phone. The reply does not reveal whether the phone has an account.
     * Codes: `account_frozen`, `idempotency_answer_gone`, `idempotency_key_reused`, `invalid_phone`,
     * `link_token_expired`, `otp_locked`, `reauthentication_required`, `request_in_progress`, `sms_unavailable`,
     * `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').SendOTPRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').OTPSent>}
     */
    sendOTP({ body, ...options }: {
        body: import('./models.js').SendOTPRequest;
    } & CallOptions): Promise<import('./models.js').OTPSent>;
    /**
     * Exchanges a code for a session. A phone without an account gets one.
     * Codes: `account_frozen`, `app_unknown`, `entry_unknown`, `forbidden`, `idempotency_answer_gone`,
     * `idempotency_key_reused`, `identity_in_use`, `link_confirmation_required`, `link_token_expired`,
     * `method_not_available`, `otp_expired`, `otp_invalid`, `otp_locked`, `provider_already_linked`,
     * `recovery_in_progress`, `recovery_required`, `request_in_progress`, `unsupported_media_type`,
     * `validation_failed`.
     * @param {{ body: import('./models.js').VerifyOTPRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').Session>}
     */
    verifyOTP({ body, ...options }: {
        body: import('./models.js').VerifyOTPRequest;
    } & CallOptions): Promise<import('./models.js').Session>;
    /**
     * Asks whether a code is on its way. The reply is the same for a phone with and without an account. A challenge is
     * known for a day.
     * `challengeId`: The challenge that the code belongs to.
     * Codes: `not_found`.
     * @param {{ challengeId: string } & CallOptions} call
     * @returns {Promise<import('./models.js').CodeDelivery>}
     */
    getCodeDelivery({ challengeId, ...options }: {
        challengeId: string;
    } & CallOptions): Promise<import('./models.js').CodeDelivery>;
    /**
     * Gives the account the phone that a `change_phone` challenge of the same session proved. The former number stays a
     * recovery alias of the account for 90 days.
     * Codes: `account_frozen`, `idempotency_answer_gone`, `idempotency_key_reused`, `otp_expired`, `otp_invalid`,
     * `otp_locked`, `phone_in_use`, `reauthentication_required`, `request_in_progress`, `unsupported_media_type`,
     * `validation_failed`.
     * @param {{ body: import('./models.js').ChangePhoneRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').PhoneChanged>}
     */
    changePhone({ body, ...options }: {
        body: import('./models.js').ChangePhoneRequest;
    } & CallOptions): Promise<import('./models.js').PhoneChanged>;
    /**
     * Gives an account back the number that it lost within the last 72 hours.
     * Codes: `account_frozen`, `forbidden`, `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`,
     * `otp_expired`, `otp_invalid`, `otp_locked`, `phone_in_use`, `request_in_progress`, `unsupported_media_type`,
     * `validation_failed`.
     * @param {{ body?: import('./models.js').UndoPhoneChangeRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').PhoneChanged>}
     */
    undoPhoneChange({ body, ...options }?: {
        body?: import('./models.js').UndoPhoneChangeRequest;
    } & CallOptions): Promise<import('./models.js').PhoneChanged>;
    /**
     * Signs in with Apple. If the identity is not linked to an account, the reply has a link token, and the person
     * verifies a phone with it.
     * Codes: `app_unknown`, `entry_unknown`, `forbidden`, `idempotency_answer_gone`, `idempotency_key_reused`,
     * `identity_provider_unavailable`, `identity_token_invalid`, `method_not_available`, `request_in_progress`,
     * `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').SignInWithAppleRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').SocialSignedIn>}
     */
    signInWithApple({ body, ...options }: {
        body: import('./models.js').SignInWithAppleRequest;
    } & CallOptions): Promise<import('./models.js').SocialSignedIn>;
    /**
     * Apple reports a change of an identity: its owner withdrew the consent, deleted the Apple account, or has another
     * e-mail address.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `identity_provider_unavailable`,
     * `identity_token_invalid`, `method_not_available`, `request_in_progress`, `unsupported_media_type`,
     * `validation_failed`.
     * @param {{ body: import('./models.js').TakeAppleNotificationRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').AppleNotificationTaken>}
     */
    takeAppleNotification({ body, ...options }: {
        body: import('./models.js').TakeAppleNotificationRequest;
    } & CallOptions): Promise<import('./models.js').AppleNotificationTaken>;
    /**
     * Signs in with Google, as `SignInWithApple` does with Apple.
     * Codes: `app_unknown`, `entry_unknown`, `forbidden`, `idempotency_answer_gone`, `idempotency_key_reused`,
     * `identity_provider_unavailable`, `identity_token_invalid`, `method_not_available`, `request_in_progress`,
     * `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').SignInWithGoogleRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').SocialSignedIn>}
     */
    signInWithGoogle({ body, ...options }: {
        body: import('./models.js').SignInWithGoogleRequest;
    } & CallOptions): Promise<import('./models.js').SocialSignedIn>;
    /**
     * Issues the nonce of a social sign-in. It is valid once, for five minutes.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `identity_provider_unavailable`,
     * `method_not_available`, `request_in_progress`, `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').IssueSocialNonceRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').SocialNonce>}
     */
    issueSocialNonce({ body, ...options }: {
        body: import('./models.js').IssueSocialNonceRequest;
    } & CallOptions): Promise<import('./models.js').SocialNonce>;
    /**
     * The keys that access tokens are signed with.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').SigningKeys>}
     */
    getSigningKeys(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').SigningKeys>;
    /**
     * Ends every session of the account except the caller's.
     * @param {CallOptions} [options]
     * @returns {Promise<void>}
     */
    endOtherSessions(options?: import("../calls.js").CallOptions | undefined): Promise<void>;
    /**
     * Lists the sessions of an account.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').SessionList>}
     */
    listSessions(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').SessionList>;
    /**
     * Ends one session of the account: the caller's own or another.
     * `session`: The session.
     * Codes: `not_found`.
     * @param {{ session: string } & CallOptions} call
     * @returns {Promise<void>}
     */
    endSession({ session, ...options }: {
        session: string;
    } & CallOptions): Promise<void>;
    /**
     * Lists the devices of an account.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').DeviceList>}
     */
    listDevices(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').DeviceList>;
    /**
     * Removes a device and ends its sessions: the caller's own, or any device within five minutes of a sign-in.
     * `device`: The device.
     * Codes: `not_found`, `reauthentication_required`.
     * @param {{ device: string } & CallOptions} call
     * @returns {Promise<void>}
     */
    removeDevice({ device, ...options }: {
        device: string;
    } & CallOptions): Promise<void>;
    /**
     * Changes a device: the caller's own, or any device within five minutes of a sign-in.
     * `device`: The device.
     * Codes: `not_found`, `reauthentication_required`, `unsupported_media_type`, `validation_failed`.
     * @param {{ device: string; body: import('./models.js').PutDeviceRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').KnownDevice>}
     */
    putDevice({ device, body, ...options }: {
        device: string;
        body: import('./models.js').PutDeviceRequest;
    } & CallOptions): Promise<import('./models.js').KnownDevice>;
    /**
     * Everything that is held about the person.
     * Codes: `account_frozen`, `reauthentication_required`.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').AccountExport>}
     */
    exportAccount(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').AccountExport>;
    /**
     * Finds cities while a person types a name, or the cities nearest to a position. Without both it finds the most
     * populous cities.
     * `country`: The country to search, by ISO 3166-1 alpha-2.
     * `latitude`: The latitude of a position in degrees, in place of a name. It is neither stored nor logged.
     * `limit`: The most cities of the reply; 10 by default.
     * `longitude`: The longitude of the position in degrees.
     * `query`: The start of a name, with or without accents. One or two typing errors are tolerated.
     * Codes: `validation_failed`.
     * @param {{ country?: string; latitude?: number; limit?: number; longitude?: number; query?: string } &
     *   CallOptions} call
     * @returns {Promise<import('./models.js').CitiesFound>}
     */
    findCities({ country, latitude, limit, longitude, query, ...options }?: {
        country?: string;
        latitude?: number;
        limit?: number;
        longitude?: number;
        query?: string;
    } & CallOptions): Promise<import('./models.js').CitiesFound>;
    /**
     * Asks for the catalogue of profile fields. A client builds its forms from it.
     * `ifNoneMatch`: The `ETag` of an earlier answer: 304 where it is still the same.
     * @param {{ ifNoneMatch?: string } & CallOptions} call
     * @returns {Promise<Answer<import('./models.js').ProfileFields>>}
     */
    getProfileFields({ ifNoneMatch, ...options }?: {
        ifNoneMatch?: string;
    } & CallOptions): Promise<Answer<import('./models.js').ProfileFields>>;
    /**
     * Deletes the person's account. A repetition gets the same reply.
     * Codes: `account_frozen`, `reauthentication_required`.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').AccountDeletion>}
     */
    deleteAccount(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').AccountDeletion>;
    /**
     * Asks for the person's own profile.
     * @param {CallOptions} [options]
     * @returns {Promise<Answer<import('./models.js').Me>>}
     */
    getMe(options?: import("../calls.js").CallOptions | undefined): Promise<Answer<import('./models.js').Me>>;
    /**
     * Changes fields of the profile, all of them or none. `null` clears a field.
     * `ifMatch`: The entity tag of the profile that the client changed.
     * Codes: `date_of_birth_locked`, `precondition_failed`, `underage`, `unsupported_media_type`, `validation_failed`.
     * @param {{ ifMatch?: string; body: import('./models.js').UpdateMeRequest } & CallOptions} call
     * @returns {Promise<Answer<import('./models.js').Me>>}
     */
    updateMe({ ifMatch, body, ...options }: {
        ifMatch?: string;
        body: import('./models.js').UpdateMeRequest;
    } & CallOptions): Promise<Answer<import('./models.js').Me>>;
    /**
     * Asks how complete the profile is.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').Completion>}
     */
    getCompletion(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').Completion>;
    /**
     * Accepts texts of the plan that the person follows, such as terms of service. A repeated request changes nothing.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `request_in_progress`, `unsupported_media_type`,
     * `validation_failed`.
     * @param {{ body: import('./models.js').AcceptTermsRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').AcceptedTerms>}
     */
    acceptTerms({ body, ...options }: {
        body: import('./models.js').AcceptTermsRequest;
    } & CallOptions): Promise<import('./models.js').AcceptedTerms>;
    /**
     * Skips a field for now.
     * Codes: `field_not_skippable`, `has_value`, `idempotency_answer_gone`, `idempotency_key_reused`,
     * `request_in_progress`, `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').SkipFieldRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').Completion>}
     */
    skipField({ body, ...options }: {
        body: import('./models.js').SkipFieldRequest;
    } & CallOptions): Promise<import('./models.js').Completion>;
    /**
     * Asks for a person's public profile.
     * `user`: The person.
     * Codes: `not_found`.
     * @param {{ user: string } & CallOptions} call
     * @returns {Promise<import('./models.js').PublicPerson>}
     */
    getPerson({ user, ...options }: {
        user: string;
    } & CallOptions): Promise<import('./models.js').PublicPerson>;
    /**
     * A client reports steps of the onboarding that only the client sees. The services record all others themselves.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `request_in_progress`, `unsupported_media_type`,
     * `validation_failed`.
     * @param {{ body: import('./models.js').RecordEventsRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').EventsRecorded>}
     */
    recordEvents({ body, ...options }: {
        body: import('./models.js').RecordEventsRequest;
    } & CallOptions): Promise<import('./models.js').EventsRecorded>;
    /**
     * Asks where the person is in the onboarding and what comes next.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').OnboardingView>}
     */
    viewOnboarding(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').OnboardingView>;
    /**
     * Asks what each capability still needs from the person.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').Requirements>}
     */
    getRequirements(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').Requirements>;
    /**
     * A person who is too young asks to be notified once they reach the minimum age of the plan, or withdraws that.
     * Codes: `already_eligible`, `date_of_birth_missing`, `idempotency_answer_gone`, `idempotency_key_reused`,
     * `request_in_progress`, `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').JoinWaitlistRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').WaitlistPlace>}
     */
    joinWaitlist({ body, ...options }: {
        body: import('./models.js').JoinWaitlistRequest;
    } & CallOptions): Promise<import('./models.js').WaitlistPlace>;
    /**
     * Asks for the person's compatibility questionnaire with the answers so far. It opens a session if there is none.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').QuestionsView>}
     */
    getQuestions(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').QuestionsView>;
    /**
     * Saves answers of the person in one transaction, and completes the session if asked to.
     * Codes: `answer_conflict`, `date_of_birth_locked`, `idempotency_answer_gone`, `idempotency_key_reused`,
     * `mutation_id_reused`, `not_found`, `questionnaire_incomplete`, `request_in_progress`, `session_stopped`,
     * `underage`, `unsupported_media_type`, `validation_failed`, `version_closed`.
     * @param {{ body: import('./models.js').SubmitResponsesRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').ResponsesSubmitted>}
     */
    submitResponses({ body, ...options }: {
        body: import('./models.js').SubmitResponsesRequest;
    } & CallOptions): Promise<import('./models.js').ResponsesSubmitted>;
    /**
     * Asks how well the person matches another one.
     * `userId`: The other person.
     * Codes: `forbidden`, `not_found`.
     * @param {{ userId: string } & CallOptions} call
     * @returns {Promise<import('./models.js').Compatibility>}
     */
    getCompatibility({ userId, ...options }: {
        userId: string;
    } & CallOptions): Promise<import('./models.js').Compatibility>;
    /**
     * Lists the questionnaires, each in its newest published version.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').QuestionnaireList>}
     */
    listQuestionnaires(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').QuestionnaireList>;
    /**
     * Asks for a questionnaire in its newest published version.
     * `questionnaire`: The key of the questionnaire.
     * `ifNoneMatch`: The `ETag` of an earlier answer: 304 where it is still the same.
     * Codes: `not_found`.
     * @param {{ questionnaire: string; ifNoneMatch?: string } & CallOptions} call
     * @returns {Promise<Answer<import('./models.js').PublishedQuestionnaire>>}
     */
    getQuestionnaire({ questionnaire, ifNoneMatch, ...options }: {
        questionnaire: string;
        ifNoneMatch?: string;
    } & CallOptions): Promise<Answer<import('./models.js').PublishedQuestionnaire>>;
    /**
     * Lists the person's sessions of a questionnaire.
     * `questionnaire`: The key of the questionnaire.
     * Codes: `not_found`.
     * @param {{ questionnaire: string } & CallOptions} call
     * @returns {Promise<import('./models.js').QuestionnaireSessionList>}
     */
    listQuestionnaireSessions({ questionnaire, ...options }: {
        questionnaire: string;
    } & CallOptions): Promise<import('./models.js').QuestionnaireSessionList>;
    /**
     * Opens a session of the newest published version. If a session is open, the reply has that one.
     * `questionnaire`: The key of the questionnaire.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `request_in_progress`,
     * `too_many_sessions`, `unsupported_media_type`, `validation_failed`.
     * @param {{ questionnaire: string; body?: import('./models.js').OpenSessionRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').SessionView>}
     */
    openSession({ questionnaire, body, ...options }: {
        questionnaire: string;
        body?: import('./models.js').OpenSessionRequest;
    } & CallOptions): Promise<import('./models.js').SessionView>;
    /**
     * Asks for one session with all its answers.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * Codes: `not_found`.
     * @param {{ questionnaire: string; session: string } & CallOptions} call
     * @returns {Promise<import('./models.js').SessionView>}
     */
    getSession({ questionnaire, session, ...options }: {
        questionnaire: string;
        session: string;
    } & CallOptions): Promise<import('./models.js').SessionView>;
    /**
     * Removes one answer. Its history is kept, and its revisions continue.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * `question`: The key of the question.
     * `subject`: The subject, in a section that repeats.
     * Codes: `answer_conflict`, `date_of_birth_locked`, `mutation_id_reused`, `not_found`, `session_stopped`,
     * `unsupported_media_type`, `validation_failed`, `version_closed`.
     * @param {{ questionnaire: string; session: string; question: string; subject?: string; body?:
     *   import('./models.js').DeleteAnswerRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').AnswerSaved>}
     */
    deleteAnswer({ questionnaire, session, question, subject, body, ...options }: {
        questionnaire: string;
        session: string;
        question: string;
        subject?: string;
        body?: import('./models.js').DeleteAnswerRequest;
    } & CallOptions): Promise<import('./models.js').AnswerSaved>;
    /**
     * Saves one answer. The reply is sent after the commit.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * `question`: The key of the question.
     * `subject`: The subject, in a section that repeats.
     * Codes: `answer_conflict`, `date_of_birth_locked`, `mutation_id_reused`, `not_found`, `session_stopped`,
     * `underage`, `unsupported_media_type`, `validation_failed`, `version_closed`.
     * @param {{ questionnaire: string; session: string; question: string; subject?: string; body:
     *   import('./models.js').PutAnswerRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').AnswerSaved>}
     */
    putAnswer({ questionnaire, session, question, subject, body, ...options }: {
        questionnaire: string;
        session: string;
        question: string;
        subject?: string;
        body: import('./models.js').PutAnswerRequest;
    } & CallOptions): Promise<import('./models.js').AnswerSaved>;
    /**
     * Saves up to 100 answers in order, such as the queue of an offline client. Each answer has its own result.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `request_in_progress`,
     * `session_stopped`, `unsupported_media_type`, `validation_failed`, `version_closed`.
     * @param {{ questionnaire: string; session: string; body: import('./models.js').PutAnswersRequest } & CallOptions}
     *   call
     * @returns {Promise<import('./models.js').AnswersSaved>}
     */
    putAnswers({ questionnaire, session, body, ...options }: {
        questionnaire: string;
        session: string;
        body: import('./models.js').PutAnswersRequest;
    } & CallOptions): Promise<import('./models.js').AnswersSaved>;
    /**
     * Completes a session that has every required answer, and takes its snapshot. A repetition gets the same reply.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `questionnaire_incomplete`,
     * `request_in_progress`, `session_stopped`, `version_closed`.
     * @param {{ questionnaire: string; session: string } & CallOptions} call
     * @returns {Promise<import('./models.js').SessionView>}
     */
    completeSession({ questionnaire, session, ...options }: {
        questionnaire: string;
        session: string;
    } & CallOptions): Promise<import('./models.js').SessionView>;
    /**
     * Moves an open session to the newest version.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * `dryRun`: `true`: the reply says what would happen to the answers, and nothing is written. It is a text because
     * it is in the query.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `request_in_progress`,
     * `session_not_open`, `validation_failed`.
     * @param {{ questionnaire: string; session: string; dryRun?: import('./models.js').MigrateSessionDryRun } &
     *   CallOptions} call
     * @returns {Promise<import('./models.js').SessionMigrated>}
     */
    migrateSession({ questionnaire, session, dryRun, ...options }: {
        questionnaire: string;
        session: string;
        dryRun?: import('./models.js').MigrateSessionDryRun;
    } & CallOptions): Promise<import('./models.js').SessionMigrated>;
    /**
     * Undoes the last migration of a session, as long as nothing was written since.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `migration_final`, `not_found`,
     * `request_in_progress`.
     * @param {{ questionnaire: string; session: string } & CallOptions} call
     * @returns {Promise<import('./models.js').SessionView>}
     */
    undoMigration({ questionnaire, session, ...options }: {
        questionnaire: string;
        session: string;
    } & CallOptions): Promise<import('./models.js').SessionView>;
    /**
     * Opens a completed session again. Its snapshots are kept. When it is completed again, its status is `amended`.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `request_in_progress`,
     * `session_already_open`, `session_stopped`.
     * @param {{ questionnaire: string; session: string } & CallOptions} call
     * @returns {Promise<import('./models.js').SessionView>}
     */
    reopenSession({ questionnaire, session, ...options }: {
        questionnaire: string;
        session: string;
    } & CallOptions): Promise<import('./models.js').SessionView>;
    /**
     * Ends an open session for good without completing it. A repetition gets the same reply.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `request_in_progress`,
     * `session_not_open`.
     * @param {{ questionnaire: string; session: string } & CallOptions} call
     * @returns {Promise<import('./models.js').SessionView>}
     */
    stopSession({ questionnaire, session, ...options }: {
        questionnaire: string;
        session: string;
    } & CallOptions): Promise<import('./models.js').SessionView>;
    /**
     * Removes a subject. The answers about it are kept and no longer count.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * `subject`: The subject.
     * Codes: `not_found`, `session_stopped`, `version_closed`.
     * @param {{ questionnaire: string; session: string; subject: string } & CallOptions} call
     * @returns {Promise<import('./models.js').SubjectsChanged>}
     */
    removeSubject({ questionnaire, session, subject, ...options }: {
        questionnaire: string;
        session: string;
        subject: string;
    } & CallOptions): Promise<import('./models.js').SubjectsChanged>;
    /**
     * Adds a subject to a section that repeats, or renames it. A subject that was removed returns with its answers. A
     * screen with `adds` asks for a new subject: make a UUID for it, and send what the person wrote on the screen as
     * `label`.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * `subject`: The subject's ID, chosen by the client.
     * Codes: `not_found`, `session_stopped`, `unsupported_media_type`, `validation_failed`, `version_closed`.
     * @param {{ questionnaire: string; session: string; subject: string; body?: import('./models.js').PutSubjectRequest
     *   } & CallOptions} call
     * @returns {Promise<import('./models.js').SubjectsChanged>}
     */
    putSubject({ questionnaire, session, subject, body, ...options }: {
        questionnaire: string;
        session: string;
        subject: string;
        body?: import('./models.js').PutSubjectRequest;
    } & CallOptions): Promise<import('./models.js').SubjectsChanged>;
    /**
     * Asks for a session as the screens that a client draws, in one language.
     * `questionnaire`: The key of the questionnaire.
     * `session`: The session.
     * `ifNoneMatch`: The `ETag` of an earlier answer: 304 where it is still the same.
     * Codes: `not_found`.
     * @param {{ questionnaire: string; session: string; ifNoneMatch?: string } & CallOptions} call
     * @returns {Promise<Answer<import('./models.js').SessionScreens>>}
     */
    getSessionScreens({ questionnaire, session, ifNoneMatch, ...options }: {
        questionnaire: string;
        session: string;
        ifNoneMatch?: string;
    } & CallOptions): Promise<Answer<import('./models.js').SessionScreens>>;
    /**
     * Asks for one version of a questionnaire, retired or not.
     * `questionnaire`: The key of the questionnaire.
     * `version`: The number of the version, from 1.
     * `ifNoneMatch`: The `ETag` of an earlier answer: 304 where it is still the same.
     * Codes: `not_found`.
     * @param {{ questionnaire: string; version: string; ifNoneMatch?: string } & CallOptions} call
     * @returns {Promise<Answer<import('./models.js').PublishedQuestionnaire>>}
     */
    getQuestionnaireVersion({ questionnaire, version, ifNoneMatch, ...options }: {
        questionnaire: string;
        version: string;
        ifNoneMatch?: string;
    } & CallOptions): Promise<Answer<import('./models.js').PublishedQuestionnaire>>;
    /**
     * A claimant asks for an account and proves the phone or the email address that they have now.
     * Codes: `claimant_has_account`, `idempotency_answer_gone`, `idempotency_key_reused`,
     * `identity_provider_unavailable`, `identity_token_invalid`, `invalid_phone`, `method_not_available`,
     * `otp_expired`, `otp_invalid`, `otp_locked`, `recovery_in_progress`, `request_in_progress`,
     * `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').RequestRecoveryRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').RecoveryRequested>}
     */
    requestRecovery({ body, ...options }: {
        body: import('./models.js').RequestRecoveryRequest;
    } & CallOptions): Promise<import('./models.js').RecoveryRequested>;
    /**
     * A claimant asks for their own case.
     * `recovery`: The recovery case.
     * `token`: Of the recovery case.
     * Codes: `not_found`.
     * @param {{ recovery: string; token: string } & CallOptions} call
     * @returns {Promise<import('./models.js').RecoveryCaseView>}
     */
    getRecoveryCase({ recovery, token, ...options }: {
        recovery: string;
        token: string;
    } & CallOptions): Promise<import('./models.js').RecoveryCaseView>;
    /**
     * The claimant withdraws the claim. A repetition gets the same reply.
     * `recovery`: The recovery case.
     * `token`: Of the recovery case.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `recovery_closed`,
     * `request_in_progress`.
     * @param {{ recovery: string; token: string } & CallOptions} call
     * @returns {Promise<import('./models.js').RecoveryCancelled>}
     */
    cancelRecovery({ recovery, token, ...options }: {
        recovery: string;
        token: string;
    } & CallOptions): Promise<import('./models.js').RecoveryCancelled>;
    /**
     * The claimant takes over the account after the approval.
     * `recovery`: The recovery case.
     * `token`: Of the recovery case.
     * Codes: `claimant_has_account`, `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `otp_expired`,
     * `otp_invalid`, `otp_locked`, `recovery_closed`, `recovery_not_ready`, `request_in_progress`,
     * `unsupported_media_type`, `validation_failed`.
     * @param {{ recovery: string; token: string; body: import('./models.js').CompleteRecoveryRequest } & CallOptions}
     *   call
     * @returns {Promise<import('./models.js').Session>}
     */
    completeRecovery({ recovery, token, body, ...options }: {
        recovery: string;
        token: string;
        body: import('./models.js').CompleteRecoveryRequest;
    } & CallOptions): Promise<import('./models.js').Session>;
    /**
     * The owner stops a recovery, either with a session of the account or with the token from the notification.
     * `recovery`: The recovery case.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `recovery_closed`,
     * `request_in_progress`, `unsupported_media_type`, `validation_failed`.
     * @param {{ recovery: string; body?: import('./models.js').DisputeRecoveryRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').RecoveryDisputed>}
     */
    disputeRecovery({ recovery, body, ...options }: {
        recovery: string;
        body?: import('./models.js').DisputeRecoveryRequest;
    } & CallOptions): Promise<import('./models.js').RecoveryDisputed>;
    /**
     * After the hold, the claimant gives evidence of who they are: the ID of a verification or a reference. Exactly one
     * of the two is given.
     * `recovery`: The recovery case.
     * `token`: Of the recovery case.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `recovery_closed`, `recovery_not_ready`,
     * `request_in_progress`, `unsupported_media_type`, `validation_failed`.
     * @param {{ recovery: string; token: string; body?: import('./models.js').SubmitEvidenceRequest } & CallOptions}
     *   call
     * @returns {Promise<import('./models.js').EvidenceTaken>}
     */
    submitEvidence({ recovery, token, body, ...options }: {
        recovery: string;
        token: string;
        body?: import('./models.js').SubmitEvidenceRequest;
    } & CallOptions): Promise<import('./models.js').EvidenceTaken>;
    /**
     * Promises a claimant the upload of a picture that shows who they are.
     * `recovery`: The recovery case.
     * `token`: Of the recovery case.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `otp_expired`, `otp_invalid`,
     * `otp_locked`, `reauthentication_required`, `recovery_closed`, `recovery_not_ready`, `request_in_progress`,
     * `too_many_pictures`, `unsupported_media_type`, `validation_failed`.
     * @param {{ recovery: string; token: string; body: import('./models.js').AddClaimantPictureRequest } & CallOptions}
     *   call
     * @returns {Promise<import('./models.js').UploadCreated>}
     */
    addClaimantPicture({ recovery, token, body, ...options }: {
        recovery: string;
        token: string;
        body: import('./models.js').AddClaimantPictureRequest;
    } & CallOptions): Promise<import('./models.js').UploadCreated>;
    /**
     * An owner lists the cases against their account, including disputed ones. They are shown as they are.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').OwnRecoveryCases>}
     */
    listOwnCases(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').OwnRecoveryCases>;
    /**
     * The owner gives evidence that the account is theirs, while a case is contested: the ID of a verification or a
     * reference.
     * `recoveryCase`: The recovery case.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `recovery_closed`, `recovery_not_ready`,
     * `request_in_progress`, `unsupported_media_type`, `validation_failed`.
     * @param {{ recoveryCase: string; body?: import('./models.js').SubmitOwnerEvidenceRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').EvidenceTaken>}
     */
    submitOwnerEvidence({ recoveryCase, body, ...options }: {
        recoveryCase: string;
        body?: import('./models.js').SubmitOwnerEvidenceRequest;
    } & CallOptions): Promise<import('./models.js').EvidenceTaken>;
    /**
     * Promises an owner the upload of a picture, while a case is contested.
     * `recoveryCase`: The recovery case.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `recovery_closed`, `recovery_not_ready`,
     * `request_in_progress`, `too_many_pictures`, `unsupported_media_type`, `validation_failed`.
     * @param {{ recoveryCase: string; body: import('./models.js').AddOwnerPictureRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').UploadCreated>}
     */
    addOwnerPicture({ recoveryCase, body, ...options }: {
        recoveryCase: string;
        body: import('./models.js').AddOwnerPictureRequest;
    } & CallOptions): Promise<import('./models.js').UploadCreated>;
    /**
     * Switches the recovery lock on or off. While it is on, only a claimant with a proof may ask for the account.
     * Codes: `reauthentication_required`, `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').SetRecoveryLockRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').RecoveryLock>}
     */
    setRecoveryLock({ body, ...options }: {
        body: import('./models.js').SetRecoveryLockRequest;
    } & CallOptions): Promise<import('./models.js').RecoveryLock>;
    /**
     * Saves what the person chose, or defers the rest.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `request_in_progress`,
     * `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').SaveVisualChoicesRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').VisualChoicesSaved>}
     */
    saveVisualChoices({ body, ...options }: {
        body: import('./models.js').SaveVisualChoicesRequest;
    } & CallOptions): Promise<import('./models.js').VisualChoicesSaved>;
    /**
     * What is known of the person's visual preferences.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').VisualProfile>}
     */
    getVisualProfile(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').VisualProfile>;
    /**
     * The next comparisons of the person's session. The first call opens the session.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').VisualSession>}
     */
    getVisualSession(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').VisualSession>;
    /**
     * Takes the consent to a verification by a photo back. The photo is destroyed at once. A verdict stays. Whoever is
     * not verified yet has declined.
     * @param {CallOptions} [options]
     * @returns {Promise<void>}
     */
    withdrawVerificationConsent(options?: import("../calls.js").CallOptions | undefined): Promise<void>;
    /**
     * Takes the consent to a verification by a document back, as `WithdrawVerificationConsent` does for a photo.
     * Neither changes the other.
     * @param {CallOptions} [options]
     * @returns {Promise<void>}
     */
    withdrawDocumentConsent(options?: import("../calls.js").CallOptions | undefined): Promise<void>;
    /**
     * Begins a verification of the person by a document, as `BeginVerification` does by a photo. Neither changes the
     * other.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `request_in_progress`, `unsupported_media_type`,
     * `validation_failed`.
     * @param {{ body?: import('./models.js').BeginDocumentVerificationRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').VerificationBegun>}
     */
    beginDocumentVerification({ body, ...options }?: {
        body?: import('./models.js').BeginDocumentVerificationRequest;
    } & CallOptions): Promise<import('./models.js').VerificationBegun>;
    /**
     * Begins a verification of the person by a photo, or says why none is needed.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `request_in_progress`, `unsupported_media_type`,
     * `validation_failed`.
     * @param {{ body?: import('./models.js').BeginVerificationRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').VerificationBegun>}
     */
    beginVerification({ body, ...options }?: {
        body?: import('./models.js').BeginVerificationRequest;
    } & CallOptions): Promise<import('./models.js').VerificationBegun>;
    /**
     * Asks how far a verification is.
     * `session`: The session.
     * Codes: `not_found`.
     * @param {{ session: string } & CallOptions} call
     * @returns {Promise<import('./models.js').VerificationView>}
     */
    getVerification({ session, ...options }: {
        session: string;
    } & CallOptions): Promise<import('./models.js').VerificationView>;
    /**
     * Promises an upload of the session's photo, or of one side of its document.
     * `session`: The session.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`, `request_in_progress`,
     * `unsupported_media_type`, `validation_failed`, `verification_closed`.
     * @param {{ session: string; body: import('./models.js').AddCaptureRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').CapturePromised>}
     */
    addCapture({ session, body, ...options }: {
        session: string;
        body: import('./models.js').AddCaptureRequest;
    } & CallOptions): Promise<import('./models.js').CapturePromised>;
    /**
     * Says that the pictures are uploaded, and asks for a verdict. Reviewers alone decide on a document.
     * `session`: The session.
     * `vestibuleTestVerdict`: The verdict of the judge of development systems. No other judge reads it.
     * Codes: `capture_missing`, `idempotency_answer_gone`, `idempotency_key_reused`, `not_found`,
     * `request_in_progress`, `verification_closed`.
     * @param {{ session: string; vestibuleTestVerdict?: string } & CallOptions} call
     * @returns {Promise<import('./models.js').VerificationView>}
     */
    completeVerification({ session, vestibuleTestVerdict, ...options }: {
        session: string;
        vestibuleTestVerdict?: string;
    } & CallOptions): Promise<import('./models.js').VerificationView>;
    /**
     * Promises an upload: the answer says where the app sends the picture, past the gateway.
     * Codes: `idempotency_answer_gone`, `idempotency_key_reused`, `request_in_progress`, `unsupported_media_type`,
     * `validation_failed`, `verification_closed`.
     * @param {{ body: import('./models.js').CreateUploadRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').UploadCreated>}
     */
    createUpload({ body, ...options }: {
        body: import('./models.js').CreateUploadRequest;
    } & CallOptions): Promise<import('./models.js').UploadCreated>;
    /**
     * The person's own photos, in their order.
     * @param {CallOptions} [options]
     * @returns {Promise<import('./models.js').PhotoList>}
     */
    getPhotos(options?: import("../calls.js").CallOptions | undefined): Promise<import('./models.js').PhotoList>;
    /**
     * Sets the person's photos and their order. A photo that is left out is removed.
     * Codes: `not_found`, `unsupported_media_type`, `validation_failed`.
     * @param {{ body: import('./models.js').PutPhotosRequest } & CallOptions} call
     * @returns {Promise<import('./models.js').PhotoList>}
     */
    putPhotos({ body, ...options }: {
        body: import('./models.js').PutPhotosRequest;
    } & CallOptions): Promise<import('./models.js').PhotoList>;
    /**
     * Removes one of the person's photos.
     * `mediaId`: The photo.
     * Codes: `not_found`.
     * @param {{ mediaId: string } & CallOptions} call
     * @returns {Promise<import('./models.js').PhotoList>}
     */
    deletePhoto({ mediaId, ...options }: {
        mediaId: string;
    } & CallOptions): Promise<import('./models.js').PhotoList>;
}
export type Call = import('../calls.js').Call;
export type CallOptions = import('../calls.js').CallOptions;
export type Answer<Value> = import('../calls.js').Answer<Value>;
