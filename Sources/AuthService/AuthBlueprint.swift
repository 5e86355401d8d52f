import BusProtocol
import Database
import EventLoop
import ServiceRuntime

@main enum AuthMain {
    static func main() async { await ServiceProcess.main(AuthBlueprint.blueprint) }
}

/// How auth is put together.
enum AuthBlueprint {
    static let blueprint = ServiceBlueprint(
        name: .auth, variables: variables, migrations: AuthMigrations.all,
        peers: [.profile, .questionnaire, .recovery],
        assemble: assemble)

    @Loop private static func assemble(_ house: ServiceHouse) throws {
        let configuration = house.configuration
        let providers = try SMSProviders.named(configuration)
        let pushProvider = try PushProviders.named(configuration)
        let secrets = Secrets(house.keys)
        let limits = try limits(configuration)
        let phones = try PhonePolicy(
            countries: configuration.list("AUTH_SMS_COUNTRIES"), profile: configuration.profile)
        let appName = try configuration.text("APP_NAME")
        let keys = SigningKeyStore(
            database: house.database, sealer: secrets.keySealer, audit: house.audit,
            period: try configuration.text("AUTH_SIGNING_KEY_ROTATION") == "off"
                ? nil : configuration.duration("AUTH_SIGNING_KEY_ROTATION"))
        keys.onKey = { [log = house.log] kid, signsFrom in
            log.info("signing_key", ["kid": .string(kid), "signsFrom": .string(signsFrom.description)])
        }
        // Who signs in at a new replica would be told that it cannot be done.
        house.isPrepared = { keys.areLoaded }
        // Who signs in would be given a second account.
        house.misfit = {
            try await PhoneLookupStore.missingKey(secrets.lookupKeys, in: house.database).map {
                "some phones are found by the look-up key \($0) alone. Bring its line back, and run "
                    + "`vestibule account rehash-phones` before it goes."
            }
        }
        let bearer = BearerChecker(keys: keys)
        let checker = ChallengeChecker(audit: house.audit, secrets: secrets, limits: limits)
        let tokens = PushTokens(secrets: secrets)
        let notifier = PersonNotifier(house: house, tokens: tokens, appName: appName)
        let roles = RolePolicy(isLax: configuration.profile == .development)
        let opener = SessionOpener(
            house: house, secrets: secrets, keys: keys, roles: roles, tokens: tokens, notifier: notifier)
        let dormantAfter =
            try configuration.text("AUTH_DORMANT_AFTER") == "off" ? nil : configuration.duration("AUTH_DORMANT_AFTER")
        let dormant = DormantNumber(house: house, secrets: secrets, notifier: notifier, limit: dormantAfter)
        let sms = SMSSender(house: house, providers: providers)
        let apple = AppleTokens(house: house, secrets: secrets, client: try AppleClient(configuration))
        let identities = try IdentityProviders(configuration, log: house.log)
        let social = SocialSignIn(
            house: house, secrets: secrets, providers: identities, opener: opener, apple: apple)
        house.handle(
            SendOTPHandler(
                house: house, secrets: secrets, limits: limits, phones: phones, appName: appName, sms: sms,
                acts: ActReader(secrets: secrets, phones: phones)))
        house.handle(GetCodeDeliveryHandler(house: house, limits: limits))
        house.handle(
            VerifyOTPHandler(
                house: house, checker: checker, opener: opener,
                linker: IdentityLinker(house: house, secrets: secrets, notifier: notifier), dormant: dormant))
        house.handle(IssueSocialNonceHandler(house: house, secrets: secrets, providers: identities))
        house.handle(SignInWithAppleHandler(signIn: social))
        house.handle(SignInWithGoogleHandler(signIn: social))
        house.handle(
            TakeAppleNotificationHandler(
                house: house, secrets: secrets, providers: identities, notifier: notifier))
        house.handle(ListIdentitiesHandler(house: house, secrets: secrets))
        house.handle(UnlinkIdentityHandler(house: house, apple: apple, notifier: notifier))
        house.handle(
            ChangePhoneHandler(
                house: house, bearer: bearer, secrets: secrets, checker: checker, notifier: notifier, appName: appName))
        house.handle(
            UndoPhoneChangeHandler(
                house: house, bearer: bearer, secrets: secrets, checker: checker, apple: apple, notifier: notifier))
        house.handle(RefreshTokenHandler(house: house, secrets: secrets, keys: keys, roles: roles, opener: opener))
        house.handle(LogoutHandler(house: house))
        house.handle(ListSessionsHandler(house: house))
        house.handle(EndSessionHandler(house: house))
        house.handle(EndOtherSessionsHandler(house: house))
        house.handle(ListDevicesHandler(house: house))
        house.handle(PutDeviceHandler(house: house, tokens: tokens, notifier: notifier))
        house.handle(RemoveDeviceHandler(house: house, notifier: notifier))
        house.handle(
            ExportAccountHandler(
                export: PersonExport(
                    database: house.database, sections: AuthExport.sections(secrets, audit: house.audit))))
        house.handle(BeginExportHandler(house: house))
        house.handle(
            DeleteAccountHandler(
                house: house, bearer: bearer, apple: apple, eraser: AccountEraser(secrets: secrets)))
        let suspender = AccountSuspender(
            house: house, bearer: bearer, eraser: AccountEraser(secrets: secrets),
            notes: secrets.noteSealer)
        house.handle(SuspendAccountHandler(suspender: suspender))
        house.handle(RestoreAccountHandler(suspender: suspender))
        house.handle(ChangeStandingAsOperatorHandler(suspender: suspender))
        house.handle(RehashPhonesHandler(house: house, secrets: secrets))
        house.handle(FindPersonHandler(house: house, bearer: bearer, secrets: secrets))
        house.handle(GetSigningKeysHandler(keys: keys))
        house.handle(RotateSigningKeyHandler(keys: keys))
        house.handle(ChangeRoleHandler(house: house))
        house.handle(ListRolesHandler(house: house))
        house.handle(FollowRevocationsHandler(house: house))
        house.handle(CheckSessionHandler(house: house))
        house.handle(NoteTokenUseHandler(house: house))
        house.handle(CheckBearerHandler(house: house, bearer: bearer))
        house.handle(
            BeginRecoveryHandler(
                house: house, secrets: secrets, checker: checker, phones: phones, providers: identities,
                dormantAfter: dormantAfter, hold: try RecoveryHold.seconds(configuration)))
        house.handle(
            ApplyRecoveryHandler(
                house: house, secrets: secrets, checker: checker, opener: opener, notifier: notifier))
        house.handle(CheckRecoveryHandler(house: house))
        house.handle(CaseOpenedHandler(house: house))
        house.handle(CaseClosedHandler(house: house))
        house.handle(NotifyPersonHandler(house: house, secrets: secrets, notifier: notifier))
        let untold = UntoldClaims(house: house, secrets: secrets, notifier: notifier)
        house.deliver(UntoldClaims.timer) { try await untold.tell($0) }
        let push = PushSender(house: house, tokens: tokens, provider: pushProvider)
        // Each by a relay of its own: a provider that hangs keeps nothing else waiting.
        house.deliver("sms", apart: true) { try await sms.send($0) }
        house.deliver("push", apart: true) { try await push.send($0) }
        house.deliver(AppleTokens.exchange, apart: true) { try await apple.exchange($0) }
        house.deliver(AppleTokens.revocation, apart: true) { try await apple.revoke($0) }
        house.background("housekeeping") {
            try await house.database.waitUntilAvailable()
            try await Housekeeping.run(house.database, audit: house.audit)
            try await house.rest(for: .seconds(60))
        }
        let sight = SMSSight(house: house, budget: limits.budget)
        house.ownGauges = { sight.measures }
        house.background("sms-sight") {
            try await house.database.waitUntilAvailable()
            try await sight.look()
            try await house.rest(for: .seconds(4))
        }
        house.background("identity-keys") {
            // The first sign-in asks for the first ones.
            try await Loop.sleep(for: IdentityProviders.renewal)
            await identities.renewKeys()
        }
        house.background("signing-keys") {
            try await house.database.waitUntilAvailable()
            try await keys.load()
            try await house.rest(for: SigningKeyStore.interval)
        }
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
                perCountry: configuration.list("AUTH_SMS_PER_HOUR_COUNTRY")))
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
                "Numbers of a prefix that get codes within an hour and close it where under a tenth is verified, or off"
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
                "AUTH_DORMANT_AFTER", .duration(86_400...315_360_000, mayBeOff: true), "off",
                "Sleep after which a code for the number opens its account on known devices only, and a recovery is held longer"
            ),
            .init(
                "SMS_PROVIDER", .choices(["spool", "webhook", "twilio"]), "spool",
                "Who sends SMS; of several the next where one fails"),
            .init("PUSH_PROVIDER", .choice(["spool", "webhook", "fcm"]), "spool", "Who sends pushes"),
            .init("SPOOL_DIR", .text, nil, "Folder of the spool provider"),
            RecoveryHold.variable,
        ]
        + SMSProviders.variables + PushProviders.variables + IdentityProviders.variables + AppleClient.variables
}
