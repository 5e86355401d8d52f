import BusProtocol
import Database
import EventLoop
import ServiceRuntime

@main enum AuthMain {
    static func main() async { await ServiceProcess.main(AuthServiceDefinition.definition) }
}

/// Assembles the auth service from its configuration.
enum AuthServiceDefinition {
    static let definition = ServiceDefinition(
        name: .auth, variables: variables, migrations: AuthMigrations.all,
        // When an account is deleted, auth publishes an event to all of them.
        peers: ServiceName.services.filter { $0 != .auth },
        assemble: assemble)

    @Loop private static func assemble(_ container: ServiceContainer) throws {
        let configuration = container.configuration
        let (database, inbox, outbox, audit) = (container.database, container.inbox, container.outbox, container.audit)
        let providers = try SMSProviders.named(configuration)
        let pushProvider = try PushProviders.named(configuration)
        let secrets = Secrets(container.keys)
        let limits = try limits(configuration)
        let phones = try PhonePolicy(
            countries: configuration.list("AUTH_SMS_COUNTRIES"), profile: configuration.profile)
        let appName = try configuration.text("APP_NAME")
        let keys = SigningKeyRotator(
            database: database, sealer: secrets.keySealer, audit: audit,
            period: try configuration.text("AUTH_SIGNING_KEY_ROTATION") == "off"
                ? nil : configuration.duration("AUTH_SIGNING_KEY_ROTATION"))
        keys.onKey = { [log = container.log] kid, signsFrom in
            log.info("signing_key", ["kid": .string(kid), "signsFrom": .string(signsFrom.description)])
        }
        // A replica that has not read the keys yet could not sign anybody in.
        container.isPrepared = { keys.areLoaded }
        // Without that key, a sign-in would not find the account and would create a second one.
        container.misfit = {
            try await PhoneLookupStore.missingKey(secrets.lookupKeys, in: database).map {
                "some phones are found by the look-up key \($0) alone. Bring its line back, and run "
                    + "`vestibule account rehash-phones` before it goes."
            }
        }
        let bearer = BearerChecker(keys: keys)
        let checker = ChallengeChecker(audit: audit, secrets: secrets, limits: limits)
        let tokens = PushTokens(secrets: secrets)
        let emails = MessageSender(
            .email, database: database, log: container.log, providers: try EmailProviders.named(configuration))
        let notifier = PersonNotifier(
            outbox: outbox, secrets: secrets, tokens: tokens, appName: appName, sendsEmails: !emails.isOff)
        let roles = RolePolicy(isLax: configuration.profile == .development)
        let opener = SessionOpener(
            outbox: outbox, audit: audit, bus: container.bus, secrets: secrets, keys: keys, roles: roles,
            tokens: tokens,
            notifier: notifier)
        let dormantAfter =
            try configuration.text("AUTH_DORMANT_AFTER") == "off" ? nil : configuration.duration("AUTH_DORMANT_AFTER")
        let dormant = DormantNumber(audit: audit, secrets: secrets, notifier: notifier, limit: dormantAfter)
        let sms = MessageSender(.phone, database: database, log: container.log, providers: providers)
        let codes = CodeSender(
            inbox: inbox, outbox: outbox, secrets: secrets, limits: limits,
            text: try CodeText(
                appName: appName, appHost: configuration.optionalText("APP_HOST"), lifetime: limits.lifetime),
            acts: ChallengePurposeResolver(secrets: secrets, phones: phones))
        let rules = SignInRulesReader(bus: container.bus)
        let linker = IdentityLinker(audit: audit, secrets: secrets, notifier: notifier)
        let signIn = CodeSignIn(
            inbox: inbox, outbox: outbox, checker: checker, opener: opener, linker: linker, dormant: dormant,
            rules: rules)
        let apple = AppleTokens(
            database: database, outbox: outbox, log: container.log, secrets: secrets,
            client: try AppleClient(configuration)
        )
        let identities = try IdentityProviders(configuration, log: container.log)
        let social = SocialSignIn(
            inbox: inbox, audit: audit, secrets: secrets, providers: identities, opener: opener, apple: apple,
            rules: rules)
        container.handle(SendOTPHandler(phones: phones, sms: sms, codes: codes))
        container.handle(SendEmailCodeHandler(emails: emails, codes: codes))
        container.handle(GetCodeDeliveryHandler(database: database, limits: limits))
        container.handle(VerifyOTPHandler(signIn: signIn))
        container.handle(VerifyEmailCodeHandler(signIn: signIn))
        container.handle(
            GetAuthMethodsHandler(
                phones: phones, limits: limits, sendsEmails: !emails.isOff, providers: identities.served,
                rules: rules))
        container.handle(IssueSocialNonceHandler(inbox: inbox, secrets: secrets, providers: identities))
        container.handle(SignInWithAppleHandler(signIn: social))
        container.handle(SignInWithGoogleHandler(signIn: social))
        container.handle(
            TakeAppleNotificationHandler(
                database: database, audit: audit, secrets: secrets, providers: identities, notifier: notifier))
        container.handle(ListIdentitiesHandler(database: database, secrets: secrets))
        container.handle(
            LinkIdentityHandler(
                inbox: inbox, bearer: bearer, secrets: secrets, providers: identities, apple: apple, linker: linker))
        container.handle(UnlinkIdentityHandler(database: database, audit: audit, apple: apple, notifier: notifier))
        container.handle(
            LinkEmailHandler(
                inbox: inbox, bearer: bearer, secrets: secrets, checker: checker,
                linker: EmailLinker(audit: audit, secrets: secrets, notifier: notifier)))
        container.handle(UnlinkEmailHandler(database: database, audit: audit, notifier: notifier))
        container.handle(
            ChangePhoneHandler(
                inbox: inbox, outbox: outbox, audit: audit, bearer: bearer, secrets: secrets, checker: checker,
                notifier: notifier))
        container.handle(
            UndoPhoneChangeHandler(
                inbox: inbox, audit: audit, bearer: bearer, secrets: secrets, checker: checker, apple: apple,
                notifier: notifier))
        container.handle(
            RefreshTokenHandler(inbox: inbox, audit: audit, secrets: secrets, keys: keys, roles: roles, opener: opener))
        container.handle(LogoutHandler(inbox: inbox, audit: audit))
        container.handle(ListSessionsHandler(database: database))
        container.handle(EndSessionHandler(database: database, audit: audit))
        container.handle(EndOtherSessionsHandler(database: database, audit: audit))
        container.handle(ListDevicesHandler(database: database))
        container.handle(PutDeviceHandler(inbox: inbox, audit: audit, tokens: tokens, notifier: notifier))
        container.handle(RemoveDeviceHandler(database: database, audit: audit, notifier: notifier))
        let sections = AuthExport.sections(secrets, audit: audit)
        container.handle(ExportAccountHandler(export: container.export(sections)))
        container.handle(BeginExportHandler(inbox: inbox, audit: audit))
        container.handle(
            DeleteAccountHandler(
                database: database, outbox: outbox, audit: audit, bearer: bearer, apple: apple,
                eraser: AccountEraser(secrets: secrets), sections: sections))
        let suspender = AccountSuspender(
            inbox: inbox, outbox: outbox, audit: audit, bearer: bearer, eraser: AccountEraser(secrets: secrets),
            notes: secrets.noteSealer)
        container.handle(SuspendAccountHandler(suspender: suspender))
        container.handle(RestoreAccountHandler(suspender: suspender))
        container.handle(ChangeStandingAsOperatorHandler(suspender: suspender))
        container.handle(RehashPhonesHandler(database: database, log: container.log, secrets: secrets))
        container.handle(FindPersonHandler(inbox: inbox, audit: audit, bearer: bearer, secrets: secrets))
        container.handle(GetSigningKeysHandler(keys: keys))
        container.handle(RotateSigningKeyHandler(keys: keys))
        container.handle(
            ChangeRoleHandler(inbox: inbox, audit: audit, isDevelopment: configuration.profile == .development))
        container.handle(ListRolesHandler(database: database))
        container.handle(FollowRevocationsHandler(database: database))
        container.handle(CheckSessionHandler(database: database))
        container.handle(NoteTokenUseHandler(database: database))
        container.handle(CheckBearerHandler(database: database, bearer: bearer))
        let begin = BeginRecoveryHandler(
            inbox: inbox, outbox: outbox, audit: audit, secrets: secrets, checker: checker, phones: phones,
            providers: identities,
            dormantAfter: dormantAfter, hold: try RecoveryHold.seconds(configuration))
        container.handle(begin)
        container.handle(BeginRecoveryV1Handler(handler: begin))
        let claimants = ClaimantChecker(secrets: secrets, checker: checker)
        container.handle(
            ApplyRecoveryHandler(
                inbox: inbox, outbox: outbox, audit: audit, secrets: secrets, claimants: claimants, opener: opener,
                notifier: notifier))
        container.handle(CheckClaimantHandler(inbox: inbox, secrets: secrets, claimants: claimants))
        container.handle(CheckRecoveryHandler(database: database))
        container.handle(DescribeDevicesHandler(database: database))
        container.handle(CaseOpenedHandler(database: database))
        container.handle(CaseClosedHandler(database: database, audit: audit))
        container.handle(NotifyPersonHandler(database: database, notifier: notifier))
        let untold = UnnotifiedClaims(database: database, secrets: secrets, notifier: notifier)
        container.deliver(UnnotifiedClaims.timer) { try await untold.notify($0) }
        let push = PushSender(
            database: database, outbox: outbox, log: container.log, tokens: tokens, provider: pushProvider)
        // Each destination has its own relay, so that a provider that hangs delays no other delivery.
        container.deliver("sms", apart: true) { try await sms.send($0) }
        container.deliver("email", apart: true) { try await emails.send($0) }
        container.deliver("push", apart: true) { try await push.send($0) }
        container.deliver(AppleTokens.exchange, apart: true) { try await apple.exchange($0) }
        container.deliver(AppleTokens.revocation, apart: true) { try await apple.revoke($0) }
        container.background("housekeeping", every: .seconds(60)) {
            try await Housekeeping.run(database, audit: audit)
        }
        let statistics = CodeStatistics(database: database, log: container.log, limits: limits)
        container.ownGauges = { statistics.measures }
        container.background("code-statistics", every: .seconds(5)) { try await statistics.look() }
        container.background("identity-keys", every: .zero) {
            // The first sign-in fetches the first keys.
            try await Loop.sleep(for: IdentityProviders.renewal)
            await identities.renewKeys()
        }
        container.background("signing-keys", every: SigningKeyRotator.interval) { try await keys.load() }
    }

    private static func limits(_ configuration: Configuration) throws(ConfigurationError) -> ChallengeLimits {
        ChallengeLimits(
            lifetime: try configuration.duration("AUTH_OTP_TTL").components.seconds,
            resendAfter: try configuration.duration("AUTH_OTP_RESEND_AFTER").components.seconds,
            perHour: try configuration.integer("AUTH_OTP_PER_HOUR"),
            perDay: try configuration.integer("AUTH_OTP_PER_DAY"),
            perAddressHour: try configuration.integer("AUTH_OTP_PER_ADDRESS_HOUR"),
            lock: try configuration.duration("AUTH_OTP_LOCK").components.seconds,
            wrongPerDay: try configuration.integer("AUTH_OTP_WRONG_PER_DAY"),
            perPrefixHour: try prefixBreaker(configuration),
            budget: try SMSBudget(
                perHour: configuration.text("AUTH_SMS_PER_HOUR"),
                perCountry: configuration.list("AUTH_SMS_PER_HOUR_COUNTRY")),
            emailsPerHour: try SMSBudget.bound(configuration.text("AUTH_EMAIL_PER_HOUR"), of: "AUTH_EMAIL_PER_HOUR"))
    }

    private static func prefixBreaker(_ configuration: Configuration) throws(ConfigurationError) -> Int64? {
        let text = try configuration.text("AUTH_OTP_PREFIX_BREAKER")
        if text == "off" { return nil }
        guard let numbers = Int64(text), (2...1_000_000).contains(numbers) else {
            throw ConfigurationError("AUTH_OTP_PREFIX_BREAKER must be 2 to 1000000 numbers, or off")
        }
        return numbers
    }

    private static let variables: [ConfigurationVariable] =
        [
            .init("AUTH_OTP_TTL", .duration(30...900, mayBeOff: false), "300s", "How long a code lives"),
            .init("AUTH_OTP_RESEND_AFTER", .duration(1...3600, mayBeOff: false), "60s", "Between two codes to a phone"),
            .init("AUTH_OTP_PER_HOUR", .integer(1...100), "5", "Codes to a phone within an hour"),
            .init("AUTH_OTP_PER_DAY", .integer(1...1000), "10", "Codes to a phone within a day"),
            .init(
                "AUTH_OTP_PER_ADDRESS_HOUR", .integer(1...100_000), "30",
                "Codes asked for by a client address within an hour; by an IPv6 /48 eight times as many"),
            .init(
                "AUTH_OTP_LOCK", .duration(1...86_400, mayBeOff: false), "15m", "The lock after the third wrong code"),
            .init("AUTH_OTP_WRONG_PER_DAY", .integer(3...100), "10", "Wrong codes for a phone within a day"),
            .init(
                "AUTH_OTP_PREFIX_BREAKER", .text, "50",
                "Numbers of a prefix that get codes within an hour before it closes, if less than a tenth of them is verified; or off"
            ),
            .init(
                "AUTH_SIGNING_KEY_ROTATION", .duration(3600...31_536_000, mayBeOff: true), "720h",
                "How long access tokens are signed with one key; off: until it is rotated by hand"),
            .init(
                "AUTH_SMS_COUNTRIES", .list, nil,
                "Countries that get SMS: SE,DE or *; empty: every one in development, none elsewhere"),
            .init(
                "AUTH_SMS_PER_HOUR", .text, "5000",
                "Codes that leave within an hour of the clock, the last fifth to known devices alone; or off"),
            .init(
                "AUTH_SMS_PER_HOUR_COUNTRY", .list, "2500",
                "The same for each country, and for some by themselves: 2500,SE:5000,DE:off"),
            .init(
                "AUTH_EMAIL_PER_HOUR", .text, "5000",
                "Codes by email within an hour of the clock, the last fifth to known devices alone; or off"),
            .init(
                "AUTH_DORMANT_AFTER", .duration(86_400...315_360_000, mayBeOff: true), "off",
                "Time without use after which a code opens the account on known devices only, and a recovery is held longer"
            ),
            .init(
                "SMS_PROVIDER", .choices(["spool", "webhook", "twilio"]), "spool",
                "Who sends SMS; if one of several fails, the next one is tried"),
            .init("PUSH_PROVIDER", .choice(["spool", "webhook", "fcm"]), "spool", "Who sends pushes"),
            .init(
                "APP_HOST", .text, nil,
                "The host of the app's pages; codes are bound to it by a last line that browsers and phones read"),
            .init("SPOOL_DIR", .text, nil, "Folder of the spool provider"),
            RecoveryHold.variable,
        ]
        + SMSProviders.variables + EmailProviders.variables + PushProviders.variables + IdentityProviders.variables
        + AppleClient.variables
}
